// Filters by name, class and folder, and the world that a query is compared with.

import { button, h, icon, later } from "./dom.js";
import { classPicker } from "./typeahead.js";
import { words } from "./words.js";

const say = words.find;

/** change(part of a state, {replace}) is called for every change; shuffle() for another order. */
export function createFilters({ collection, change, shuffle }) {
  const text = h("input", { type: "search", id: "filter-text", autocomplete: "off", spellcheck: "false", maxlength: "200" });
  const picker = classPicker({ label: say.class, placeholder: say.anyClass, choose: (name) => change({ where: { class: name } }) });
  const folder = h("select", { id: "filter-folder" }, h("option", { value: "" }, say.anyFolder),
    collection.folders.map((one) => h("option", { value: one.name }, `${one.name || say.topFolder} (${one.count})`)));
  const world = h("select", { id: "filter-world" }, collection.worlds.map((one) => h("option", { value: one.key }, say.worldName(one.name, one.size))));
  const own = (collection.worlds.find((one) => one.default) ?? collection.worlds[0])?.key ?? "";
  const leaveOut = h("input", { type: "checkbox", id: "leave-out" });
  let typing = false, current = "";
  const typed = () => {
    if (text.value.trim() === current) return;
    current = text.value.trim();
    change({ where: { text: current } }, { replace: typing }); // One step back for a whole word.
    typing = true;
  };
  text.addEventListener("input", later(typed, 200));
  text.addEventListener("blur", () => {
    typed();
    typing = false;
  });
  folder.addEventListener("change", () => change({ where: { folder: folder.value } }));
  world.addEventListener("change", () => change({ world: world.value === own ? "" : world.value }));
  leaveOut.addEventListener("change", () => change({ all: !leaveOut.checked }));

  const labeled = (name, field) => h("div", { class: "field" }, h("label", { for: field.id }, name), field);
  const searchOnly = h("div", { class: "filters-search" }, collection.worlds.length ? labeled(say.world, world) : null,
    h("label", { class: "check", for: "leave-out" }, leaveOut, say.leaveOut));
  const turn = button(say.shuffle, "shuffle", shuffle, { title: `${say.shuffle} (R)` });
  const wide = window.matchMedia("(min-width: 40rem)"); // There they are always open, and nothing closes them.
  const folded = h("details", { class: "filters", open: wide.matches },
    h("summary", {}, icon("filter"), say.filters),
    h("div", { class: "filters-row" }, labeled(say.text, text), picker.element, collection.folders.length > 1 ? labeled(say.folder, folder) : null, searchOnly, turn));

  wide.addEventListener("change", () => (folded.open = wide.matches));

  function draw(state, searching) {
    const keep = (field, value) => document.activeElement !== field && (field.value = value);
    keep(text, (current = state.where.text ?? ""));
    picker.set(state.where.class ?? "");
    if (![...folder.options].some((one) => one.value === state.where.folder) && state.where.folder) folder.append(h("option", { value: state.where.folder }, state.where.folder));
    folder.value = state.where.folder ?? "";
    world.value = state.world || own;
    leaveOut.checked = !state.all;
    searchOnly.hidden = !searching;
    turn.hidden = searching;
  }

  return { element: folded, draw, own, focusText: () => { folded.open = true; text.focus(); text.select(); } };
}
