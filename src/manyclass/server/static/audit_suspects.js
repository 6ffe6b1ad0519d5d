// Labels that are likely wrong, one after the other: the picture between the class it has and the class it seems to be.

import { button, h } from "./dom.js";
import { classPicker } from "./typeahead.js";
import { chance, count, words } from "./words.js";

const w = words.audit, PAGE = 40, EVERY = "";

// desk: {app, decide(...), undo(), go(more), stay(more)}; view: {element, update(params), keys, type(), again(), end()}
export function suspectLabels(desk) {
  const { app } = desk;
  const side = h("nav", { class: "suspect-classes", "aria-label": w.byClass }), choose = h("select", { "aria-label": w.byClass, class: "suspect-select" });
  const stage = h("div", { class: "suspect", tabIndex: -1 });
  const picker = classPicker({ label: w.other, placeholder: w.otherHint, fresh: true, hidden: true, choose: (label) => { leaveField(); if (label) fix(label); } });
  const element = h("div", { class: "suspects" }, side, choose, stage);
  let of = null, at = 0, items = [], total = 0, asked = 0, busy = null;

  choose.addEventListener("change", () => desk.go({ class: choose.value, at: "" }));
  picker.input.addEventListener("keydown", (event) => event.key === "Escape" && !event.defaultPrevented && leaveField());

  function leaveField() {
    picker.input.value = "";
    picker.input.blur();
  }

  async function load(start) {
    const mine = asked;
    busy = (async () => {
      try {
        const page = await app.api.suspects({ class: of, start, count: PAGE });
        if (mine !== asked) return;
        items.push(...page.suspects.slice(items.length - start));
        total = page.total;
        drawClasses(page.classes);
      } catch (problem) {
        app.problem(problem);
      }
      if (mine === asked) busy = null;
    })();
    await busy;
  }

  async function show(wanted) {
    while (wanted >= items.length && items.length < total) {
      const before = items.length;
      await (busy ?? load(before));
      if (items.length === before) break;
    }
    at = Math.max(0, Math.min(wanted, items.length - 1));
    draw();
    if (items.length - at < PAGE / 2 && items.length < total && !busy) load(items.length);
    for (const one of items.slice(at + 1, at + 3)) new Image().src = app.api.image(one.picture.number);
  }

  function drawClasses(classes) {
    const sum = classes.reduce((all, one) => all + one.suspects, 0), rows = [{ name: EVERY, suspects: sum }, ...classes];
    side.replaceChildren(h("ul", {}, rows.map((one) => h("li", {}, h("button", {
      type: "button", class: "plain", "aria-current": one.name === of ? "true" : null, on: { click: () => desk.go({ class: one.name, at: "" }) },
    }, h("span", {}, one.name || w.allClasses), h("span", { class: "number" }, count(one.suspects)))))));
    choose.replaceChildren(...rows.map((one) => h("option", { value: one.name, selected: one.name === of }, `${one.name || w.allClasses} (${count(one.suspects)})`)));
  }

  function draw() {
    const one = items[at], inside = stage.contains(document.activeElement);
    if (!one) return void stage.replaceChildren(h("div", { class: "empty" }, h("h2", {}, w.noSuspects), h("p", {}, w.noSuspectsHint)));
    const key = (name) => h("kbd", { "aria-hidden": "true" }, name);
    const large = h("img", { src: app.api.image(one.picture.number), alt: one.picture.name, class: "stage-picture" });
    large.addEventListener("load", () => large.classList.toggle("tiny", large.naturalWidth < 64));
    const act = (decision, text, letter, run, kind = "") => h("button", { type: "button", class: kind, "aria-pressed": one.decision === decision ? "true" : null, "aria-keyshortcuts": letter, on: { click: run } }, h("span", {}, text), key(letter));
    stage.replaceChildren(
      h("h2", { class: "suspect-head" }, w.verdict(one.probability), " ", h("span", { class: "quiet" }, w.how(one.probability))),
      h("div", { class: "suspect-row" },
        side3(w.given, one.given, one.near_given, "given"),
        h("figure", { class: "stage" }, h("div", { class: "stage-frame" }, large), h("figcaption", { class: "quiet" }, one.picture.id)),
        side3(w.proposed, one.proposed, one.near_proposed, "proposed")),
      h("p", { class: "said", role: "status" }, one.decision ? w.decided(one.decision, one.fixed ?? one.picture.label ?? one.proposed) : ""),
      h("div", { class: "row acts" }, act("keep", w.keep(one.given), "K", () => decide("keep")),
        act("fix", w.fix(one.proposed), "F", () => fix(one.proposed), "primary"), picker.element, act("set_aside", w.aside, "X", () => decide("set_aside"))),
      h("div", { class: "row steps" }, button(w.before, "back", () => step(-1), { quiet: true, disabled: at === 0 }),
        h("span", { class: "quiet place" }, w.place(at + 1, total)), button(w.after, "forth", () => step(1), { quiet: true, disabled: at + 1 >= total }),
        button(words.shared.undo, "undo", () => desk.undo())));
    if (inside) stage.focus({ preventScroll: true });
    app.announce(w.announce(one));
  }

  function side3(title, name, pictures, kind) {
    return h("section", { class: `near ${kind}` }, h("h3", {}, title, " ", h("span", { class: "near-name" }, name)),
      h("div", { class: "near-pictures" }, pictures.map((one) => h("img", { src: one.url, alt: w.near(one.name, name), loading: "lazy" }))),
      h("p", { class: "quiet" }, pictures.length ? w.nearest(pictures.length, name) : w.nearNone(name)));
  }

  function decide(decision, label = null) {
    const one = items[at], before = { decision: one?.decision ?? null, fixed: one?.fixed };
    if (!one) return false;
    Object.assign(one, { decision, fixed: label ?? undefined });
    desk.decide([one.picture], decision, { label, proposed: one.proposed }, () => { Object.assign(one, before); step(items.indexOf(one) - at); });
    const next = items.findIndex((other, place) => place > at && !other.decision);
    step(next > 0 ? next - at : items.length < total ? items.length - at : 0);
  }

  const fix = (label) => decide("fix", label);

  function step(by) {
    const wanted = at + by;
    if (wanted < 0 || wanted >= total) return false;
    if (wanted === at) draw();
    else desk.stay({ class: of, at: wanted ? String(wanted + 1) : "" });
  }

  const plain = (run) => (event) => (event.shiftKey ? false : run());
  return {
    element, type: () => items[at] && picker.focus(),
    async update(params) {
      const wanted = Math.max(0, (Number.parseInt(params.get("at"), 10) || 1) - 1);
      if ((params.get("class") ?? "") === of) return wanted === at && items.length ? undefined : show(wanted);
      of = params.get("class") ?? "";
      asked++;
      items = [];
      await load(0);
      await show(wanted);
    },
    again() { of = null; desk.stay({}); },
    keys: [
      { keys: ["K"], text: w.keys.keep, run: plain(() => decide("keep")) },
      { keys: ["F"], text: w.keys.fix, run: plain(() => (items[at] ? fix(items[at].proposed) : false)) },
      { keys: ["/"], text: w.keys.other, run: () => picker.focus() },
      { keys: ["X"], text: w.keys.aside, run: plain(() => decide("set_aside")) },
      { keys: ["ArrowLeft"], text: w.keys.before, run: () => step(-1) },
      { keys: ["ArrowRight"], text: w.keys.after, run: () => step(1) },
    ],
    end() { asked++; },
  };
}
