// A form made from the JSON Schema of a verifier's parameters.

import { el } from "./dom.js";

// What can be told of a control's value: undefined is "as by default".
export class Params {
  constructor(schema, values) {
    this.fields = Object.entries(schema.properties ?? {}).map(([name, about]) => field(name, about, values[name]));
    this.nodes = this.fields.map((one) => one.node);
  }

  // The parameters that differ from their defaults; null where one cannot be read.
  read() {
    const found = {};
    let good = true;
    for (const one of this.fields) {
      let value;
      try {
        value = one.read();
        one.say("");
      } catch (error) {
        one.say(error.message);
        good = false;
        continue;
      }
      if (JSON.stringify(value) !== JSON.stringify(one.start)) found[one.name] = value;
    }
    return good ? found : null;
  }

  write(values) {
    for (const one of this.fields) one.write(one.name in values ? values[one.name] : one.start);
  }
}

function field(name, about, start) {
  const id = `param-${name}`;
  const error = el("p", { class: "error", id: `${id}-error`, role: "alert" });
  const described = { "aria-describedby": `${id}-hint ${id}-error` };
  const [control, read, write] = make(id, about, start, described);
  const label = el("label", { for: id }, name);
  const hint = el("p", { class: "hint", id: `${id}-hint` }, about.description ?? "");
  const parts = control.type === "checkbox"
    ? [el("div", { class: "check" }, control, label), hint, error]
    : [label, control, hint, error];
  const say = (text) => {
    error.textContent = text;
    control.setAttribute("aria-invalid", String(Boolean(text)));
  };
  write(start);
  return { name, start, read, write, say, node: el("div", { class: "field" }, ...parts) };
}

function make(id, about, start, described) {
  if (about.enum) {
    const options = about.enum.map((value, i) => el("option", { value: String(i) }, String(value)));
    const control = el("select", { id, ...described }, ...options);
    return [control, () => about.enum[+control.value], (value) => { control.value = String(about.enum.indexOf(value)); }];
  }
  if (about.type === "boolean") {
    const control = el("input", { id, type: "checkbox", ...described });
    return [control, () => control.checked, (value) => { control.checked = Boolean(value); }];
  }
  if (about.type === "integer" || about.type === "number") {
    const control = el("input", { id, inputmode: "decimal", autocomplete: "off", ...described });
    const read = () => {
      const value = Number(control.value);
      if (!control.value.trim() || !Number.isFinite(value)) throw new Error("A number is needed.");
      if (about.type === "integer" && !Number.isInteger(value)) throw new Error("A whole number is needed.");
      return value;
    };
    return [control, read, (value) => { control.value = String(value ?? ""); }];
  }
  if (about.type === "string") {
    const control = el("input", { id, type: "text", autocomplete: "off", ...described });
    return [control, () => control.value, (value) => { control.value = value ?? ""; }];
  }
  const control = el("textarea", { id, class: "code", rows: "4", spellcheck: "false", ...described });
  return [control, () => readJson(control.value), (value) => { control.value = pretty(value ?? start); }];
}

// JSON for people: what fits on a line stays on one.
export function pretty(value, indent = "", taken = 0) {
  const flat = JSON.stringify(value);
  if (flat === undefined || flat.length + indent.length + taken <= 54 || value === null || typeof value !== "object") return flat;
  const deeper = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((one) => deeper + pretty(one, deeper))
    : Object.entries(value).map(([key, one]) => `${deeper}${JSON.stringify(key)}: ${pretty(one, deeper, key.length + 4)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

export function readJson(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`Not JSON: ${error.message}`);
  }
}
