// Pictures that are nearly the same, in groups; a rule says which one of each to keep. Nothing is deleted.

import { card } from "./card.js";
import { button, h } from "./dom.js";
import { words } from "./words.js";

const w = words.audit, PAGE = 30, RULES = ["largest", "oldest", "first"];

// desk and what is given back: as in audit_suspects.js
export function duplicateGroups(desk) {
  const { app } = desk;
  const rule = h("select", { id: "rule", on: { change: () => desk.go({ rule: rule.value }) } }, RULES.map((one) => h("option", { value: one }, w.rules[one])));
  const folder = h("select", { id: "keep-folder", on: { change: () => desk.go({ folder: folder.value }) } },
    h("option", { value: "" }, w.anyFolder), (app.collection.folders ?? []).map((one) => h("option", { value: one.name }, one.name)));
  const folderField = h("div", { class: "field" }, h("label", { for: "keep-folder" }, w.preferFolder), folder);
  const out = h("a", { class: "button", download: "" }, w.copies);
  const list = h("div", { class: "groups" }), more = button(w.more, null, () => load(groups.length));
  const element = h("div", { class: "duplicates" },
    h("div", { class: "row duplicate-rule" }, h("div", { class: "field" }, h("label", { for: "rule" }, w.rule), rule), folderField, h("span", { class: "grow" }), out),
    h("p", { class: "quiet" }, w.duplicatesHint), list, more);
  let asked = null, groups = [];

  async function load(start) {
    const mine = asked;
    try {
      const page = await app.api.duplicates({ rule: rule.value, folder: folder.value, start, count: PAGE });
      if (mine !== asked) return;
      if (start === 0) { groups = []; list.replaceChildren(); }
      const made = page.groups.map((group) => ({ ...group, copies: group.pictures.filter((one) => one.id !== group.keeper) }));
      groups.push(...made);
      list.append(...made.map(drawGroup));
      more.hidden = groups.length >= page.total;
      if (!page.total) list.replaceChildren(h("div", { class: "empty" }, h("h2", {}, w.noDuplicates), h("p", {}, w.noDuplicatesHint)));
    } catch (problem) {
      app.problem(problem);
    }
  }

  function drawGroup(group) {
    const aside = group.copies.length > 0 && group.copies.every((one) => one.set_aside);
    const act = h("button", { type: "button", disabled: aside || !group.copies.length, on: { click: () => setAside(group) } }, h("span", {}, w.asideCopies(group.copies.length)), h("kbd", { "aria-hidden": "true" }, "X"));
    group.element = h("div", { class: `group ${aside ? "decided" : ""}`, tabIndex: 0, role: "group", "aria-label": w.group(group.pictures.length, group.similarity) },
      h("header", { class: "row" }, h("h2", {}, w.group(group.pictures.length, group.similarity)), h("span", { class: "grow" }), aside ? h("span", { class: "said" }, w.asideDone) : null, act),
      h("ul", { class: "grid" }, group.pictures.map((one) => {
        const kept = one.id === group.keeper;
        const element = card(one, { open: () => enlarge(one), hint: w.enlarges, note: w.facts(one), tone: one.set_aside ? "faint" : "" });
        element.classList.toggle("keeper", kept);
        element.prepend(h("span", { class: "verdict" }, kept ? w.keeper : one.set_aside ? w.isAside : w.copy));
        return element;
      })));
    return group.element;
  }

  function redraw(group) {
    const { element: old } = group, focused = old.contains(document.activeElement);
    old.replaceWith(drawGroup(group));
    if (focused) group.element.focus();
  }

  function setAside(group) {
    const fresh = group?.copies.filter((one) => !one.set_aside) ?? [];
    if (!fresh.length) return false;
    for (const one of fresh) one.set_aside = true;
    redraw(group);
    const step = desk.decide(fresh, "set_aside", {}, () => {
      for (const one of fresh) one.set_aside = false;
      redraw(group);
    });
    app.toast(w.asideToast(fresh.length), { action: words.shared.undo, run: () => desk.undo(step) });
  }

  function enlarge(picture) {
    app.dialog(picture.name, () => [h("img", { class: "enlarged", src: app.api.image(picture.number), alt: picture.name }), h("p", { class: "quiet" }, picture.id)], { wide: true });
  }

  const current = () => groups.findIndex((one) => one.element.contains(document.activeElement));

  function walk(step) {
    const next = groups[Math.max(0, Math.min(current() + step, groups.length - 1))];
    if (!next) return false;
    next.element.focus();
    next.element.scrollIntoView({ block: "nearest" });
  }

  return {
    element,
    update(params) {
      rule.value = RULES.includes(params.get("rule")) ? params.get("rule") : "largest";
      folder.value = params.get("folder") ?? "";
      if (folder.selectedIndex < 0) folder.value = "";
      folderField.hidden = rule.value !== "first";
      out.href = app.api.exportAddress("duplicates.csv", { rule: rule.value, folder: folder.value });
      const wanted = `${rule.value} ${folder.value}`;
      if (wanted === asked) return;
      asked = wanted;
      load(0);
    },
    again() { load(0); },
    keys: [
      { keys: ["ArrowDown"], text: w.keys.nextGroup, run: () => walk(1) },
      { keys: ["ArrowUp"], text: w.keys.previousGroup, run: () => walk(-1) },
      { keys: ["X"], text: w.keys.asideCopies, run: () => setAside(groups[current()]) },
    ],
    end() { asked = null; },
  };
}
