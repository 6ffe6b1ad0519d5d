// Beside the pictures: what has been learned so far, how good it is, and which classes there are.

import { drawCurve } from "./curve.js";
import { h, later } from "./dom.js";
import { chance, count, words } from "./words.js";

const w = words.label, SHOWN = 40; // classes

/** A panel; learned(state) is called with every state of GET /api/labeling that arrives. */
export function learningPanel(app, outbox, learned) {
  const state = h("p", { class: "learning-state", role: "status" });
  const score = h("p", { class: "score" }), figure = h("div", { class: "curve-frame" }), gain = h("p", { class: "gain" });
  const search = h("input", { type: "search", "aria-label": w.findClass, placeholder: w.findClass, autocomplete: "off" });
  const list = h("ul", { class: "class-list" }), total = h("span", { class: "quiet" });
  const element = h("aside", { class: "learning", "aria-label": w.learning },
    h("section", {}, h("h2", {}, w.learning), state, score, figure, gain),
    h("section", {}, h("h2", {}, w.classes, " ", total), search, list));

  function draw(said) {
    state.textContent = w.state(said);
    element.classList.toggle("busy", said.training);
    const last = said.curve.at(-1);
    score.replaceChildren(...(last ? [h("strong", {}, chance(last.accuracy)), ` ${w.score(last)}`] : []));
    const drawing = drawCurve(said.curve);
    figure.replaceChildren(...(drawing ? [drawing, h("p", { class: "quiet axis" }, w.axis), h("p", { class: "quiet" }, w.curveHint)] : []));
    gain.textContent = said.problem || said.last_gain;
    learned(said);
  }

  async function look() {
    try { draw(await app.api.labeling()); } catch (problem) { state.textContent = problem.message; }
  }

  async function lookClasses() {
    try {
      const found = await app.api.classes(search.value.trim(), SHOWN), rows = found.classes;
      total.textContent = count(found.total);
      list.replaceChildren(...rows.map(row));
      if (!rows.length) list.append(h("li", { class: "quiet" }, search.value ? words.shared.noClass : w.noClasses));
      else if (found.total > SHOWN) list.append(h("li", { class: "quiet" }, w.moreClasses(found.total - SHOWN)));
    } catch { /* The list stays as it was; the notice of what is not saved tells more. */ }
  }

  const row = ({ name, given, labeled }) => h("li", {},
    h("a", { href: `#/label?${new URLSearchParams({ mode: "many", class: name })}`, title: w.showClass(name) }, name),
    h("span", { class: "quiet" }, words.shared.classCount(given, labeled)));

  const soon = later(lookClasses, 400);
  search.addEventListener("input", later(lookClasses, 120));
  const ends = [app.events.on("labeling", draw), app.events.on("connected", look), outbox.on((taken) => taken && soon())];
  look();
  lookClasses();
  return { element, end: () => ends.forEach((end) => end()) };
}
