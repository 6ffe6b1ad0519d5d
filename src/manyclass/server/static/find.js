// The tab Find: pictures by picture, by marks, against a world.

import { api } from "./api.js";
import { openBox } from "./box.js";
import { card } from "./card.js";
import { openDetail } from "./detail.js";
import { button, h } from "./dom.js";
import { createBar } from "./find_bar.js";
import { createFilters } from "./find_filters.js";
import { openKeep, openTake } from "./find_out.js";
import { asRef, idOf, isFiltered, isSearch, isUpload, markOf, readState, refOf, searchFor, startOver, uploadRef, withMark, writeState } from "./find_state.js";
import { createGrid } from "./grid.js";
import { capital, milliseconds, words } from "./words.js";

const say = words.find;
const known = new Map(); // id -> Picture, of all that were seen: chips of marks need their thumbnails
const crops = new Map(); // "ref box" -> Query
const PAGE = 200; // The most that the server gives at once.

async function byIds(ids) {
  const found = [];
  for (let start = 0; start < ids.length; start += PAGE) {
    const some = ids.slice(start, start + PAGE);
    found.push(...(await api.pictures({ id: some, count: some.length })).pictures.filter((one) => some.includes(one.id)));
  }
  return found;
}

export function mount(root, app) {
  let state = null, answer = null, spent = {}, drawn = 0;
  const go = (next, options) => app.navigate("find", writeState(next), options);
  const change = (part, options) => go({ ...state, ...part, where: { ...state.where, ...part.where } }, options);
  const mark = (picture, kind) => go(withMark(state, refOf(picture), kind));
  const again = (picture) => go(searchFor(state, refOf(picture)));
  const shuffle = () => change({ seed: String(Math.floor(Math.random() * 1e9)) });
  const uploads = app.collection.search_by_pictures;

  const bar = createBar({
    uploads, pictureOf: (ref) => known.get(idOf(ref)) ?? null,
    actions: {
      give, pasteText, openQuery, clearQuery: () => go({ ...state, query: null, box: null }),
      unmark: (ref) => go(withMark(state, ref, markOf(state, ref))), clearAll: () => go(startOver(state)),
    },
  });
  const filters = createFilters({ collection: app.collection, change, shuffle });
  const sentence = h("p", { class: "answer", role: "status" });
  const selection = h("div", { class: "selection", role: "region", "aria-label": say.selected(0), hidden: true });
  const keeper = button(say.keep, "keep", keep);
  const tools = h("div", { class: "row tight" }, keeper, button(say.take, "download", take));
  const notice = h("div", { class: "notice problem", role: "alert", hidden: true });
  const grid = createGrid({ label: say.pictures, load, render, onSelect: drawSelection, lineWords: say.line });
  root.append(bar.element, bar.dropping, filters.element, h("div", { class: "answer-row" }, sentence, tools), notice, grid.element, selection);

  // Search

  async function positives(signal) {
    const refs = [state.query, ...state.like].filter(Boolean).map(asRef);
    if (state.box) refs[0] = { query: (await cropOf(state, signal)).query };
    return refs;
  }

  async function cropOf({ query, box }, signal) {
    const key = `${query} ${box}`;
    if (!crops.has(key)) crops.set(key, await api.crop(asRef(query), box, { signal }));
    spent = crops.get(key).ms;
    return crops.get(key);
  }

  async function question(signal, start, count) {
    const where = Object.fromEntries(Object.entries(state.where).filter(([, value]) => value));
    return { positives: await positives(signal), negatives: state.unlike.map(asRef), world: state.world || null, where, start, count, leave_out: !state.all };
  }

  async function load(start, count, signal) {
    let page;
    if (isSearch(state)) {
      const said = await api.search(await question(signal, start, count), { signal });
      if (start === 0) answer = said;
      page = { items: said.hits, total: said.total, line: said.line };
    } else {
      const said = await api.pictures({ ...state.where, order: state.seed ? "shuffled" : "typical", seed: state.seed, start, count }, { signal });
      if (start === 0) answer = null;
      page = { items: said.pictures, total: said.total };
    }
    for (const picture of page.items) known.set(picture.id, picture);
    return page;
  }

  /** Pictures that the address names and that were not seen yet. */
  async function learnNames() {
    const ids = [state.query, ...state.like, ...state.unlike].filter((ref) => ref && !isUpload(ref) && !known.has(idOf(ref))).map(idOf);
    if (!ids.length) return;
    for (const picture of await byIds(ids)) known.set(picture.id, picture);
    drawBar();
  }

  async function update(params) {
    const before = state;
    state = readState(params);
    const mine = ++drawn;
    drawBar();
    filters.draw(state, isSearch(state));
    const fresh = !before || before.query !== state.query || String(before.box) !== String(state.box) || before.seed !== state.seed;
    learnNames().catch(() => {});
    try {
      if (await grid.reload({ first: fresh }) === null || mine !== drawn) return;
      notice.hidden = true;
      drawAnswer();
    } catch (problem) {
      if (problem.name !== "AbortError" && mine === drawn) drawProblem(problem);
    }
  }

  // Drawing

  function drawBar() {
    const crop = state.box ? crops.get(`${state.query} ${state.box}`) : null;
    bar.draw(state, crop?.url);
  }

  function noteOf(hit) {
    if (hit.percentile === null || hit.percentile === undefined) return hit.score === undefined ? null : say.score(hit.score);
    return below(hit) ? say.percentileLow(hit.percentile) : say.percentile(hit.percentile);
  }

  const below = (hit) => answer?.line !== null && answer?.line !== undefined && hit.rank > answer.line;
  const worldName = () => app.collection.worlds.find((one) => one.key === answer?.world)?.name ?? "";

  function render(picture, index, before) {
    const marked = markOf(state, refOf(picture));
    const judged = picture.percentile !== null && picture.percentile !== undefined;
    return card(picture, {
      before, hint: say.again, tone: !answer ? "" : below(picture) ? "faint" : "alike", note: noteOf(picture),
      title: judged ? say.percentileTitle(picture.percentile, worldName()) : null,
      open: (one, event) => (event.shiftKey || event.ctrlKey || event.metaKey ? grid.toggle(grid.indexOf(one), event) : again(one)),
      select: (one, event) => grid.toggle(grid.indexOf(one), event),
      details,
      actions: [{ name: say.right, icon: "plus", kind: "right", pressed: marked === "right", press: (one) => mark(one, "right") },
        { name: say.wrong, icon: "minus", kind: "wrong", pressed: marked === "wrong", press: (one) => mark(one, "wrong") }],
    });
  }

  function verdict() {
    if (answer.line === null) return `${capital(answer.words)}.`;
    return answer.line ? say.alike(answer.line) : say.nothing;
  }

  function drawAnswer() {
    const nothing = answer?.line === 0;
    keeper.hidden = !answer;
    sentence.title = answer?.words ?? "";
    sentence.textContent = answer ? verdict() : isFiltered(state) ? say.filtered(grid.total) : state.seed ? say.shuffled(grid.total) : say.browsing(grid.total);
    if (!answer && state.unlike.length) sentence.textContent = say.onlyWrong;
    sentence.classList.toggle("nothing", Boolean(nothing));
    if (!grid.items.length) sentence.textContent = words.shared.noPictures;
    if (state.box) drawBar(); // The crop has a picture of its own now.
    const ms = answer ? { ...(state.query && (isUpload(state.query) || state.box) ? spent : {}), ...answer.ms } : {};
    app.status([words.shared.pictures(app.collection.images), ...["feature", "encode", "search"].filter((part) => ms[part] !== undefined)
      .map((part) => `${say.ms[part]} ${milliseconds(ms[part])}`)].join(" · "));
  }

  function drawProblem(problem) {
    const lost = [404, 410].includes(problem.status) ? [state.query, ...state.like, ...state.unlike].filter((ref) => ref && isUpload(ref)) : [];
    notice.replaceChildren(h("p", {}, lost.length ? say.forgotten : capital(problem.message)));
    if (lost.length) {
      const without = (refs) => refs.filter((ref) => !isUpload(ref));
      notice.append(button(say.forget, "close", () => go({ ...state, query: lost.includes(state.query) ? null : state.query, box: null, like: without(state.like), unlike: without(state.unlike) })));
    }
    notice.hidden = false;
    sentence.textContent = "";
  }

  function drawSelection(pictures) {
    selection.hidden = pictures.length === 0;
    selection.setAttribute("aria-label", say.selected(pictures.length));
    const every = (kind) => () => {
      const next = pictures.reduce((held, one) => (markOf(held, refOf(one)) === kind ? held : withMark(held, refOf(one), kind)), state);
      grid.clearSelection();
      go(next);
    };
    selection.replaceChildren(h("strong", { role: "status" }, say.selected(pictures.length)),
      button(say.keep, "keep", keep, { class: "primary" }), button(say.right, "plus", every("right")), button(say.wrong, "minus", every("wrong")),
      button(say.clearSelection, "close", () => grid.clearSelection(), { class: "plain" }));
  }

  // Pictures of one's own

  async function give(file, as) {
    if (!uploads) return app.toast(say.noUploads, { kind: "problem" });
    if (file.type && !file.type.startsWith("image/")) return app.toast(say.notAPicture, { kind: "problem" });
    app.status(say.reading);
    try {
      const query = await api.upload(file);
      spent = query.ms;
      const ref = uploadRef(query.query);
      go(as === "query" ? searchFor(state, ref) : withMark(state, ref, as === "like" ? "right" : "wrong"));
    } catch (problem) {
      app.status("");
      app.problem(problem);
    }
  }

  /** A path or name that was pasted is looked up; where it is none, it filters. */
  async function pasteText(text) {
    if (text.length > 500 || text.includes("\n")) return;
    const [picture] = await byIds([text]).catch(() => []);
    if (picture) again(picture);
    else change({ where: { text: text.split("/").pop() } });
  }

  function openQuery() {
    if (!state.query) return false;
    const picture = known.get(idOf(state.query));
    const url = isUpload(state.query) ? api.queryImage(idOf(state.query)) : picture ? api.image(picture.number) : null;
    if (url) openBox({ url, name: picture?.name ?? say.queryUpload, box: state.box, done: (box) => go({ ...state, box, like: [], unlike: [] }) });
  }

  const boxOf = (picture) => openBox({ url: api.image(picture.number), name: picture.name, done: (box) => go({ ...searchFor(state, refOf(picture)), box }) });
  const details = (picture) => openDetail(picture, grid, { again, mark, noteOf, box: boxOf, addressOf: (one) => `#/find?${new URLSearchParams({ q: refOf(one) })}` });

  // Out

  function sets() {
    const rightOnes = [state.query, ...state.like].filter((ref) => ref && !isUpload(ref) && !(ref === state.query && state.box));
    const marked = () => byIds(rightOnes.map(idOf));
    const above = answer?.line ?? 0;
    return [
      grid.selected.size ? { key: "selected", text: say.sets.selected(grid.selected.size), pictures: async () => [...grid.selected.values()] } : null,
      above ? { key: "above", text: say.sets.above(above, state.all ? 0 : rightOnes.length), pictures: async () => [...(state.all || !rightOnes.length ? [] : await marked()), ...(await best(above))] } : null,
      rightOnes.length ? { key: "marked", text: say.sets.marked(rightOnes.length), pictures: marked } : null,
    ].filter(Boolean);
  }

  async function best(count) {
    const found = grid.items.slice(0, count);
    while (found.length < count) {
      const page = await api.search(await question(undefined, found.length, Math.min(PAGE, count - found.length)));
      if (!page.hits.length) break;
      found.push(...page.hits);
    }
    return found;
  }

  function keep() {
    const choices = sets();
    if (!choices.length) return app.toast(say.keepNothing);
    openKeep(choices, async (pictures, name) => {
      const said = await api.label({ ids: [...new Set(pictures.map((one) => one.id))], label: name, action: "label", proposed: null, source: "find", who: app.who() });
      app.toast(say.kept(pictures.length, name), { action: words.shared.undo, run: () => undo(said.event) });
      grid.clearSelection();
      await update(app.params());
    });
  }

  async function undo(event = null) {
    try {
      const said = await api.undo(app.who(), event);
      app.toast(said.undone ? words.shared.undone(said.undone.label) : words.shared.nothingToUndo);
      await update(app.params());
    } catch (problem) {
      app.problem(problem);
    }
  }

  function take() {
    const shown = grid.items.length ? [{ key: "shown", text: say.sets.shown(grid.items.length), pictures: async () => grid.items }] : [];
    openTake([...sets(), ...shown], { ...writeState(state), words: answer?.words ?? null }, answer);
  }

  // Keys: those of a card act on the one that has the focus.
  const here = (act) => () => (grid.focused && grid.current ? void act(grid.current) : false);
  const keys = [
    { keys: ["Arrows"], text: say.keys.move },
    { keys: [" "], text: say.keys.again, run: () => false },
    { keys: ["J", "+"], text: say.keys.right, run: here((one) => mark(one, "right")) },
    { keys: ["K", "-"], text: say.keys.wrong, run: here((one) => mark(one, "wrong")) },
    { keys: ["Enter"], text: say.keys.details, run: (event) => (event.target.closest(".card-open") ? void details(grid.current) : false) },
    { keys: ["X"], text: say.keys.select, run: here(() => grid.toggle(grid.index)) },
    { keys: ["N"], text: say.keys.keep, run: () => void keep() },
    { keys: ["R"], text: say.keys.shuffle, run: () => (isSearch(state) ? false : void shuffle()) },
    { keys: ["B"], text: say.keys.box, run: () => openQuery() },
    { keys: ["/"], text: say.keys.text, run: () => void filters.focusText() },
    { keys: ["E"], text: say.keys.take, run: () => void take() },
    { keys: ["U"], text: say.keys.undo, run: () => void undo() },
    { keys: ["Escape"], text: say.keys.escape, run: () => (grid.selected.size ? void grid.clearSelection() : false) },
  ];

  return { update, keys, unmount: () => { bar.destroy(); grid.destroy(); } };
}
