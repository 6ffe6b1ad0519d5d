"use strict";
// Tables can be sorted by a click on a head, long ones searched, and pictures enlarged; without this script all is read
// as it is.
const value = (row, column) => {
  const cell = row.cells[column];
  return cell.classList.contains("n") ? Number(cell.dataset.value ?? NaN) : cell.textContent;
};
const compare = (a, b) => {
  if (typeof a === "string") return a.localeCompare(b);
  return (isNaN(a) ? 1 : 0) - (isNaN(b) ? 1 : 0) || a - b;
};
const sort = (head) => {
  const body = head.closest("table").tBodies[0];
  const numeric = head.classList.contains("n");
  const now = head.getAttribute("aria-sort");
  const up = now ? now === "descending" : !numeric;
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const rows = [...body.rows].sort((a, b) => {
    const x = value(a, head.cellIndex), y = value(b, head.cellIndex);
    const unknown = numeric && (isNaN(x) || isNaN(y));
    return (up || unknown ? 1 : -1) * compare(x, y);
  });
  body.append(...rows);
};
for (const head of document.querySelectorAll("table.sortable thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  button.addEventListener("click", () => sort(head));
  head.append(button);
}
for (const table of document.querySelectorAll("table.searched")) {
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "find a class";
  field.setAttribute("aria-label", "find a class");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase();
    for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(words);
  });
  table.parentNode.before(field);
}
const viewer = document.createElement("dialog");
viewer.addEventListener("click", () => viewer.close());
document.body.append(viewer);
for (const picture of document.querySelectorAll(".strip img")) {
  picture.tabIndex = 0;
  picture.setAttribute("role", "button");
  const enlarge = () => {
    const large = new Image(), caption = document.createElement("p");
    large.src = picture.src;
    large.alt = caption.textContent = picture.alt;
    viewer.replaceChildren(large, caption);
    viewer.showModal();
  };
  picture.addEventListener("click", enlarge);
  picture.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    enlarge();
  });
}
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
