// An endless grid of cards: pages are fetched as one scrolls, arrow keys walk, pictures can be selected.

import { h } from "./dom.js";
import { words } from "./words.js";

const PAGE = 60;
const PART = 120; // Cards of one list: the columns of the style sheet divide it, so that lists follow without a gap.

/**
 * A grid.
 *
 * options: label; load(start, count, signal) -> {items, total, line}, where `line` is how many cards stand above a line with the
 * words `lineWords`, or nothing; render(item, index, before) -> card, where `before` is the card that
 * the same picture had until now, if any; onSelect(items); id(item).
 */
export function createGrid({ label, load, render, onSelect, lineWords = "", id = (item) => item.id }) {
  // A browser leaves out the work for lists that are out of sight; for thousands of cards in one list it would not.
  const list = h("div", { class: "grid-parts" });
  const foot = h("div", { class: "grid-foot", role: "status" });
  const element = h("div", { class: "grid-frame" }, list, foot);
  const selected = new Map();
  let items = [], cards = [], total = 0, current = 0, anchor = 0, control = null, busy = false, ended = false, line = null, part = null;

  const watcher = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && more(), { rootMargin: "1200px" });
  watcher.observe(foot);

  async function fetchPage(start, fresh) {
    busy = true;
    const mine = (control = new AbortController());
    foot.textContent = items.length && !fresh ? words.shared.loading : foot.textContent;
    try {
      const page = await load(start, PAGE, mine.signal);
      if (mine !== control) return null;
      foot.textContent = "";
      total = page.total;
      if (start === 0) line = page.line ?? null;
      ended = page.items.length < PAGE || start + page.items.length >= total;
      return page.items;
    } finally {
      if (mine === control) busy = false;
    }
  }

  async function more() {
    if (busy || ended || !items.length) return;
    try {
      const page = await fetchPage(items.length, false);
      if (!page) return;
      append(page);
      // The observer tells of changes only: where the foot is still in sight, ask again.
      watcher.unobserve(foot);
      watcher.observe(foot);
    } catch (problem) {
      if (problem.name !== "AbortError") foot.textContent = problem.message;
    }
  }

  function append(page, old = new Map()) {
    const made = page.map((item, place) => prepared(item, items.length + place, old.get(id(item))));
    for (const card of made) {
      if (cards.length === line) list.append(h("p", { class: "line" }, h("span", {}, lineWords)));
      if (!part || cards.length === line || part.children.length === PART) list.append((part = h("ul", { class: "grid", "aria-label": label })));
      part.append(card);
      cards.push(card);
    }
    items.push(...page);
  }

  function prepared(item, index, before) {
    const card = render(item, index, before);
    for (const inner of card.querySelectorAll("button")) inner.tabIndex = -1;
    mark(card, selected.has(id(item)));
    return card;
  }

  /** Fetch the first page again; resolves to the number of pictures there are, or null where a later call overtook it. */
  async function reload({ focus = false, first = false } = {}) {
    control?.abort();
    ended = false;
    list.setAttribute("aria-busy", "true");
    const page = await fetchPage(0, true);
    if (!page) return null;
    list.removeAttribute("aria-busy");
    const old = new Map(cards.map((card, place) => [id(items[place]), card]));
    const hadFocus = focus || list.contains(document.activeElement);
    if (first || current >= page.length) {
      current = 0;
      if (element.getBoundingClientRect().top < 0) window.scrollTo({ top: 0 });
    }
    anchor = 0;
    items = [];
    cards = [];
    part = null;
    list.replaceChildren();
    append(page, old);
    tabStops();
    if (hadFocus && items.length) walk(current, false);
    watcher.unobserve(foot);
    watcher.observe(foot);
    return total;
  }

  function tabStops() {
    cards.forEach((card, index) => stop(card, index === current));
  }

  function stop(card, on) {
    for (const inner of card?.querySelectorAll("button") ?? []) inner.tabIndex = on ? 0 : -1;
  }

  function walk(index, scroll = true) {
    const next = Math.max(0, Math.min(index, cards.length - 1));
    if (!cards[next]) return;
    stop(cards[current], false);
    current = next;
    stop(cards[current], true);
    cards[current].querySelector("button").focus({ preventScroll: !scroll });
    if (scroll) cards[current].scrollIntoView({ block: "nearest" });
    if (cards.length - current < PAGE / 2) more();
  }

  const columns = () => getComputedStyle(cards[current].parentNode).gridTemplateColumns.split(" ").length;

  function step(event) {
    const place = cards.indexOf(event.target.closest(".card"));
    if (place < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const leaps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns(), ArrowUp: -columns(), PageDown: 4 * columns(), PageUp: -4 * columns(), Home: -place, End: cards.length };
    if (!(event.key in leaps)) return;
    event.preventDefault();
    if (event.shiftKey && onSelect) selectRange(place, Math.max(0, Math.min(place + leaps[event.key], cards.length - 1)));
    walk(place + leaps[event.key]);
  }

  list.addEventListener("keydown", step);
  list.addEventListener("focusin", (event) => {
    const place = cards.indexOf(event.target.closest(".card"));
    if (place < 0 || place === current) return;
    stop(cards[current], false);
    current = place;
    stop(cards[current], true);
  });

  function mark(card, on) {
    card.classList.toggle("selected", on);
    card.querySelector(".card-select")?.setAttribute("aria-pressed", String(on));
  }

  function put(index, on) {
    const item = items[index];
    if (on) selected.set(id(item), item);
    else selected.delete(id(item));
    mark(cards[index], on);
  }

  function changed() {
    list.classList.toggle("selecting", selected.size > 0);
    onSelect?.([...selected.values()]);
  }

  function selectRange(from, to) {
    for (let index = Math.min(from, to); index <= Math.max(from, to); index++) put(index, true);
    changed();
  }

  /** Select or not; with shift everything since the last one. */
  function toggle(index, event) {
    if (event?.shiftKey) return selectRange(anchor, index);
    anchor = index;
    put(index, !selected.has(id(items[index])));
    changed();
  }

  function clearSelection() {
    selected.clear();
    cards.forEach((card) => mark(card, false));
    changed();
  }

  return {
    element, list, selected, reload, toggle, clearSelection, selectRange,
    focus: (index = current) => walk(index),
    indexOf: (item) => items.findIndex((one) => id(one) === id(item)),
    /** The card of an item is drawn again. */
    refresh(index) {
      const fresh = prepared(items[index], index, cards[index]);
      stop(fresh, index === current);
      const focused = cards[index].contains(document.activeElement);
      cards[index].replaceWith(fresh);
      cards[index] = fresh;
      if (focused) fresh.querySelector("button").focus({ preventScroll: true });
    },
    get items() { return items; },
    get cards() { return cards; },
    get total() { return total; },
    get current() { return items[current] ?? null; },
    get index() { return current; },
    get focused() { return list.contains(document.activeElement); },
    destroy() {
      control?.abort();
      watcher.disconnect();
      element.remove();
    },
  };
}
