// Elements without markup: text is always text, so that no name of a file can become a tag.

const SVG = "http://www.w3.org/2000/svg";

// Strokes on a square of 24, drawn for this page.
const ICONS = {
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  check: "M5 12.5l4.5 4.5L19 7.5",
  info: "M12 11v6M12 7.2v.1M21 12a9 9 0 1 1-18 0a9 9 0 1 1 18 0",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  camera: "M4 8h3.5L9 5h6l1.5 3H20v11H4zM15.5 13a3.5 3.5 0 1 1-7 0a3.5 3.5 0 1 1 7 0",
  picture: "M4 5h16v14H4zM4 16l5-5 4 4 2.5-2.5L20 17M15.5 9.2v.1",
  search: "M16 10.5a5.5 5.5 0 1 1-11 0a5.5 5.5 0 1 1 11 0M14.8 14.8L20 20",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  help: "M9.2 9.2a2.9 2.9 0 1 1 4.3 2.5c-1 .6-1.5 1.2-1.5 2.3M12 17.2v.1M21 12a9 9 0 1 1-18 0a9 9 0 1 1 18 0",
  undo: "M8 5L4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11h-4",
  download: "M12 4v11M7.5 10.5L12 15l4.5-4.5M5 20h14",
  crop: "M7 3v14h14M3 7h14v14",
  shuffle: "M4 7h3.5c4.5 0 4.5 10 9 10H20M4 17h3.5c1.6 0 2.6-1.2 3.4-2.7M13.2 9.4C14 8 15 7 16.5 7H20M17.5 4.5L20 7l-2.5 2.5M17.5 14.5L20 17l-2.5 2.5",
  tag: "M4 4h8l8 8-8 8-8-8zM8.5 8.5v.1",
  person: "M15.5 8.5a3.5 3.5 0 1 1-7 0a3.5 3.5 0 1 1 7 0M5 20c.6-4 3.4-6 7-6s6.4 2 7 6",
  filter: "M4 6h16M7 12h10M10 18h4",
  keep: "M6 4h12v16l-6-4.5L6 20z",
  back: "M15 5l-7 7 7 7",
  forth: "M9 5l7 7-7 7",
  grid: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  apart: "M5 5h14v14H5zM9 9l6 6M15 9l-6 6",
};

/** An element: h("button", {class: "chip", on: {click}, "aria-label": "..."}, "text", child). */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function icon(name) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  drawing.setAttribute("class", "icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  drawing.append(path);
  return drawing;
}

/** A button with a drawing and a name; the name is shown, or only read out where `quiet`. */
export function button(name, drawing, press, { quiet = false, ...properties } = {}) {
  const naming = quiet ? { "aria-label": name, title: name } : {};
  return h("button", { type: "button", on: { click: press }, ...naming, ...properties },
    drawing ? icon(drawing) : null, quiet ? null : h("span", {}, name));
}

/** Copy text; true where it worked (an address that is not loopback and not https has no clipboard). */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = h("textarea", { readOnly: true, class: "unseen" });
    field.value = text;
    (document.querySelector("dialog[open]") ?? document.body).append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    return copied;
  }
}

/** Hand a file that was made here to the person. */
export function download(name, text, type = "text/plain") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Call a function once things are quiet for some milliseconds. */
export function later(run, wait = 150) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), wait);
  };
}
