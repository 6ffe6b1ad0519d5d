// One picture as a card: the picture is a button; smaller buttons lie on it; words stand below.

import { button, h, icon } from "./dom.js";
import { words } from "./words.js";

/**
 * A card for a Picture.
 *
 * options: open(picture, event), hint (what a click does, read out), actions: [{name, icon, press(picture), pressed, kind}],
 * select(picture, event) or nothing, details(picture) or nothing, note (a line of words), title (more of it), tone ("faint" or ""), share (0 ... 1, a bar),
 * before (a card of the same picture, whose loaded image is taken over, so that nothing flickers).
 */
export function card(picture, options = {}) {
  const image = options.before?.querySelector(".card-open > img") ?? freshImage(picture);
  const main = h("button", {
    type: "button", class: "card-open", "aria-label": options.hint ? `${picture.name}, ${options.hint}` : null,
    on: { click: (event) => options.open?.(picture, event) },
  }, image);
  const element = h("li", { class: `card ${options.tone ?? ""}`, data: { id: picture.id } }, main);
  if (options.select) element.append(selector(picture, options));
  if (options.actions?.length) element.append(h("div", { class: "card-actions" }, options.actions.map((action) => actionButton(picture, action))));
  element.append(caption(picture, options));
  element.picture = picture;
  return element;
}

function freshImage(picture) {
  const image = h("img", { src: picture.url, alt: picture.name, loading: "lazy", decoding: "async", draggable: "false" });
  image.addEventListener("error", () => image.replaceWith(h("span", { class: "missing" }, words.shared.broken)), { once: true });
  return image;
}

function selector(picture, options) {
  return h("button", {
    type: "button", class: "on-card card-select", "aria-pressed": "false", "aria-label": `${words.shared.select}: ${picture.name}`,
    title: words.shared.select, on: { click: (event) => options.select(picture, event) },
  }, icon("check"));
}

function actionButton(picture, action) {
  return button(`${action.name}: ${picture.name}`, action.icon, () => action.press(picture), {
    quiet: true, title: action.name, class: `on-card ${action.kind ?? ""}`, "aria-pressed": action.pressed === undefined ? null : String(action.pressed),
  });
}

function caption(picture, { note, share, title, details }) {
  const named = picture.label ?? picture.class;
  const bar = h("span", { class: "meter", "aria-hidden": "true" }, h("span", {}));
  if (share !== undefined && share !== null) bar.firstChild.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return h("div", { class: "card-words" },
    details ? h("button", { type: "button", class: "card-name", title: picture.id, on: { click: () => details(picture) } },
      h("span", {}, picture.name), icon("info"), h("span", { class: "unseen" }, words.shared.details))
      : h("span", { class: "card-name", title: picture.id }, picture.name),
    named ? h("span", { class: `tag ${picture.label ? "by-hand" : ""}` }, named) : null,
    note ? h("span", { class: "card-note", title }, note) : null,
    share === undefined || share === null ? null : bar);
}
