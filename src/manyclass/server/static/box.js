// A picture large, with a box on it whose inside is searched.

import { openDialog } from "./dialogs.js";
import { button, h } from "./dom.js";
import { words } from "./words.js";

const say = words.find.box;
const STEP = 0.02;
const LEAST = 0.03; // A side of a box; less is a slip of the hand.
const within = (value, low = 0, high = 1) => Math.max(low, Math.min(high, value));

/** Opens the view; done(box) with [x0, y0, x1, y1] in fractions, or done(null) for the whole picture. */
export function openBox({ url, name, box = null, done }) {
  let held = null; // How the pointer holds the box: {kind, x, y, box}
  const image = h("img", { src: url, alt: name, draggable: "false" });
  const frame = h("div", { class: "box", hidden: true }, ["nw", "ne", "sw", "se"].map((corner) => h("i", { class: `corner ${corner}`, data: { corner } })));
  const stage = h("div", { class: "easel", tabIndex: 0, role: "application", "aria-label": say.name, "aria-describedby": "box-place", "data-first": "" }, image, frame);
  const place = h("p", { id: "box-place", class: "quiet", role: "status" });
  const go = button(say.search, "search", () => finish(box), { class: "primary" });
  const whole = button(say.whole, "picture", () => finish(null));

  function finish(chosen) {
    close();
    done(chosen);
  }

  function draw() {
    frame.hidden = go.disabled = box === null;
    place.textContent = say.none;
    if (box === null) return;
    const [x0, y0, x1, y1] = box.map((side) => Math.round(side * 1000) / 10);
    Object.assign(frame.style, { left: `${x0}%`, top: `${y0}%`, width: `${x1 - x0}%`, height: `${y1 - y0}%` });
    place.textContent = say.place(Math.round(x0), Math.round(y0), Math.round(x1 - x0), Math.round(y1 - y0));
  }

  function moved([x0, y0, x1, y1], dx, dy) {
    const x = within(dx, -x0, 1 - x1), y = within(dy, -y0, 1 - y1);
    return [x0 + x, y0 + y, x1 + x, y1 + y];
  }

  function at(event) {
    const area = image.getBoundingClientRect();
    return [within((event.clientX - area.left) / area.width), within((event.clientY - area.top) / area.height)];
  }

  stage.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    event.preventDefault();
    stage.focus();
    stage.setPointerCapture(event.pointerId);
    const [x, y] = at(event), corner = event.target.dataset.corner;
    if (corner) held = { kind: "draw", x: box[corner.endsWith("w") ? 2 : 0], y: box[corner.startsWith("n") ? 3 : 1] };
    else if (box && event.target === frame) held = { kind: "move", x, y, box };
    else held = { kind: "draw", x, y };
  });
  stage.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [x, y] = at(event);
    if (held.kind === "move") box = moved(held.box, x - held.x, y - held.y);
    else box = [Math.min(x, held.x), Math.min(y, held.y), Math.max(x, held.x), Math.max(y, held.y)];
    draw();
  });
  stage.addEventListener("pointerup", () => {
    if (held && box && (box[2] - box[0] < LEAST || box[3] - box[1] < LEAST)) box = null;
    held = null;
    draw();
  });
  stage.addEventListener("pointercancel", () => (held = null));
  stage.addEventListener("keydown", (event) => {
    const [dx, dy] = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[event.key] ?? [0, 0];
    if (event.key === "Enter" && box) finish(box);
    else if (!dx && !dy) return;
    else if (box === null) box = [0.25, 0.25, 0.75, 0.75];
    else if (event.shiftKey) box = [box[0], box[1], within(box[2] + dx, box[0] + LEAST), within(box[3] + dy, box[1] + LEAST)];
    else box = moved(box, dx, dy);
    event.preventDefault();
    draw();
  });

  const { close } = openDialog(say.title, () => [h("p", { class: "quiet" }, say.intro), h("div", { class: "easel-frame" }, stage), place, h("div", { class: "row end" }, whole, go)], { wide: true });
  draw();
}
