// The shell: tabs by the address, what the server says, keys, help, names and colors.

import { api, asQuery, listen } from "./api.js";
import { card } from "./card.js";
import { codeBlock, openDialog, toast } from "./dialogs.js";
import { button, h } from "./dom.js";
import { showPreparation } from "./preparing.js";
import { words } from "./words.js";

// A tab is fetched when it is first shown.
const TABS = { find: () => import("./find.js"), label: () => import("./label.js"), audit: () => import("./audit.js") };
const THEMES = ["auto", "light", "dark"];
const page = document.getElementById("page");
const memory = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem(key, value); } catch { /* A browser that keeps nothing is fine. */ } },
};

const app = {
  api, words, card, toast, navigate, codeBlock,
  dialog: openDialog,
  collection: null,
  events: null,
  who: () => memory.get("who") ?? "",
  params: () => address().params,
  status: (text) => (document.getElementById("status").textContent = text),
  announce(text) {
    // The same words twice are read out only where the element was empty in between.
    const announcer = document.getElementById("announcer");
    announcer.textContent = "";
    setTimeout(() => (announcer.textContent = text), 50);
  },
  problem(trouble) {
    if (trouble?.name !== "AbortError") toast(trouble.message, { kind: "problem" });
  },
};

let shown = null; // {tab, handle}: what stands on the page
const last = {}; // tab -> the parameters it was left with

function address() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { tab: path in TABS ? path : "find", params: new URLSearchParams(query) };
}

function navigate(tab, params = {}, { replace = false } = {}) {
  const query = params instanceof URLSearchParams ? (params.size ? `?${params}` : "") : asQuery(params);
  const hash = `#/${tab}${query}`;
  if (hash !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", hash);
  show().catch(app.problem);
}

async function show() {
  if (!app.collection) return;
  const { tab } = address();
  const module = await TABS[tab]();
  if (address().tab !== tab) return;
  const { params } = address();
  if (shown?.tab !== tab) {
    shown?.handle.unmount();
    document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
    app.status("");
    const root = h("div", { class: `tab tab-${tab}` }, h("h1", { class: "unseen" }, words.shared.tabs[tab]));
    page.replaceChildren(root);
    shown = { tab, handle: module.mount(root, app) };
  }
  last[tab] = params.toString();
  document.title = words.shared.title(words.shared.tabs[tab], app.collection.name);
  drawTabs(tab);
  shown.handle.update(params);
}

function drawTabs(current) {
  const links = Object.keys(TABS).map((tab) =>
    h("a", { href: `#/${tab}${last[tab] ? `?${last[tab]}` : ""}`, "aria-current": tab === current ? "page" : null }, words.shared.tabs[tab]));
  document.getElementById("tabs").replaceChildren(...links);
}

// Keys

const EVERYWHERE = [
  { keys: ["?"], text: words.shared.thisHelp, run: () => showHelp() },
  { keys: ["["], text: words.shared.previousTab, run: () => turnTab(-1) },
  { keys: ["]"], text: words.shared.nextTab, run: () => turnTab(1) },
  { keys: ["Tab"], text: words.shared.tabKey, run: () => false },
  { keys: ["Escape"], text: words.shared.escapeKey, run: () => false },
];

function turnTab(step) {
  const tabs = Object.keys(TABS);
  const tab = tabs[(tabs.indexOf(address().tab) + step + tabs.length) % tabs.length];
  navigate(tab, new URLSearchParams(last[tab] ?? ""));
}

function pressKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  const pressed = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  for (const entry of [...(shown?.handle.keys ?? []), ...EVERYWHERE]) {
    if (!entry.keys.some((key) => (key.length === 1 ? key.toUpperCase() : key) === pressed)) continue;
    if (entry.run?.(event) === false) continue;
    event.preventDefault();
    return;
  }
}

function keyTable(title, entries) {
  return h("section", {}, h("h3", {}, title), h("dl", { class: "keys" }, entries.map((entry) =>
    h("div", {}, h("dt", {}, entry.keys.map((key) => h("kbd", {}, words.shared.keyNames[key] ?? key))), h("dd", {}, entry.text)))));
}

function showHelp() {
  openDialog(words.shared.help, () => [
    h("p", {}, words.shared.helpIntro),
    shown ? keyTable(words.shared.tabs[shown.tab], (shown.handle.keys ?? []).filter((entry) => entry.text)) : null,
    keyTable(words.shared.keysEverywhere, EVERYWHERE),
    app.collection ? h("section", { class: "about" }, h("h3", {}, words.shared.about),
      [app.collection.path, app.collection.encoder, ...(app.collection.notes ?? [])].filter(Boolean).map((line) => h("p", { class: "quiet" }, line))) : null,
    h("p", {}, h("a", { href: "/api/docs" }, words.shared.apiDocs)),
  ].filter(Boolean), { wide: true });
}

// Names and colors

function askName() {
  const field = h("input", { id: "who", type: "text", maxlength: "80", autocomplete: "name", "data-first": "" });
  field.value = app.who();
  openDialog(words.shared.who, (close) => {
    const save = () => { memory.set("who", field.value.trim()); drawTools(); close(); };
    field.addEventListener("keydown", (event) => event.key === "Enter" && save());
    return [h("p", {}, words.shared.whoIntro), h("div", { class: "field" }, h("label", { for: "who", class: "unseen" }, words.shared.who), field),
      h("div", { class: "row end" }, button(words.shared.save, "check", save, { class: "primary" }))];
  });
}

function setTheme(theme) {
  memory.set("theme", theme);
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function turnTheme() {
  const next = THEMES[(THEMES.indexOf(memory.get("theme") ?? "auto") + 1) % THEMES.length];
  setTheme(next);
  drawTools();
  app.announce(words.shared.theme[next]);
  document.getElementById("theme").focus();
}

function drawTools() {
  const theme = memory.get("theme") ?? "auto";
  document.getElementById("tools").replaceChildren(
    button(app.who() || words.shared.who, "person", askName, { quiet: !app.who(), class: "plain who" }),
    button(words.shared.theme[theme] ?? words.shared.theme.auto, "theme", turnTheme, { quiet: true, class: "plain", id: "theme" }),
    button(words.shared.help, "help", showHelp, { quiet: true, class: "plain" }));
}

// What the server says

function showJob(job) {
  const slot = document.getElementById("jobs");
  if (job.state === "failed" && job.kind !== "prepare") toast(job.error ?? job.title, { kind: "problem" });
  const progress = words.shared.progress(job.done, job.total, job.unit ?? "");
  slot.textContent = job.state === "running" ? `${job.title} · ${progress}` : "";
}

async function start() {
  TABS[address().tab]().catch(() => {}); // It is needed soon; where it cannot be had, show() says so.
  setTheme(memory.get("theme") ?? "auto");
  drawTools();
  drawTabs(address().tab);
  app.events = listen();
  app.events.on("job", showJob);
  watchConnection();
  await showPreparation(page, app);
  app.collection = await api.collection();
  document.getElementById("collection").textContent = app.collection.name;
  document.getElementById("collection").title = app.collection.path ?? "";
  page.replaceChildren();
  await show();
  app.collection.notes?.slice(0, 2).forEach((note) => toast(note));
}

function watchConnection() {
  let lost = false;
  app.events.on("lost", () => {
    if (!lost && !document.hidden) app.status(words.shared.lost);
    lost = true;
  });
  app.events.on("connected", () => {
    if (lost) app.status(words.shared.back);
    lost = false;
  });
}

window.addEventListener("hashchange", () => show().catch(app.problem));
document.addEventListener("keydown", pressKey);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // The address belongs to the tabs.
  page.focus();
});
start().catch((trouble) => page.replaceChildren(h("div", { class: "notice problem", role: "alert" }, trouble.message)));
