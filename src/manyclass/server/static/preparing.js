// What stands on the page while the server prepares a collection: how far, how fast, how long still.

import { h } from "./dom.js";
import { capital, words } from "./words.js";

const PAUSE = 2000; // Between questions, should no event arrive.

/** Resolves when the server is ready; where it failed its sentence stays on the page and this never resolves. */
export function showPreparation(page, app) {
  return new Promise((resolve) => {
    let timer = 0, ended = false;
    const off = app.events.on("job", (job) => !ended && job.kind === "prepare" && draw(job));
    const offStatus = app.events.on("status", () => look());

    async function look() {
      clearTimeout(timer);
      if (ended) return;
      try {
        const said = await app.api.status();
        if (ended) return;
        if (said.state === "ready") return end(resolve);
        if (said.state === "failed") return end(() => fail(said.error));
        draw(said.jobs.find((job) => job.kind === "prepare") ?? null);
      } catch (trouble) {
        fail(trouble.message);
      }
      timer = setTimeout(look, PAUSE);
    }

    function end(then) {
      ended = true;
      off();
      offStatus();
      then();
    }

    function fail(sentence) {
      page.replaceChildren(h("section", { class: "prepare" }, h("h1", {}, words.shared.failed), h("p", { role: "alert", class: "notice problem" }, sentence)));
    }

    function draw(job) {
      const view = page.querySelector(".prepare.running") ?? frame();
      const unit = job?.unit ?? "", more = job && job.done < (job.total || Infinity);
      const bar = view.querySelector("progress");
      if (job?.total && more) Object.assign(bar, { max: job.total, value: job.done });
      else bar.removeAttribute("value"); // What comes next is not counted.
      const parts = job ? [words.shared.progress(job.done, job.total, unit), more && job.rate ? words.shared.rate(job.rate, unit) : null,
        more && Number.isFinite(job.seconds_left) ? words.shared.left(job.seconds_left) : null] : [words.shared.loading];
      view.querySelector(".prepare-title").textContent = capital(job?.title ?? "");
      view.querySelector(".prepare-words").textContent = parts.filter(Boolean).join(" · ");
    }

    function frame() {
      const view = h("section", { class: "prepare running" },
        h("h1", {}, words.shared.preparing), h("p", { class: "prepare-title" }),
        h("progress", { "aria-label": words.shared.preparing }), h("p", { class: "prepare-words", role: "status" }),
        h("p", { class: "quiet" }, words.shared.preparingIntro));
      page.replaceChildren(view);
      return view;
    }

    look();
  });
}
