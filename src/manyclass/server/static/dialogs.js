// Windows over the page and small notes at its foot.

import { button, copyText, h } from "./dom.js";
import { capital, words } from "./words.js";

/** Show a dialog; `fill(close)` gives what stands in it. Ends with Escape, the cross, a click outside, or close(). */
export function openDialog(title, fill, { wide = false, onClose } = {}) {
  const heading = h("h2", { id: "dialog-title" }, title);
  const window = h("dialog", { "aria-labelledby": "dialog-title", class: wide ? "wide" : "" });
  const before = document.activeElement;
  const close = () => window.close();
  window.append(
    h("div", { class: "dialog-head" }, heading, button(words.shared.close, "close", close, { quiet: true, class: "plain" })),
    h("div", { class: "dialog-body" }, fill(close)),
  );
  let pressed = null;
  window.addEventListener("pointerdown", (event) => (pressed = event.target));
  window.addEventListener("click", (event) => event.target === window && pressed === window && close());
  window.addEventListener("close", () => {
    document.body.append(document.getElementById("toasts")); // They may lie in this window.
    window.remove();
    onClose?.();
    if (before?.isConnected && document.activeElement === document.body) before.focus();
  });
  document.body.append(window);
  window.showModal();
  window.querySelector("[data-first]")?.focus();
  return { window, close };
}

/** Text of a program with a button that copies it. */
export function codeBlock(title, text) {
  const copy = button(words.shared.copy, "copy", async () => toast(await copyText(text) ? words.shared.copied : words.shared.notCopied));
  return h("section", { class: "code" }, h("header", {}, h("h3", {}, title), copy), h("pre", { tabIndex: 0 }, h("code", {}, text)));
}

/** A note that goes by itself; with an action it stays longer. Kinds: "" and "problem". */
export function toast(text, { action, run, kind = "" } = {}) {
  const shelf = document.getElementById("toasts");
  const note = h("div", { class: `toast ${kind}`, role: kind === "problem" ? "alert" : null }, h("span", {}, capital(text)));
  const end = () => note.remove();
  if (action) note.append(button(action, null, () => { end(); run(); }, { class: "plain" }));
  note.append(button(words.shared.close, "close", end, { quiet: true, class: "plain" }));
  // A modal dialog makes everything outside of it inert: the shelf goes where it can be reached.
  (document.querySelector("dialog[open]") ?? document.body).append(shelf);
  shelf.append(note);
  while (shelf.children.length > 3) shelf.firstChild.remove();
  setTimeout(end, action ? 12_000 : kind ? 9_000 : 5_000);
}
