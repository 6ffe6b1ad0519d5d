// The routes of the server, drawn from the description that it gives of itself.

function element(tag, text, ...children) {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

const described = await (await fetch("/api/openapi.json")).json();

/** A schema in words: what it is called, or what it holds. */
function words(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map(words).join(" or ");
  if (schema.type === "array") return `list of ${words(schema.items) || "values"}`;
  if (schema.enum) return schema.enum.join(", ");
  if (schema.const !== undefined) return String(schema.const);
  return schema.type ?? "";
}

function table(rows) {
  const body = rows.map(([name, kind, about]) => {
    const head = element("th");
    head.scope = "row";
    head.append(element("code", name));
    return element("tr", "", head, element("td", kind), element("td", about));
  });
  return element("table", "", element("tbody", "", ...body));
}

function route(path, method, about) {
  const part = element("section", "", element("h2", `${method.toUpperCase()} ${path}`));
  if (about.description) part.append(element("p", about.description));
  const parameters = (about.parameters ?? []).map((one) => [
    one.name, `${words(one.schema)}${one.schema?.default !== undefined ? `, by default ${JSON.stringify(one.schema.default)}` : ""}`, one.description ?? "",
  ]);
  if (parameters.length) part.append(table(parameters));
  for (const [type, body] of Object.entries(about.requestBody?.content ?? {})) part.append(element("p", `takes ${type}: ${words(body.schema)}`));
  const given = Object.entries(about.responses?.["200"]?.content ?? {}).map(([type, body]) => `${type} ${words(body.schema)}`.trim());
  if (given.length) part.append(element("p", `gives ${given.join(" or ")}`));
  return part;
}

const main = document.getElementById("routes");
for (const [path, methods] of Object.entries(described.paths)) {
  for (const [method, about] of Object.entries(methods)) main.append(route(path, method, about));
}
main.append(element("h1", "Shapes"));
for (const [name, shape] of Object.entries(described.components?.schemas ?? {})) {
  const rows = Object.entries(shape.properties ?? {}).map(([key, one]) => [key, words(one), one.description ?? ""]);
  main.append(element("section", "", element("h2", name), element("p", shape.description ?? ""), table(rows)));
}
