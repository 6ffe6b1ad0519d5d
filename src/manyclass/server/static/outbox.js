// What a person said, on its way to the server: in order, one at a time, again and again until it is taken. Until then it
// lies in this tab's storage, so that neither a reload nor a server that is away for a while loses a label.

import { button, h } from "./dom.js";
import { words } from "./words.js";

const PAUSES = [400, 1000, 2000, 4000, 8000];
let shared = null;

/** The one outbox of the page; it goes on while other tabs of the page are shown. */
export function outboxOf(app) {
  shared ??= new Outbox(app);
  return shared;
}

/** An object in this tab's storage, by collection: {read(), write(value)}. */
export function drawer(app, name) {
  const key = `manyclass.${name}.${app.collection.path ?? app.collection.name}`;
  return {
    read() { try { return JSON.parse(sessionStorage.getItem(key)) ?? {}; } catch { return {}; } },
    write(value) { try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { /* A browser that keeps nothing is fine. */ } },
  };
}

class Outbox {
  constructor(app) {
    this.drawer = drawer(app, "outbox");
    this.routes = { label: app.api.label, decision: app.api.decide, undo: (body) => app.api.undo(body.who, body.event) };
    this.listeners = new Set();
    const { waiting = [], refused = [], next = 1 } = this.drawer.read();
    Object.assign(this, { waiting, refused, next, failure: "", trials: 0, busy: false, timer: 0 });
    addEventListener("beforeunload", (event) => this.waiting.length && event.preventDefault());
    addEventListener("online", () => this.hurry());
    this.hurry();
  }

  /** Call a function whenever something changed, with the item that was just taken or nothing; gives a function that ends it. */
  on(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  changed(taken = null) {
    this.drawer.write({ waiting: this.waiting, refused: this.refused, next: this.next });
    for (const listener of this.listeners) listener(taken);
  }

  send(kind, body) {
    const item = { key: this.next++, kind, body, event: null };
    this.waiting.push(item);
    this.changed();
    this.hurry();
    return item;
  }

  /** Take an item back: one that has not left yet simply stays here. */
  undo(item) {
    const place = this.waiting.findIndex((one) => one.key === item.key);
    if (place > 0 || (place === 0 && !this.busy)) {
      this.waiting.splice(place, 1);
      if (!this.waiting.length) this.failure = "";
      return this.changed();
    }
    if (this.refused.some((one) => one.key === item.key)) return this.drop((one) => one.key === item.key);
    this.send("undo", { who: item.body.who, event: item.event, of: item.key });
  }

  drop(which) {
    this.refused = this.refused.filter((one) => !which(one));
    this.changed();
  }

  again() {
    this.waiting.push(...this.refused.splice(0));
    this.changed();
    this.hurry();
  }

  hurry() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (!this.busy) this.work();
  }

  async work() {
    while (this.waiting.length && !this.timer) {
      const item = this.waiting[0];
      this.busy = true;
      try {
        const answer = await this.routes[item.kind](item.body);
        this.busy = false;
        this.taken(item, answer);
      } catch (trouble) {
        this.busy = false;
        this.failed(item, trouble);
      }
    }
  }

  taken(item, answer) {
    item.event = answer.event ?? null;
    this.waiting.shift();
    for (const one of this.waiting) if (one.body.of === item.key) one.body.event = item.event;
    this.failure = "";
    this.trials = 0;
    this.changed({ ...item, answer });
  }

  // What is refused would be refused again: it is put aside for the person to see. All else is tried again.
  failed(item, trouble) {
    const status = trouble.status ?? 0;
    if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
      this.waiting.shift();
      this.refused.push({ ...item, why: trouble.message });
    } else {
      this.failure = trouble.message;
      this.timer = setTimeout(() => this.hurry(), PAUSES[Math.min(this.trials++, PAUSES.length - 1)]);
    }
    this.changed();
  }
}

/** A notice that is there only while something is not saved. */
export function outboxNotice(outbox) {
  const element = h("div", { class: "unsaved", role: "alert" });
  let drawn = "";
  const draw = () => {
    const { refused, waiting, failure } = outbox, now = `${waiting.length} ${failure} ${refused.length}`;
    if (now === drawn) return; // A button must not go away under somebody's finger.
    drawn = now;
    element.replaceChildren(...[
      failure && waiting.length ? notice(words.shared.unsaved(waiting.length, failure), [[words.shared.tryNow, () => outbox.hurry()]]) : null,
      refused.length ? notice(words.shared.notTaken(refused.length, refused[0].why, refused[0].body.label), [
        [words.shared.tryAgain, () => outbox.again()], [words.shared.drop, () => outbox.drop(() => true)]]) : null,
    ].filter(Boolean));
  };
  const notice = (text, actions) => h("div", { class: "notice problem row" }, h("span", { class: "grow" }, text),
    actions.map(([name, run]) => button(name, null, run)));
  draw();
  return { element, end: outbox.on(draw) };
}
