// Elements by function; texts are always texts, never HTML.

export const $ = (id) => document.getElementById(id);

export function el(name, attributes = {}, ...children) {
  const space = ["svg", "rect", "title"].includes(name) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
  const node = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    if (key in node && typeof value !== "string") node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const number = (value, digits = 3) => value === null || value === undefined ? "–" : String(+value.toFixed(digits));
export const percent = (value) => value === null || value === undefined ? "–"
  : value === 0 ? "0 %" : `${(value * 100).toPrecision(value < 0.01 ? 1 : 3).replace(/\.?0+$/, "")} %`;

// A share of 0 to 1 as a bar.
export function bar(value, label) {
  const node = el("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": label });
  node.append(el("rect", { class: "track", width: "100", height: "10", rx: "2" }));
  node.append(el("rect", { class: "value", width: String(Math.max(0, Math.min(1, value)) * 100), height: "10", rx: "2" }));
  return node;
}

// A rate with its interval, on a scale that ends at `most`.
export function whisker(rate, interval, most, label) {
  const at = (value) => String(Math.min(1, value / most) * 100);
  const node = el("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": label });
  node.append(el("rect", { class: "track", y: "4", width: "100", height: "2" }));
  if (interval) {
    const [low, high] = interval;
    node.append(el("rect", { class: "whisker", x: at(low), y: "2", width: String(Math.max(0.6, at(high) - at(low))), height: "6" }));
  }
  node.append(el("rect", { class: "point", x: String(Math.max(0, at(rate) - 0.5)), width: "1.2", height: "10" }));
  return node;
}
