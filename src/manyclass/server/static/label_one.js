// One picture at a time: what is it? A key answers, and the next one is there.

import { button, h } from "./dom.js";
import { LabelQueue } from "./label_queue.js";
import { classPicker } from "./typeahead.js";
import { chance, words } from "./words.js";

const w = words.label;

/** A button for each proposal, with its digit and its probability as a bar; a small one for a class that was used before. */
export function proposalButtons(proposals, choose) {
  return proposals.map(({ label, probability }, place) => {
    const known = probability !== undefined, bar = h("span", { class: "likely", "aria-hidden": "true" }, h("span", {}));
    bar.firstChild.style.width = `${100 * (probability ?? 0)}%`;
    return h("li", { class: known ? "" : "recent" }, h("button", { type: "button", class: "proposal", on: { click: () => choose(label) } },
      h("kbd", { "aria-hidden": "true" }, String(place + 1)), h("span", { class: "proposal-name" }, label),
      h("span", { class: known ? "proposal-share" : "unseen" }, known ? chance(probability) : w.recent), known ? bar : null));
  });
}

/** Proposals, and after them the classes that were used last: all that a digit can choose. */
export function withRecent(proposals, recent) {
  const names = new Set(proposals.map((one) => one.label));
  return [...proposals, ...recent.filter((label) => !names.has(label)).map((label) => ({ label }))].slice(0, 9);
}

// desk: {app, say(ids, label or null, more), undo(), recent}; view: {element, update(params), keys, type, end()}
export function onePicture(desk) {
  const { app } = desk;
  const picture = h("img", { class: "stage-picture", alt: "", draggable: "false" });
  const nothing = h("div", { class: "stage-nothing" });
  const why = h("p", { class: "why" }), name = h("p", { class: "stage-name quiet" }), said = h("p", { class: "said" });
  const stage = h("figure", { class: "stage", tabIndex: -1 }, h("div", { class: "stage-frame" }, picture, nothing), h("figcaption", {}, why, name));
  const list = h("ol", { class: "proposals" }), none = h("p", { class: "quiet" });
  const picker = classPicker({
    label: w.another, placeholder: w.anotherHint, fresh: true, hidden: true,
    choose: (label) => { leaveField(); if (label) answer(label); },
  });
  const act = (text, key, run, more = {}) => h("button", { type: "button", on: { click: run }, "aria-keyshortcuts": key, ...more }, h("span", {}, text), h("kbd", { "aria-hidden": "true" }, more.shown ?? key));
  const skip = act(w.skip, "S", pass), aside = act(w.setAside, "X", setAside, { title: w.setAsideHint });
  const undo = act(w.undo, "U", () => desk.undo()), alike = act(w.alike, "M", showAlike, { title: w.alikeHint });
  const back = button(w.earlier, "back", () => queue.go(-1), { quiet: true, "aria-keyshortcuts": "ArrowLeft" });
  const forth = button(w.later, "forth", () => queue.go(1), { quiet: true, "aria-keyshortcuts": "ArrowRight" });
  const place = h("span", { class: "quiet place" });
  const answers = h("div", { class: "answers" }, h("h2", {}, w.question), said, list, none, picker.element,
    h("div", { class: "row acts" }, skip, aside, undo, alike), h("div", { class: "row steps" }, back, place, forth));
  const element = h("div", { class: "one" }, stage, answers);
  const queue = new LabelQueue(app, desk.settled, draw);
  let shown = null, trained = 0;

  picture.addEventListener("load", () => picture.classList.toggle("tiny", picture.naturalWidth < 64));
  picture.addEventListener("error", () => picture.getAttribute("src") && (nothing.textContent = words.shared.broken, nothing.hidden = false));
  picker.input.addEventListener("keydown", (event) => event.key === "Escape" && !event.defaultPrevented && leaveField());

  function leaveField() {
    picker.input.value = "";
    picker.input.blur();
  }

  function draw() {
    const { choice, entry } = queue;
    const inside = element.contains(document.activeElement) && !stage.contains(document.activeElement) && document.activeElement !== picker.input;
    for (const one of [skip, aside, alike, picker.input]) one.disabled = !choice;
    back.disabled = queue.at === 0;
    forth.disabled = queue.at >= queue.trail.length;
    place.textContent = queue.trail.length ? w.place(queue.at + 1, queue.trail.length) : "";
    picture.hidden = !choice;
    nothing.hidden = Boolean(choice);
    if (!choice) {
      nothing.replaceChildren(...emptyWords());
      why.textContent = name.textContent = said.textContent = none.textContent = "";
      list.replaceChildren();
      shown = null;
      return;
    }
    const one = choice.picture;
    if (shown !== choice) {
      picture.src = app.api.image(one.number);
      picture.alt = one.name;
      why.textContent = choice.words;
      name.textContent = [one.folder, one.name].filter(Boolean).join("/") + (one.class ? ` · ${w.cameAs(one.class)}` : "");
      name.title = one.id;
    }
    said.textContent = entry?.said ? w.said(entry.said) : "";
    const offered = offers();
    list.replaceChildren(...proposalButtons(offered, answer));
    none.textContent = choice.proposals.length ? "" : w.noProposals;
    picker.input.placeholder = offered.length ? w.anotherHint : w.firstHint;
    if (shown !== choice) {
      if (inside) stage.focus({ preventScroll: true });
      app.announce(w.announce(one.name, choice.words, choice.proposals[0]));
    }
    shown = choice;
  }

  const offers = () => withRecent(queue.choice.proposals.slice(0, 5), desk.recent);

  function emptyWords() {
    if (queue.trouble) return [h("p", {}, queue.trouble), button(words.shared.tryNow, null, () => queue.fill())];
    if (!queue.ended) return [h("p", {}, words.shared.loading)];
    const whole = queue.by === "mixed", hint = whole ? w.allDoneHint : w.noneOfKindHint;
    return [h("h3", {}, whole ? w.allDone : w.noneOfKind), h("p", {}, queue.passed.length ? w.allButSkipped(queue.passed.length) : hint),
      queue.passed.length ? button(w.showSkipped, null, () => { queue.passed = []; queue.trail = queue.trail.filter((one) => one.said); queue.at = queue.trail.length; queue.ended = false; queue.fill(); }) : null].filter(Boolean);
  }

  function answer(label) {
    const { choice } = queue;
    if (!choice) return false;
    const before = queue.entry?.said ?? null;
    const entry = queue.say({ action: "label", label });
    desk.say([choice.picture], { label, proposed: choice.proposals[0]?.label ?? null, source: "label" }, () => takeBack(entry, before));
    draw();
  }

  function setAside() {
    const { choice } = queue;
    if (!choice) return false;
    const before = queue.entry?.said ?? null;
    const entry = queue.say({ action: "set_aside", label: null });
    desk.say([choice.picture], { label: null, action: "set_aside", source: "label" }, () => takeBack(entry, before));
  }

  function takeBack(entry, before) {
    entry.said = before;
    queue.show(entry);
    draw();
  }

  function pass() {
    if (!queue.choice) return false;
    queue.pass();
  }

  function showAlike() {
    if (!queue.choice) return false;
    app.navigate("label", { mode: "many", like: queue.choice.picture.id });
  }

  function digit(event) {
    const one = queue.choice && offers()[Number(event.key) - 1];
    if (!one) return false;
    answer(one.label);
  }

  function accept(event) {
    // A button that has the focus is pressed by Enter, as everywhere.
    const first = queue.choice?.proposals[0];
    if (event.target.closest("button, a, summary") || !first) return false;
    answer(first.label);
  }

  const plain = (run) => (event) => (event.shiftKey ? false : run(event)); // With Shift a letter begins a name.
  return {
    element,
    update(params, by) { queue.start(by); draw(); },
    undone({ ids }) {
      const entry = queue.trail.findLast((one) => ids.includes(one.choice.picture.id));
      if (entry) takeBack(entry, null);
    },
    recalled: draw,
    type: () => !picker.input.disabled && picker.focus(),
    learned(count) {
      if (count !== trained) queue.fill(true);
      trained = count;
    },
    keys: [
      { keys: ["Enter"], text: w.keys.accept, run: accept },
      { keys: ["1 … 9"], text: w.keys.digit },
      { keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"], run: digit },
      { keys: ["/"], text: w.keys.type, run: () => picker.focus() },
      { keys: ["S"], text: w.keys.skip, run: plain(pass) },
      { keys: ["X"], text: w.keys.setAside, run: plain(setAside) },
      { keys: ["ArrowLeft"], text: w.keys.back, run: () => queue.go(-1) },
      { keys: ["ArrowRight"], text: w.keys.forth, run: () => queue.go(1) },
      { keys: ["M"], text: w.keys.alike, run: plain(showAlike) },
    ],
    end() {},
  };
}
