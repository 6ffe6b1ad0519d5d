// One picture of the grid large, with all that is known of it.

import { api } from "./api.js";
import { openDialog, toast } from "./dialogs.js";
import { button, copyText, h } from "./dom.js";
import { words } from "./words.js";

const say = words.find.detail;

/** grid: pictures before and after; actions: again(picture), box(picture), mark(picture, "right" | "wrong"), noteOf(hit), addressOf(picture). */
export function openDetail(picture, grid, actions) {
  const body = h("div", { class: "detail" });
  const { window, close } = openDialog(picture.name, () => body, { wide: true, onClose: () => grid.focus(Math.max(0, grid.indexOf(picture))) });
  const heading = window.querySelector("h2");

  function turn(step) {
    const next = grid.items[grid.indexOf(picture) + step];
    if (next) draw((picture = next));
  }

  async function draw() {
    const mine = picture, known = { path: null, ...mine };
    heading.textContent = mine.name;
    const facts = h("dl", { class: "facts" });
    const place = grid.indexOf(mine);
    const leave = (act) => () => { close(); act(mine); };
    body.replaceChildren(
      h("figure", {}, h("img", { src: api.image(mine.number), alt: mine.name })),
      h("div", { class: "detail-words" }, facts,
        h("div", { class: "row" },
          h("a", { class: "button primary", href: actions.addressOf(mine), on: { click: (event) => { event.preventDefault(); leave(actions.again)(); } }, "data-first": "" }, say.neighbors),
          button(say.box, "crop", leave(actions.box))),
        h("div", { class: "row" },
          button(words.find.right, "plus", leave((one) => actions.mark(one, "right"))),
          button(words.find.wrong, "minus", leave((one) => actions.mark(one, "wrong")))),
        h("div", { class: "row" },
          button(say.previous, null, () => turn(-1), { disabled: place <= 0 }), button(say.next, null, () => turn(1), { disabled: place + 1 >= grid.items.length }))));
    drawFacts(facts, known);
    if (!window.contains(document.activeElement) || document.activeElement === document.body) window.querySelector("[data-first]").focus();
    try {
      Object.assign(known, await api.picture(mine.number));
      if (mine === picture) drawFacts(facts, { ...mine, ...known });
    } catch (problem) {
      toast(problem.message, { kind: "problem" });
    }
  }

  function drawFacts(facts, known) {
    const path = known.path ?? known.id;
    const copy = button(say.copyPath, "copy", async () => toast(await copyText(path) ? words.shared.copied : words.shared.notCopied), { quiet: true, class: "plain" });
    const size = [known.width ? say.pixels(known.width, known.height) : null, known.bytes ? say.bytes(known.bytes) : null].filter(Boolean).join(", ");
    const rows = [[known.path ? say.path : say.id, h("span", { class: "path" }, h("code", {}, path), copy)], [say.class, known.class ?? say.none],
      known.label ? [say.label, known.label] : null, size ? [say.size, size] : null,
      known.rank ? [say.rank, String(known.rank)] : null, known.score !== undefined ? [say.score, known.score.toFixed(4)] : null,
      actions.noteOf(known) ? [say.alike, actions.noteOf(known)] : null].filter(Boolean);
    facts.replaceChildren(...rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
  }

  window.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step && !event.target.closest("pre, input")) { event.preventDefault(); turn(step); }
  });
  draw();
}
