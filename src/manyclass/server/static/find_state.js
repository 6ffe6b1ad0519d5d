// What is being looked for, as the address holds it: #/find?q=id:a.png&like=id:b.png&unlike=up:TOKEN&world=own&class=cat

const FILTERS = ["class", "folder", "text", "label"];

/** References are texts: "id:NAME" is a picture of the collection, "up:TOKEN" one that was uploaded. */
export const refOf = (picture) => `id:${picture.id}`;
export const uploadRef = (token) => `up:${token}`;
export const isUpload = (ref) => ref.startsWith("up:");
export const idOf = (ref) => ref.slice(3);
export const asRef = (ref) => (isUpload(ref) ? { query: idOf(ref) } : { id: idOf(ref) });

export function readState(params) {
  const refs = (name) => [...new Set(params.getAll(name))].filter((ref) => /^(id|up):./s.test(ref));
  const box = (params.get("box") ?? "").split(",").map(Number);
  const proper = box.length === 4 && box.every((side) => side >= 0 && side <= 1) && box[0] < box[2] && box[1] < box[3];
  const query = refs("q")[0] ?? null;
  const like = refs("like").filter((ref) => ref !== query);
  return {
    query, box: query && proper ? box : null, like, unlike: refs("unlike").filter((ref) => ref !== query && !like.includes(ref)),
    world: params.get("world") ?? "", all: params.get("all") === "1", seed: params.get("seed") ?? "",
    where: Object.fromEntries(FILTERS.map((name) => [name, params.get(name) ?? ""])),
  };
}

export function writeState(state) {
  return {
    q: state.query, box: state.box?.map((side) => side.toFixed(4)).join(","), like: state.like, unlike: state.unlike,
    world: state.world, all: state.all ? "1" : "", seed: state.seed, ...state.where,
  };
}

export const isSearch = (state) => state.query !== null || state.like.length > 0;
export const isFiltered = (state) => Object.values(state.where).some(Boolean);
export const markOf = (state, ref) => (state.like.includes(ref) ? "right" : state.unlike.includes(ref) ? "wrong" : "");

/** The state after a press of + ("right") or - ("wrong"): a second press is neutral. */
export function withMark(state, ref, mark) {
  const before = markOf(state, ref);
  const without = (refs) => refs.filter((one) => one !== ref);
  const next = { ...state, like: without(state.like), unlike: without(state.unlike) };
  if (before !== mark && mark === "right") next.like = [...next.like, ref];
  if (before !== mark && mark === "wrong") next.unlike = [...next.unlike, ref];
  return next;
}

/** A new search with one picture: marks belong to the old one, filters and world stay. */
export const searchFor = (state, ref) => ({ ...state, query: ref, box: null, like: [], unlike: [] });

export const startOver = (state) => ({ ...state, query: null, box: null, like: [], unlike: [], world: "", seed: "", where: {} });
