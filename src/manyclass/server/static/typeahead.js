// A field that finds a class among thousands while one types.

import { h, later } from "./dom.js";
import { api } from "./api.js";
import { words } from "./words.js";

let made = 0;

/** The letters by which names are compared, as the server does: small ones, without accents. */
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/[\s_-]+/g, " ").trim();

/**
 * A combobox over /api/classes.
 *
 * options: label (visible or read out), value, placeholder, fresh (may a new class be named?), choose(name), hidden (label only
 * read out). Gives {element, input, value, set(name), focus()}. Enter takes the marked choice, or the text itself where `fresh`.
 */
export function classPicker({ label, value = "", placeholder = words.shared.classPlaceholder, fresh = false, choose, hidden = false }) {
  const name = `classes-${++made}`;
  const list = h("ul", { id: name, role: "listbox", "aria-label": label, class: "choices", hidden: true });
  const input = h("input", {
    type: "text", role: "combobox", id: `${name}-input`, autocomplete: "off", spellcheck: "false", placeholder, "aria-expanded": "false",
    "aria-controls": name, "aria-autocomplete": "list", maxlength: "200",
  });
  input.value = value;
  const element = h("div", { class: "field typeahead" },
    h("label", { for: `${name}-input`, class: hidden ? "unseen" : "" }, label), input, list);
  let choices = [], at = -1, asked = 0, looked = null;

  function show(open) {
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    if (!open) at = -1;
    pointAt();
  }

  function pointAt() {
    [...list.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === at)));
    const option = list.children[at];
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  function take(chosen) {
    input.value = chosen;
    looked = chosen;
    asked++;
    show(false);
    choose?.(chosen);
  }

  async function look() {
    const mine = ++asked, text = input.value.trim();
    let found = { classes: [] };
    try {
      found = await api.classes(text, 30);
    } catch { /* Names that cannot be looked up can still be typed. */ }
    if (mine !== asked || document.activeElement !== input) return;
    looked = text;
    choices = found.classes.map((one) => ({ name: one.name, note: words.shared.classCount(one.given, one.labeled) }));
    if (fresh && text && !choices.some((one) => one.name === text)) choices.push({ name: text, shown: words.shared.newClass(text), note: "" });
    list.replaceChildren(...choices.map((one, place) => h("li", {
      role: "option", id: `${name}-${place}`, "aria-selected": "false",
      on: { pointerdown: (event) => { event.preventDefault(); take(one.name); } },
    }, h("span", {}, one.shown ?? one.name), h("small", {}, one.note))));
    show(choices.length > 0);
    at = text ? best(plain(text)) : -1;
    pointAt();
  }

  // The same name, else the first that has the text in it; of mere near misses none is taken for what was meant to be new.
  function best(text) {
    const same = choices.findIndex((one) => !one.shown && plain(one.name) === text);
    if (same >= 0) return same;
    const first = choices.findIndex((one) => plain(one.name).includes(text));
    return first < 0 && !fresh && choices.length ? 0 : first;
  }

  // Who types fast is ahead of the list: what stood there before is never taken.
  async function enter() {
    if (input.readOnly) return; // A second press, while the first still looks.
    const typed = input.value.trim();
    input.readOnly = true;
    while (typed && looked !== typed && document.activeElement === input) await look();
    input.readOnly = false;
    if (document.activeElement !== input) return;
    if (!list.hidden && at >= 0) take(choices[at].name);
    else if (fresh || typed === "") take(typed);
  }

  function key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) return look();
      const step = event.key === "ArrowDown" ? 1 : -1;
      at = (at + step + choices.length + (at < 0 && step < 0 ? 1 : 0)) % choices.length;
      pointAt();
    } else if (event.key === "Enter") {
      event.preventDefault();
      enter();
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      event.stopPropagation();
      asked++;
      looked = input.value.trim(); // What is on its way must not open it again.
      show(false);
    }
  }

  const soon = later(() => input.value.trim() !== looked && look(), 80);
  input.addEventListener("input", () => (input.value.trim() === "" && !fresh ? (choose?.(""), soon()) : soon()));
  input.addEventListener("focus", look);
  input.addEventListener("blur", () => show(false));
  input.addEventListener("keydown", key);
  return {
    element, input,
    get value() { return input.value.trim(); },
    set(text) { if (document.activeElement !== input) input.value = text ?? ""; },
    focus: () => input.focus(),
  };
}
