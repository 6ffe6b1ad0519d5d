// The pictures that one labels one by one: those that come, fetched before they are needed, and those that were, to go back to.

import { drawer } from "./outbox.js";

const AHEAD = 3, KEPT = 60, LONGEST = 6000; // pictures ahead; entries to go back to; letters of ids in an address

export class LabelQueue {
  // settled: ids of what is known by now; changed(): what is to be shown has changed
  constructor(app, settled, changed) {
    Object.assign(this, { app, settled, changed, by: "", ahead: [], ended: false, trouble: "", asked: 0, busy: false });
    this.drawer = drawer(app, "trail");
    const { trail = [], at = trail.length, now = null, passed = [] } = this.drawer.read();
    Object.assign(this, { trail, at, now: settled.has(now?.picture.id) ? null : now, passed });
  }

  keep() {
    this.drawer.write({ trail: this.trail.slice(-KEPT), at: Math.max(0, this.at - Math.max(0, this.trail.length - KEPT)), now: this.now, passed: this.passed.slice(-500) });
  }

  /** The choice that is looked at, and its entry {choice, said, ...} where it was shown before. */
  get entry() { return this.trail[this.at] ?? null; }
  get choice() { return this.entry?.choice ?? this.now; }

  /** Another way of choosing. The picture that waits stays only where it comes back after a reload. */
  start(by) {
    if (by === this.by) return;
    const first = this.by === "";
    this.by = by;
    this.ahead = [];
    this.busy = this.ended = false;
    if (!first || this.now?.by !== by) this.now = null;
    if (this.choice) this.propose(this.choice);
    this.fill();
  }

  /** Ids that must not come again, the newest first and no more than fit into an address. */
  exclude() {
    const ids = new Set([this.now, ...this.ahead, ...this.trail.map((one) => one.choice).toReversed()].filter(Boolean).map((one) => one.picture.id));
    for (const id of this.passed.toReversed()) ids.add(id);
    let letters = 0;
    return [...ids].filter((id) => (letters += encodeURIComponent(id).length + 9) < LONGEST);
  }

  async fill(afresh = false) {
    if (!this.by || (!afresh && (this.busy || this.ahead.length >= AHEAD))) return;
    const mine = ++this.asked;
    this.busy = true;
    if (afresh) {
      this.ahead = this.ahead.slice(0, 1); // One stays, so that nobody has to wait.
      for (const one of [this.choice, ...this.ahead]) if (one) this.propose(one);
    }
    try {
      const { choices } = await this.app.api.next({ by: this.by, count: AHEAD, exclude: this.exclude() });
      if (mine !== this.asked) return;
      const known = new Set(this.exclude());
      const fresh = choices.filter((one) => !known.has(one.picture.id) && !this.settled.has(one.picture.id));
      for (const one of fresh) this.prefetch(one);
      this.ahead.push(...fresh.map((one) => ({ ...one, by: this.by })));
      this.ended = !choices.length;
      this.trouble = "";
    } catch (problem) {
      if (mine !== this.asked) return;
      // Pictures that are no longer in the collection cannot be left out either: begin anew.
      if (problem.status === 404 && (this.trail.length || this.passed.length || this.now)) return this.forget();
      this.trouble = problem.message;
    }
    this.busy = false;
    if (this.now) return;
    if (this.ahead.length) return this.advance();
    this.changed();
    // All that came is on its way to the server already: ask again when it is there.
    if (!this.ended && !this.trouble) setTimeout(() => this.fill(), 500);
  }

  forget() {
    Object.assign(this, { trail: [], at: 0, now: null, passed: [], busy: false });
    this.keep();
    return this.fill();
  }

  // Proposals that somebody looks at stay as they are: an answer must not change under a finger.
  async propose(choice) {
    if (choice === this.choice && choice.proposals.length) return;
    const { proposals } = await this.app.api.proposals(choice.picture.id).catch(() => choice);
    if (choice === this.choice && choice.proposals.length) return;
    choice.proposals = proposals;
    this.changed();
  }

  prefetch(choice) {
    new Image().src = this.app.api.image(choice.picture.number);
  }

  /** The next one that waits becomes the one that is looked at. */
  advance() {
    this.now = this.ahead.shift() ?? null;
    this.keep();
    this.changed();
    this.fill();
  }

  /** What was said of the picture that is looked at; the next comes. Gives the entry. */
  say(said) {
    const entry = this.entry ?? { choice: this.now };
    Object.assign(entry, { said });
    if (!this.trail.includes(entry)) {
      this.trail.push(entry);
      if (this.trail.length > 4 * KEPT) this.trail.splice(0, 2 * KEPT);
      this.at = this.trail.length;
      this.advance();
    } else this.go(1);
    return entry;
  }

  pass() {
    this.passed.push(this.choice.picture.id);
    this.say(this.entry?.said ?? null);
  }

  /** Back and forth among what was shown. True where there is something. */
  go(step) {
    const place = this.at + step;
    if (place < 0 || place > this.trail.length) return false;
    this.at = place;
    this.keep();
    this.changed();
    if (!this.choice) this.fill();
    return true;
  }

  show(entry) {
    const place = this.trail.indexOf(entry);
    if (place >= 0) this.go(place - this.at);
  }
}
