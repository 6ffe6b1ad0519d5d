// How often the first proposal is right, against the number of labels, with its interval: one drawing of lines.

import { count, words } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [340, 170, 38, 12, 10, 26];

function s(tag, properties, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Some round numbers from 0, or from the one below `low`, to the one above `high`. */
export function ticks(low, high, most = 5) {
  const rough = (high - low) / (most - 1) || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough - 1e-12);
  const first = Math.floor(low / step), last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, place) => Number(((first + place) * step).toPrecision(12)));
}

/** A drawing of points {labels, accuracy, low, high}; null for fewer than two. */
export function drawCurve(points) {
  if (points.length < 2) return null;
  const across = ticks(0, Math.max(...points.map((one) => one.labels)), 5).filter(Number.isInteger);
  const up = ticks(Math.min(...points.map((one) => one.low)), Math.max(...points.map((one) => one.high)), 4).filter((one) => one >= 0 && one <= 1);
  const x = (labels) => LEFT + (labels / across.at(-1)) * (WIDTH - LEFT - RIGHT);
  const y = (share) => HEIGHT - BOTTOM - ((share - up[0]) / (up.at(-1) - up[0])) * (HEIGHT - TOP - BOTTOM);
  const at = (one, share) => `${x(one.labels).toFixed(1)},${y(share).toFixed(1)}`;
  const last = points.at(-1);
  const band = [...points.map((one) => at(one, one.high)), ...points.toReversed().map((one) => at(one, one.low))].join(" ");
  return s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "curve", role: "img", "aria-label": words.label.curveWords(points[0], last) },
    ...up.map((share) => s("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(share), y2: y(share), class: "rule" })),
    ...up.map((share) => text(`${Number((share * 100).toFixed(1))}%`, LEFT - 6, y(share) + 3.5, "end")),
    ...across.map((labels) => text(count(labels), x(labels), HEIGHT - BOTTOM + 16, labels === across.at(-1) ? "end" : "middle")),
    s("polygon", { points: band, class: "band" }),
    s("polyline", { points: points.map((one) => at(one, one.accuracy)).join(" "), class: "stroke" }),
    s("circle", { cx: x(last.labels), cy: y(last.accuracy), r: 3.5, class: "dot" }));
}

function text(words, x, y, anchor) {
  return s("text", { x, y, "text-anchor": anchor, "aria-hidden": "true" }, words);
}
