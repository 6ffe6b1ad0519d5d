// A frame that is drawn with the mouse over a grid: all cards that it touches are selected.

import { h } from "./dom.js";

const FAR = 6; // pixels from which on a press is no click

/** dragged(): whether the click that is being told of ended a frame; end(): no more frames. */
export function frameSelection(grid) {
  const frame = h("div", { class: "selection-frame", "aria-hidden": "true" });
  let from = null, base = null, dragged = false;

  function press(event) {
    dragged = false;
    if (event.pointerType !== "mouse" || event.button !== 0 || event.shiftKey) return;
    from = { x: event.pageX, y: event.pageY };
    base = new Set(grid.selected.keys());
  }

  function move(event) {
    if (!from) return;
    if (!dragged && Math.hypot(event.pageX - from.x, event.pageY - from.y) < FAR) return;
    if (!dragged) document.body.append(frame);
    dragged = true;
    event.preventDefault();
    const [left, right] = [from.x, event.pageX].sort((a, b) => a - b), [top, bottom] = [from.y, event.pageY].sort((a, b) => a - b);
    Object.assign(frame.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
    grid.items.forEach((item, index) => {
      const box = grid.cards[index].getBoundingClientRect();
      const inside = box.left + scrollX < right && box.right + scrollX > left && box.top + scrollY < bottom && box.bottom + scrollY > top;
      if ((inside || base.has(item.id)) !== grid.selected.has(item.id)) grid.toggle(index);
    });
  }

  function release() {
    from = null;
    frame.remove();
    setTimeout(() => (dragged = false)); // The click that ends a frame is told of before.
  }

  const stop = (event) => from && event.preventDefault(); // No text is selected on the way.
  grid.element.addEventListener("pointerdown", press);
  document.addEventListener("selectstart", stop);
  document.addEventListener("pointermove", move);
  document.addEventListener("pointerup", release);
  document.addEventListener("pointercancel", release);
  return {
    dragged: () => dragged,
    end() {
      release();
      document.removeEventListener("selectstart", stop);
      document.removeEventListener("pointermove", move);
      document.removeEventListener("pointerup", release);
      document.removeEventListener("pointercancel", release);
    },
  };
}
