// Pictures that are like no others, most unlike first.

import { card } from "./card.js";
import { h } from "./dom.js";
import { createGrid } from "./grid.js";
import { words } from "./words.js";

const w = words.audit;

// desk and what is given back: as in audit_suspects.js
export function outlierGrid(desk) {
  const { app } = desk;
  const grid = createGrid({ label: w.views.outliers, load, render, id: (item) => item.picture.id });
  const empty = h("div", { class: "empty", hidden: true }, h("h2", {}, w.noOutliers), h("p", {}, w.noOutliersHint));
  const element = h("div", { class: "outliers" }, h("p", { class: "quiet outliers-hint" }, w.outliersHint), empty, grid.element);
  let started = false;

  async function load(start, count, signal) {
    const page = await app.api.outliers({ start, count }, { signal });
    empty.hidden = page.total > 0;
    return { items: page.outliers, total: page.total };
  }

  function render(item) {
    const { picture, decision } = item;
    const element = card(picture, {
      open: () => enlarge(item), hint: w.enlarges, tone: decision === "set_aside" ? "faint" : "", note: w.unlike(item.percentile),
      actions: [
        { name: w.keepIt, icon: "check", kind: "right", pressed: decision === "keep", press: () => decide(item, "keep") },
        { name: w.aside, icon: "apart", kind: "wrong", pressed: decision === "set_aside", press: () => decide(item, "set_aside") }],
    });
    if (decision) element.prepend(h("span", { class: "verdict" }, decision === "keep" ? w.isKept : w.isAside));
    return element;
  }

  function decide(item, decision) {
    if (!item || item.decision === decision) return false;
    const before = item.decision, redraw = () => grid.indexOf(item) >= 0 && grid.refresh(grid.indexOf(item));
    item.decision = decision;
    desk.decide([item.picture], decision, {}, () => { item.decision = before; redraw(); });
    redraw();
    app.announce(w.decided(decision, ""));
  }

  function enlarge({ picture, percentile }) {
    app.dialog(picture.name, () => [h("img", { class: "enlarged", src: app.api.image(picture.number), alt: picture.name }),
      h("p", {}, w.unlike(percentile)), h("p", { class: "quiet" }, picture.id)], { wide: true });
  }

  // The key decides on the picture that has the focus, and goes on to the next.
  const press = (decision) => (event) => {
    if (event.shiftKey || !grid.focused) return false;
    decide(grid.current, decision);
    grid.focus(grid.index + 1);
  };

  const reload = () => grid.reload().catch((problem) => app.problem(problem));
  return {
    element,
    update() { if (!started) reload(); started = true; },
    again: reload,
    keys: [
      { keys: ["Arrows"], text: w.keys.walk, run: () => false },
      { keys: ["ArrowDown", "ArrowRight"], run: () => (grid.items.length && !grid.focused ? grid.focus() : false) },
      { keys: ["X"], text: w.keys.asideOne, run: press("set_aside") },
      { keys: ["K"], text: w.keys.keepOne, run: press("keep") },
    ],
    end: () => grid.destroy(),
  };
}
