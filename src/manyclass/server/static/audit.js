// The tab Audit: start it, watch it, and go through what it found.

import { duplicateGroups } from "./audit_duplicates.js";
import { outlierGrid } from "./audit_outliers.js";
import { suspectLabels } from "./audit_suspects.js";
import { button, h } from "./dom.js";
import { exportButton } from "./exports.js";
import { outboxNotice, outboxOf } from "./outbox.js";
import { capital, count, words } from "./words.js";

const w = words.audit;
const VIEWS = { labels: suspectLabels, duplicates: duplicateGroups, outliers: outlierGrid };

export function mount(root, app) {
  const outbox = outboxOf(app), notice = outboxNotice(outbox), done = [];
  const head = h("div", { class: "audit-head row" }), body = h("div", { class: "audit-body" });
  let state = null, shown = null, view = null, params = new URLSearchParams(), ended = false;
  root.append(head, notice.element, body);

  const desk = {
    app,
    /** Decide on pictures: "keep", "fix" with a label, or "set_aside"; `takeBack` is called when it is undone. */
    decide(pictures, decision, { label = null, proposed = null }, takeBack) {
      const item = outbox.send("decision", { ids: pictures.map((one) => one.id), decision, label, proposed, who: app.who() });
      const step = { item, takeBack };
      done.push(step);
      return step;
    },
    undo(step = done.at(-1)) {
      if (!step) return void outbox.send("undo", { who: app.who(), event: null });
      if (!done.includes(step)) return;
      done.splice(done.indexOf(step), 1);
      outbox.undo(step.item);
      step.takeBack();
      app.announce(words.shared.undone(""));
    },
    go: (more) => app.navigate("audit", { ...Object.fromEntries(params), ...more }),
    stay: (more) => app.navigate("audit", { ...Object.fromEntries(params), ...more }, { replace: true }),
  };

  async function look() {
    try {
      // Labels that were given since the page was opened count too.
      [state, app.collection] = await Promise.all([app.api.audit(), app.api.collection()]);
    } catch (problem) {
      body.replaceChildren(h("p", { class: "notice problem", role: "alert" }, problem.message));
      return;
    }
    if (!ended) draw();
  }

  function draw() {
    if (!state) return;
    const wanted = state.state === "done" ? Object.keys(VIEWS).find((one) => one === params.get("view")) ?? first() : state.state;
    drawHead(wanted);
    if (wanted !== shown) {
      view?.end();
      shown = wanted;
      view = VIEWS[wanted]?.(desk) ?? null;
      body.replaceChildren(view ? view.element : wanted === "running" ? running() : start());
    }
    view?.update(params);
    if (wanted === "running") progress(state.job);
  }

  const first = () => Object.keys(VIEWS).find((one) => state.counts[one]) ?? "labels";

  function drawHead(wanted) {
    if (state.state !== "done") return head.replaceChildren();
    const links = Object.keys(VIEWS).map((one) => h("a", { href: `#/audit?view=${one}`, "aria-current": one === wanted ? "true" : null },
      w.views[one], " ", h("span", { class: "number" }, state.counts[one] === undefined || state.counts[one] === null ? "–" : count(state.counts[one]))));
    head.replaceChildren(h("nav", { class: "segments links", "aria-label": w.found }, links), h("span", { class: "grow" }),
      button(w.again, null, () => app.dialog(w.again, (close) => start(close))),
      exportButton(app, "audit", [{ name: "labels.jsonl", ...w.files.jsonl }, { name: "labels.csv", ...w.files.csv },
        { name: "duplicates.csv", values: { rule: params.get("rule"), folder: params.get("folder") }, ...w.files.duplicates },
        { name: "paths.txt", values: { set_aside: "true" }, ...w.files.aside }]));
    for (const note of state.notes ?? []) head.append(h("p", { class: "quiet audit-note" }, note));
  }

  /** What the audit will do, and the button that starts it. */
  function start(close) {
    const named = Boolean(app.collection.labels || app.collection.people_labels);
    const box = (check) => {
      const input = h("input", { type: "checkbox", name: check, checked: check !== "labels" || named, disabled: check === "labels" && !named });
      return { check, input, element: h("label", { class: "check audit-check" }, input, h("span", {}, h("strong", {}, w.views[check]), " ", h("span", { class: "quiet" }, w.checks[check]))) };
    };
    const boxes = Object.keys(VIEWS).map(box);
    const alike = h("select", { id: "threshold" }, Object.entries(w.thresholds).map(([value, text]) => h("option", { value, selected: value === "0.95" }, text)));
    const go = button(w.start, "search", async () => {
      const checks = boxes.filter((one) => one.input.checked).map((one) => one.check);
      if (!checks.length) return app.toast(w.chooseOne);
      go.disabled = true;
      try {
        await app.api.startAudit({ checks, threshold: Number(alike.value) });
        close?.();
        await look();
      } catch (problem) {
        app.problem(problem);
      }
      go.disabled = false;
    }, { class: "primary", "data-first": "" });
    return h("section", { class: "audit-start" },
      close ? null : h("h2", {}, w.title), h("p", {}, w.intro(app.collection.images)),
      state.state === "failed" ? h("p", { class: "notice problem", role: "alert" }, state.job?.error ?? w.failed) : null,
      boxes.map((one) => one.element), named ? null : h("p", { class: "notice" }, w.noLabels),
      h("div", { class: "field" }, h("label", { for: "threshold" }, w.threshold), alike),
      h("p", { class: "quiet" }, w.duration(app.collection.images)), h("div", { class: "row" }, go));
  }

  function running() {
    return h("section", { class: "audit-start" }, h("h2", {}, w.running), h("p", { class: "running-title" }),
      h("progress", { "aria-label": w.running }), h("p", { class: "running-words quiet" }), h("p", { class: "quiet" }, w.runningHint));
  }

  function progress(job) {
    const bar = body.querySelector("progress");
    if (!bar || !job) return;
    if (job.done < job.total) Object.assign(bar, { max: job.total, value: job.done });
    else bar.removeAttribute("value");
    body.querySelector(".running-title").textContent = capital(job.title ?? "");
    body.querySelector(".running-words").textContent = [words.shared.progress(job.done, job.total, job.unit ?? ""),
      job.seconds_left ? words.shared.left(job.seconds_left) : null].filter(Boolean).join(" · ");
  }

  function heard(job) {
    if (job.kind !== "audit") return;
    if (job.state === "running" && shown === "running") return progress(job);
    if (job.state !== "running") shown = null; // What was found before is no longer shown.
    look();
  }

  function typed(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest?.("input, textarea, select") || !/^\p{L}$/u.test(event.key)) return;
    view?.type?.();
  }

  function undoneThere(taken) {
    if (taken?.kind !== "undo" || taken.body.of) return;
    app.toast(taken.answer.undone ? words.shared.undone(taken.answer.undone.label) : words.shared.nothingToUndo);
    view?.again?.();
  }

  document.addEventListener("keydown", typed);
  const ends = [app.events.on("job", heard), app.events.on("connected", look), outbox.on(undoneThere), notice.end,
    () => document.removeEventListener("keydown", typed)];
  look();
  return {
    update(next) { params = next; draw(); },
    unmount() { ended = true; view?.end(); ends.forEach((end) => end()); },
    get keys() {
      return view ? [...view.keys, { keys: ["U"], text: w.keys.undo, run: (event) => (event.shiftKey ? false : void desk.undo()) }] : [];
    },
  };
}
