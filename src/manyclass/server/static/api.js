// One function for every route. What is refused is thrown as an ApiError with the server's own sentence.

import { words } from "./words.js";

export class ApiError extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

async function ask(path, { method = "GET", body, type, signal } = {}) {
  let answer;
  try {
    answer = await fetch(path, { method, body, signal, headers: type ? { "Content-Type": type } : {}, credentials: "same-origin" });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new ApiError(0, words.shared.unreachable);
  }
  const said = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : null;
  if (answer.ok) return said;
  throw new ApiError(answer.status, said?.error ?? words.shared.refused(answer.status));
}

/** "?a=1&b=2" of an object: lists repeat the key; what is empty is left out. */
export function asQuery(values = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") query.append(key, one);
    }
  }
  const text = query.toString();
  return text ? `?${text}` : "";
}

const get = (path, values, options) => ask(path + asQuery(values), options);
const post = (path, values, options) => ask(path, { method: "POST", body: JSON.stringify(values), type: "application/json", ...options });

export const api = {
  status: (options) => get("/api/status", {}, options),
  collection: (options) => get("/api/collection", {}, options),

  pictures: (values, options) => get("/api/pictures", values, options),
  picture: (number, options) => get(`/api/pictures/${number}`, {}, options),
  thumbnail: (number, size = 224) => `/api/pictures/${number}/thumbnail?size=${size}`,
  image: (number, size = 1200) => `/api/pictures/${number}/image?size=${size}`,
  classes: (text, count = 50, options) => get("/api/classes", { text, count }, options),

  upload: (blob, options) => ask("/api/queries", { method: "POST", body: blob, type: blob.type || "application/octet-stream", ...options }),
  crop: (of, box, options) => post("/api/queries/crop", { of, box }, options),
  forget: (token) => ask(`/api/queries/${encodeURIComponent(token)}`, { method: "DELETE" }),
  queryImage: (token) => `/api/queries/${encodeURIComponent(token)}/image`,
  search: (values, options) => post("/api/search", values, options),

  label: (values) => post("/api/labels", values),
  undo: (who, event = null) => post("/api/labels/undo", { who, event }),
  labels: (values, options) => get("/api/labels", values, options),
  labeling: (options) => get("/api/labeling", {}, options),
  next: (values, options) => get("/api/labeling/next", values, options),
  proposals: (id, options) => get("/api/labeling/proposals", { id }, options),

  startAudit: (values) => post("/api/audit", values),
  audit: (options) => get("/api/audit", {}, options),
  suspects: (values, options) => get("/api/audit/labels", values, options),
  duplicates: (values, options) => get("/api/audit/duplicates", values, options),
  outliers: (values, options) => get("/api/audit/outliers", values, options),
  decide: (values) => post("/api/audit/decisions", values),

  exportAddress: (name, values) => `/api/export/${name}${asQuery(values)}`,
  steps: (tab, options) => get("/api/export/steps", { tab }, options),
};

/** Server-sent events: on("job" | "labeling" | "status", listener) gives a function that ends it. */
export function listen() {
  const listeners = new Map();
  let source = null;
  const open = () => {
    source = new EventSource("/api/events");
    for (const kind of listeners.keys()) source.addEventListener(kind, hear);
    source.onopen = () => tell("connected", null);
    source.onerror = () => tell("lost", null);
  };
  const tell = (kind, data) => listeners.get(kind)?.forEach((listener) => listener(data));
  const hear = (event) => tell(event.type, JSON.parse(event.data));
  // A browser keeps six connections to a server at most: pages that nobody looks at give theirs back.
  document.addEventListener("visibilitychange", () => {
    source?.close();
    if (document.hidden) source = null;
    else open();
  });
  open();
  return {
    on(kind, listener) {
      if (!listeners.has(kind)) {
        listeners.set(kind, new Set());
        source?.addEventListener(kind, hear);
      }
      listeners.get(kind).add(listener);
      return () => listeners.get(kind).delete(listener);
    },
  };
}
