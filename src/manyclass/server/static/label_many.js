// Many pictures at a time: select some in a grid, and one key names them all.

import { card } from "./card.js";
import { button, h, later } from "./dom.js";
import { createGrid } from "./grid.js";
import { proposalButtons, withRecent } from "./label_one.js";
import { frameSelection } from "./selection.js";
import { classPicker } from "./typeahead.js";
import { words } from "./words.js";

const w = words.label, MOST = 5000, EXAMPLES = 24; // pictures in the grid; of a class that others are compared with

// desk and what is given back: as in label_one.js
export function manyPictures(desk) {
  const { app } = desk;
  let asked = "", filter = {}, proposals = [], positives = [], cursor = { start: 0, rest: [], ended: false }, liked = null;

  const source = h("div", { class: "row many-source" });
  const grid = createGrid({ label: w.pictures, load, render, onSelect: drawBar });
  const frame = frameSelection(grid);
  const number = h("strong", { class: "many-count", role: "status" }), list = h("ol", { class: "proposals wide" });
  const picker = classPicker({ label: w.another, placeholder: w.nameThem, fresh: true, hidden: true, choose: (label) => { leaveField(); if (label) name(label); } });
  const every = button(w.selectAll, null, () => all()), clear = button(w.clear, "close", () => grid.clearSelection());
  const aside = h("button", { type: "button", on: { click: setAside }, title: w.setAsideHint }, h("span", {}, w.setAside), h("kbd", { "aria-hidden": "true" }, "X"));
  const bar = h("div", { class: "many-bar" }, h("div", { class: "row" }, number, every, clear, h("span", { class: "grow" }), picker.element, aside,
    button(words.shared.undo, "undo", () => desk.undo(), { quiet: true })), list);
  const element = h("div", { class: "many" }, source, bar, grid.element);

  picker.input.addEventListener("keydown", (event) => event.key === "Escape" && !event.defaultPrevented && leaveField());

  function leaveField() {
    picker.input.value = "";
    picker.input.blur();
    if (grid.items.length) grid.focus();
  }

  function render(picture, index) {
    const note = picture.set_aside ? w.isAside : null;
    return card(picture, {
      open: (one, event) => frame.dragged() || grid.toggle(grid.indexOf(one), event), select: (one, event) => grid.toggle(grid.indexOf(one), event),
      details: enlarge, hint: w.selects, note, tone: picture.label || picture.set_aside ? "faint" : "",
    });
  }

  // Pictures page by page; those that have a label already are left out where asked, so that a page may take several requests.
  async function load(start, count, signal) {
    if (start === 0) cursor = { start: 0, rest: [], ended: false };
    let total = start;
    while (cursor.rest.length < count && !cursor.ended) {
      const page = await fetchPictures(cursor.start, count, signal);
      cursor.start += page.pictures.length;
      cursor.ended = !page.pictures.length || cursor.start >= Math.min(page.total, MOST);
      cursor.rest.push(...page.pictures.filter((one) => filter.named || !(one.label || one.set_aside)));
    }
    const items = cursor.rest.splice(0, count);
    total = start + items.length + (cursor.ended ? cursor.rest.length : MOST);
    return { items, total };
  }

  async function fetchPictures(start, count, signal) {
    const { like, proposed, class: given, folder, text } = filter;
    if (!like && !proposed) return app.api.pictures({ order: "typical", class: given, folder, text, start, count }, { signal });
    if (start === 0) positives = like ? [{ id: like }] : await examples(proposed, signal);
    if (!positives.length) return { pictures: [], total: 0 };
    const found = await app.api.search({ positives, negatives: [], world: null, where: { class: given, folder, text }, start, count, leave_out: false }, { signal });
    return { pictures: found.hits, total: found.total };
  }

  // What people said is known better than what a folder says.
  async function examples(label, signal) {
    const said = await app.api.pictures({ order: "typical", label, count: EXAMPLES }, { signal });
    const all = said.total ? said : await app.api.pictures({ order: "typical", class: label, count: EXAMPLES }, { signal });
    return all.pictures.map(({ id }) => ({ id }));
  }

  async function reload() {
    proposals = filter.proposed ? [{ label: filter.proposed }] : [];
    grid.clearSelection();
    drawSource();
    try {
      const total = await grid.reload();
      if (total === 0) grid.element.querySelector(".grid-foot").textContent = filter.proposed ? w.noneProposed(filter.proposed) : w.noneUnlabeled;
      liked = grid.items.find((one) => one.id === filter.like) ?? null;
      if (liked) drawSource();
    } catch (problem) {
      if (problem.name !== "AbortError") app.problem(problem);
    }
    propose();
  }

  async function propose() {
    const { like } = filter;
    if (!like || proposals.length) return;
    const said = await app.api.proposals(like).catch(() => ({ proposals: [] }));
    if (like !== filter.like) return;
    proposals = said.proposals.slice(0, 5);
    drawBar();
  }

  const change = (more) => app.navigate("label", { mode: "many", ...filter, named: filter.named ? "1" : "", ...more });

  function drawSource() {
    const text = h("input", { type: "search", id: "many-text", autocomplete: "off", on: { input: later(() => change({ text: text.value.trim() }), 250) } });
    if (source.contains(document.activeElement) && document.activeElement.id === "many-text") return;
    text.value = filter.text ?? "";
    const pick = (label, key) => classPicker({ label, value: filter[key] ?? "", choose: (name) => name !== (filter[key] ?? "") && change({ [key]: name, ...(key === "proposed" ? { like: "" } : {}) }) }).element;
    const folders = app.collection.folders ?? [];
    const folder = h("select", { id: "many-folder", on: { change: () => change({ folder: folder.value }) } },
      h("option", { value: "" }, w.anyFolder), folders.map((one) => h("option", { value: one.name, selected: one.name === filter.folder }, `${one.name} (${one.count})`)));
    const named = h("input", { type: "checkbox", checked: filter.named, on: { change: () => change({ named: named.checked ? "1" : "" }) } });
    source.replaceChildren(...[
      filter.like ? h("div", { class: "chip" }, liked ? h("img", { src: liked.url, alt: "" }) : null, h("span", {}, w.likeThis(filter.like)),
        button(w.clearLike, "close", () => change({ like: "" }), { quiet: true, class: "plain" })) : pick(w.looksLike, "proposed"),
      pick(w.ofClass, "class"),
      folders.length > 1 ? h("div", { class: "field" }, h("label", { for: "many-folder" }, w.folder), folder) : null,
      h("div", { class: "field" }, h("label", { for: "many-text" }, w.nameHas), text),
      h("label", { class: "check" }, named, w.alsoLabeled)].filter(Boolean));
  }

  const offers = () => withRecent(proposals, desk.recent);

  function drawBar() {
    const n = grid.selected.size;
    number.textContent = w.selected(n);
    clear.hidden = n === 0;
    aside.disabled = n === 0;
    picker.input.disabled = n === 0;
    // The buttons are there from the start: what is below must not move while a frame is drawn.
    list.replaceChildren(...proposalButtons(offers(), name));
    for (const button of list.querySelectorAll("button")) button.disabled = n === 0;
  }

  /** Tell the server, and draw the cards anew, which stay where they are. */
  function say(body, announce) {
    const pictures = [...grid.selected.values()];
    if (!pictures.length) return false;
    const redraw = () => pictures.forEach((one) => grid.indexOf(one) >= 0 && grid.refresh(grid.indexOf(one)));
    grid.clearSelection();
    const step = desk.say(pictures, { ...body, source: "bulk" }, redraw);
    redraw();
    drawBar();
    app.toast(announce(pictures.length), { action: words.shared.undo, run: () => desk.undo(step) });
    if (!grid.focused) grid.focus();
  }

  const name = (label) => say({ label, proposed: proposals[0]?.label ?? null }, (n) => w.named(n, label));

  function setAside() { return say({ label: null, action: "set_aside" }, w.asideMany); }

  function all(event) {
    event?.preventDefault();
    if (grid.items.length) grid.selectRange(0, grid.items.length - 1);
  }

  function digit(event) {
    const one = offers()[Number(event.key) - 1];
    return one && grid.selected.size ? void name(one.label) : false;
  }

  function enlarge(picture) {
    const { close } = app.dialog(picture.name, () => [
      h("img", { class: "enlarged", src: app.api.image(picture.number), alt: picture.name }),
      h("p", { class: "quiet" }, picture.id),
      h("div", { class: "row end" }, button(w.alike, "search", () => { close(); change({ like: picture.id, proposed: "" }); }, { class: "primary" }))], { wide: true });
  }

  drawBar();
  return {
    element, all,
    update(params) {
      const next = params.toString();
      if (next === asked) return;
      asked = next;
      filter = Object.fromEntries(["like", "proposed", "class", "folder", "text"].map((key) => [key, params.get(key) ?? ""]));
      // Who asks for a class sees what is in it.
      filter.named = params.has("named") || Boolean(filter.class);
      reload();
    },
    type() { if (grid.selected.size) picker.focus(); else app.announce(w.selectFirst); },
    recalled: drawBar,
    learned: propose,
    undone: () => reload(),
    keys: [
      { keys: ["1 … 9"], text: w.keys.digitMany },
      { keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"], run: digit },
      { keys: ["/"], text: w.keys.typeMany, run: () => (grid.selected.size ? picker.focus() : false) },
      { keys: ["Arrows"], text: w.keys.walk, run: () => false },
      { keys: ["ArrowDown", "ArrowRight"], run: () => (grid.items.length && !grid.focused ? grid.focus() : false) },
      { keys: ["Shift"], text: w.keys.extend, run: () => false },
      { keys: [" ", "Enter"], text: w.keys.select, run: () => false },
      { keys: ["X"], text: w.keys.setAside, run: (event) => (event.shiftKey ? false : setAside()) },
      { keys: ["M"], text: w.keys.toOne, run: (event) => (event.shiftKey ? false : app.navigate("label", {})) },
      { keys: ["Escape"], text: w.keys.clear, run: () => (grid.selected.size ? grid.clearSelection() : false) },
    ],
    end() { frame.end(); grid.destroy(); },
  };
}
