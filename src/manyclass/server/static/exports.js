// What leaves the page: lists, the model, and the same steps as a command and as Python.

import { button, h } from "./dom.js";
import { words } from "./words.js";

const w = words.shared.exports;

/** A button that opens the menu. files: [{name, values, text, hint}] or a function that gives them; tab: whose steps. */
export function exportButton(app, tab, files) {
  return button(w.title, "download", () => openExports(app, tab, typeof files === "function" ? files() : files));
}

function openExports(app, tab, files) {
  const steps = h("div", { class: "steps-code" });
  app.dialog(w.title, () => [
    h("ul", { class: "exports" }, files.map(({ name, values, text, hint }) => h("li", {},
      h("a", { href: app.api.exportAddress(name, values), download: "" }, text), h("span", { class: "quiet" }, hint)))),
    h("p", { class: "quiet" }, w.unchanged), steps,
  ], { wide: true });
  app.api.steps(tab).then(
    (said) => steps.append(app.codeBlock(w.command, said.command), app.codeBlock(w.python, said.python)),
    (problem) => steps.append(h("p", { class: "quiet" }, problem.message)));
}
