// The tab Label: one picture or many at a time, what was learned beside them.

import { button, h } from "./dom.js";
import { exportButton } from "./exports.js";
import { manyPictures } from "./label_many.js";
import { onePicture } from "./label_one.js";
import { learningPanel } from "./learning.js";
import { drawer, outboxNotice, outboxOf } from "./outbox.js";

const WAYS = ["mixed", "uncertain", "typical", "rare", "wrong"], RECENT = 9;

export function mount(root, app) {
  const w = app.words.label, outbox = outboxOf(app), kept = drawer(app, "recent"), done = [];
  let mode = null, view = null, state = null;

  const way = h("select", { id: "way", "aria-label": w.way, on: { change: () => app.navigate("label", { by: way.value === "mixed" ? "" : way.value }) } },
    WAYS.map((one) => h("option", { value: one }, w.ways[one])));
  const hint = h("p", { class: "quiet way-hint" });
  const one = button(w.one, "picture", () => app.navigate("label", { by: way.value === "mixed" ? "" : way.value }), {});
  const many = button(w.many, "grid", () => app.navigate("label", { mode: "many" }), {});
  const out = exportButton(app, "label", () => [
    { name: "labels.jsonl", ...w.files.jsonl }, { name: "labels.csv", ...w.files.csv }, { name: "paths.txt", ...w.files.paths },
    ...(state?.trained_on ? [{ name: "model.safetensors", ...w.files.model }] : [])]);
  const notice = outboxNotice(outbox), board = h("div", { class: "board" });
  const panel = learningPanel(app, outbox, (said) => { state = said; view?.learned?.(said.trained_on); });
  root.append(
    h("div", { class: "label-bar row" }, h("div", { class: "segments", role: "group", "aria-label": w.how }, one, many),
      h("div", { class: "field way" }, h("label", { for: "way" }, w.way), way), hint, h("span", { class: "grow" }), out),
    notice.element, h("div", { class: "label-desk" }, board, panel.element));

  const desk = {
    app, recent: kept.read().labels ?? [],
    settled: new Set(), // ids of pictures that need not be asked about
    /** Say something of pictures; `takeBack` is called when it is undone. Gives what undo takes. */
    say(pictures, body, takeBack) {
      const before = pictures.map(({ label, set_aside }) => ({ label, set_aside }));
      for (const picture of pictures) Object.assign(picture, { label: body.label, set_aside: body.action === "set_aside" });
      const item = outbox.send("label", { ids: pictures.map((picture) => picture.id), action: "label", proposed: null, who: app.who(), ...body });
      for (const picture of pictures) desk.settled.add(picture.id);
      if (body.label) remember(body.label);
      const step = { item, pictures, before, takeBack };
      done.push(step);
      return step;
    },
    /** Take back a step, or the last one. */
    undo(step = done.at(-1)) {
      if (!step) return outbox.send("undo", { who: app.who(), event: null });
      if (!done.includes(step)) return;
      const [last] = done.splice(done.indexOf(step), 1);
      last.pictures.forEach((picture, place) => { Object.assign(picture, last.before[place]); desk.settled.delete(picture.id); });
      outbox.undo(last.item);
      last.takeBack();
      app.announce(app.words.shared.undone(last.item.body.label));
    },
  };

  function remember(label) {
    desk.recent = [label, ...desk.recent.filter((one) => one !== label)].slice(0, RECENT);
    kept.write({ labels: desk.recent });
  }

  // What was said before this page was opened: the server knows what it took back, and it can be said again.
  function undoneThere(taken) {
    if (taken?.kind !== "undo" || taken.body.of) return;
    const { undone } = taken.answer;
    if (!undone) return app.toast(app.words.shared.nothingToUndo);
    view.undone?.(undone);
    app.toast(w.undoneThere(undone), {
      action: w.sayAgain,
      run: () => outbox.send("label", { ids: undone.ids, label: undone.label, action: undone.action, proposed: undone.proposed, source: undone.source, who: app.who() }),
    });
  }

  if (!desk.recent.length) {
    app.api.labels({ count: 50 }).then(({ events }) => {
      for (const event of events.toReversed()) if (event.action === "label" && event.label && !event.undone) remember(event.label);
      view?.recalled();
    }).catch(() => {});
  }

  // Any other letter begins a name: this comes after the keys of the page.
  function typed(event) {
    if (event.defaultPrevented || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest?.("input, textarea, select")) return;
    if (event.ctrlKey) { if (event.key === "a") view.all?.(event); return; }
    if (/^\p{L}$/u.test(event.key)) view.type();
  }

  document.addEventListener("keydown", typed);
  const ends = [outbox.on(undoneThere), () => document.removeEventListener("keydown", typed), notice.end, panel.end];
  return {
    update(params) {
      const wanted = params.get("mode") === "many" ? "many" : "one";
      if (wanted !== mode) {
        view?.end();
        view = (wanted === "many" ? manyPictures : onePicture)(desk);
        mode = wanted;
        board.replaceChildren(view.element);
        if (state) view.learned?.(state.trained_on);
      }
      way.value = WAYS.includes(params.get("by")) ? params.get("by") : "mixed";
      hint.textContent = mode === "one" ? w.wayHints[way.value] : w.manyHint;
      way.parentElement.hidden = mode === "many";
      one.setAttribute("aria-pressed", String(mode === "one"));
      many.setAttribute("aria-pressed", String(mode === "many"));
      view.update(params, way.value);
    },
    unmount() { view?.end(); ends.forEach((end) => end()); },
    get keys() {
      return [...view.keys, { keys: ["U"], text: w.keys.undo, run: (event) => (event.shiftKey ? false : void desk.undo()) },
        { keys: ["Letters"], text: w.keys.letters, run: () => false }];
    },
  };
}
