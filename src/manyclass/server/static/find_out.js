// What was found leaves the page: as a class, as a file, as a command.

import { codeBlock, openDialog } from "./dialogs.js";
import { button, download, h } from "./dom.js";
import { classPicker } from "./typeahead.js";
import { words } from "./words.js";

const say = words.find;

/** A choice among the sets [{key, text, pictures()}] that there are. */
function setChooser(sets) {
  const select = h("select", { id: "which-set" }, sets.map((set) => h("option", { value: set.key }, set.text)));
  return { element: h("div", { class: "field" }, h("label", { for: "which-set" }, say.which), select), chosen: () => sets.find((set) => set.key === select.value) };
}

/** Name a found set; save(pictures, name) keeps it. */
export function openKeep(sets, save) {
  openDialog(say.keep, (close) => {
    const which = setChooser(sets);
    const complaint = h("p", { class: "complaint", role: "alert" });
    const go = button(say.keep, "keep", keep, { class: "primary" });
    const name = classPicker({ label: say.keepName, fresh: true, choose: (chosen) => chosen && go.focus() });
    name.input.setAttribute("data-first", "");
    async function keep() {
      if (!name.value) {
        complaint.textContent = say.keepNoName;
        return name.focus();
      }
      go.disabled = true;
      try {
        await save(await which.chosen().pictures(), name.value);
        close();
      } catch (problem) {
        complaint.textContent = problem.message;
        go.disabled = false;
      }
    }
    return [h("p", { class: "quiet" }, say.keepIntro), which.element, name.element, complaint, h("div", { class: "row end" }, button(words.shared.cancel, null, close), go)];
  });
}

const COLUMNS = ["rank", "id", "class", "label", "score", "percentile", "expected"];
// A cell that begins like a formula would be run as one by a spreadsheet.
const cell = (value) => {
  const text = String(value ?? "");
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const FORMATS = {
  json: (pictures, search) => [JSON.stringify({ search, pictures: pictures.map(({ url, number, ...rest }) => rest) }, null, 2), "application/json"],
  csv: (pictures) => [`${[COLUMNS.join(","), ...pictures.map((one) => COLUMNS.map((name) => cell(one[name])).join(","))].join("\r\n")}\r\n`, "text/csv"],
  txt: (pictures) => [pictures.map((one) => `${one.id}\n`).join(""), "text/plain"],
};

/** Files of a found set, and the same search as a command and as Python. */
export function openTake(sets, search, answer) {
  openDialog(say.take, () => {
    const which = sets.length ? setChooser(sets) : null;
    const complaint = h("p", { class: "complaint", role: "alert" });
    const give = async (kind) => {
      try {
        const [text, type] = FORMATS[kind](await which.chosen().pictures(), search);
        download(`found.${kind}`, text, type);
      } catch (problem) {
        complaint.textContent = problem.message;
      }
    };
    const files = which ? [which.element, h("div", { class: "row" }, Object.keys(FORMATS).map((kind) => button(say.files[kind], "download", () => give(kind)))), complaint] : [];
    const code = answer?.command ? [codeBlock(say.command, answer.command), codeBlock(say.python, answer.python)] : [h("p", { class: "quiet" }, say.noCode)];
    return [...files, ...code];
  }, { wide: true });
}
