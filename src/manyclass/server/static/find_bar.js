// The bar over the grid: the query, the marks as chips, and every way to give a picture.

import { api } from "./api.js";
import { button, h, icon } from "./dom.js";
import { idOf, isUpload } from "./find_state.js";
import { words } from "./words.js";

const say = words.find;

/** actions: give(file, as), pasteText(text), openQuery(), clearQuery(), unmark(ref), clearAll(); pictureOf(ref) -> Picture or null. */
export function createBar({ uploads, actions, pictureOf }) {
  const hint = !uploads ? say.hintNone : window.matchMedia("(pointer: coarse)").matches ? say.hintTouch : say.hint;
  const element = h("section", { class: "bar", role: "search", "aria-label": say.search });
  const fields = { query: fileField("query"), like: fileField("like"), unlike: fileField("unlike"), camera: fileField("query", true) };
  const dropping = h("div", { class: "dropping", hidden: true });

  function fileField(as, camera = false) {
    const field = h("input", { type: "file", accept: "image/*", capture: camera ? "environment" : null, hidden: true, tabIndex: -1, "aria-label": say.pick });
    field.addEventListener("change", () => {
      if (field.files[0]) actions.give(field.files[0], as);
      field.value = "";
    });
    return field;
  }

  function thumbnail(ref, box) {
    if (isUpload(ref)) return { name: say.queryUpload, url: api.queryImage(idOf(ref)) };
    const picture = pictureOf(ref);
    const name = idOf(ref).split("/").pop();
    return { name: box ? say.part(name) : name, url: picture?.url ?? null };
  }

  const face = ({ url }) => (url ? h("img", { src: url, alt: "", draggable: "false" }) : icon("picture"));

  function queryView(state, cropUrl) {
    const shown = thumbnail(state.query, state.box);
    if (cropUrl) shown.url = cropUrl;
    return h("div", { class: "query" },
      h("button", { type: "button", class: "query-open", "aria-label": say.query(shown.name), title: say.box.title, on: { click: actions.openQuery } }, face(shown), icon("crop")),
      h("span", { class: "query-name", title: idOf(state.query) }, shown.name),
      button(say.clearQuery, "close", actions.clearQuery, { quiet: true, class: "plain" }));
  }

  function chip(ref, right) {
    const shown = thumbnail(ref);
    return h("li", { class: `chip ${right ? "right" : "wrong"}` }, face(shown), icon(right ? "plus" : "minus"), h("span", {}, shown.name),
      button(say.unmark(shown.name, right), "close", () => actions.unmark(ref), { quiet: true, class: "plain" }));
  }

  function draw(state, cropUrl) {
    const searching = state.query || state.like.length || state.unlike.length;
    const marks = [...state.like.map((ref) => chip(ref, true)), ...state.unlike.map((ref) => chip(ref, false))];
    // What had the focus keeps it though the bar is drawn anew.
    const focus = element.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") ?? "" : null;
    element.replaceChildren(...[
      state.query ? queryView(state, cropUrl) : h("p", { class: "hint" }, icon("picture"), h("span", {}, hint)),
      marks.length ? h("ul", { class: "marks", "aria-label": say.marks }, marks) : null,
      searching && uploads ? h("div", { class: "row tight" },
        button(say.addRight, "plus", () => fields.like.click(), { quiet: true, class: "round right" }),
        button(say.addWrong, "minus", () => fields.unlike.click(), { quiet: true, class: "round wrong" })) : null,
      h("div", { class: "row tight bar-end" },
        searching ? button(say.clearAll, "undo", actions.clearAll, { class: "plain" }) : null,
        uploads ? button(say.pick, "picture", () => fields.query.click(), { class: searching ? "" : "primary" }) : null,
        uploads ? button(say.camera, "camera", () => fields.camera.click(), { quiet: true, class: "camera" }) : null),
      ...Object.values(fields),
    ].filter(Boolean));
    if (focus !== null) (element.querySelector(`[aria-label="${CSS.escape(focus)}"]`) ?? element.querySelector("button"))?.focus();
    dropping.replaceChildren(...[["query", say.dropSearch, "search"], ...(searching ? [["like", say.dropRight, "plus"], ["unlike", say.dropWrong, "minus"]] : [])]
      .map(([as, text, drawing]) => h("div", { class: `drop ${as}`, data: { as } }, icon(drawing), h("span", {}, text))));
  }

  // A file may be dropped anywhere; where it is over the page, the places for it appear.
  const carriesFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  function dragged(event) {
    if (!carriesFile(event) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    dropping.hidden = false;
    const place = event.target.closest?.(".drop");
    dropping.querySelectorAll(".drop").forEach((one) => one.classList.toggle("over", one === place));
  }
  function dragEnded(event) {
    if (event.relatedTarget === null) dropping.hidden = true;
  }
  function dropped(event) {
    if (!carriesFile(event)) return;
    event.preventDefault();
    dropping.hidden = true;
    const as = event.target.closest?.(".drop")?.dataset.as ?? "query";
    if (event.dataTransfer.files[0]) actions.give(event.dataTransfer.files[0], as);
  }
  function pasted(event) {
    if (event.target.closest?.("input, textarea, select") || document.querySelector("dialog[open]")) return;
    const file = [...(event.clipboardData?.files ?? [])].find((one) => one.type.startsWith("image/"));
    const text = event.clipboardData?.getData("text/plain").trim();
    if (file) actions.give(file, "query");
    else if (text) actions.pasteText(text);
    else return;
    event.preventDefault();
  }
  const listening = { dragenter: dragged, dragover: dragged, dragleave: dragEnded, drop: dropped, paste: pasted };
  for (const [event, listener] of Object.entries(listening)) document.addEventListener(event, listener);

  return {
    element, dropping, draw,
    destroy() {
      for (const [event, listener] of Object.entries(listening)) document.removeEventListener(event, listener);
    },
  };
}
