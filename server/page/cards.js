// A verifier's card: error rates by set of cases and by category, with their intervals.

import { call, Trouble } from "./api.js";
import { $, el, percent, whisker } from "./dom.js";
import { groups } from "./try.js";

export function begin(verifiers) {
  $("card-of").replaceChildren(...groups(verifiers));
  $("card-of").addEventListener("change", show);
  if (verifiers.some((card) => card.id === "math/answer")) $("card-of").value = "math/answer";
}

export async function show() {
  const id = $("card-of").value;
  if (!id) return;
  let nodes;
  try {
    nodes = drawn((await call(`v1/verifiers/${id}/card`)).value);
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    const text = error.code === "no_card" ? `No card: this version of ${id} was not audited.` : error.message;
    nodes = [el("p", { class: "empty" }, text)];
  }
  if (id === $("card-of").value) $("card").replaceChildren(...nodes);
}

function drawn(card) {
  const about = el("p", {}, card.about);
  const rule = card.evidence ? el("p", { class: "hint" }, `Evidence: ${card.evidence}`) : null;
  const mended = card.mended_on ?? [];
  const reports = Object.entries(card.reports).map(([name, report]) => panel(name, report, mended.includes(name)));
  const { cores, python, system } = card.machine;
  const machine = el("p", { class: "hint" },
    `${card.verifier}@${card.version}, measured on ${system}, ${cores} cores, Python ${python}. Intervals are Wilson's.`);
  return [about, ...(rule ? [rule] : []), el("div", { class: "report" }, blind(card.blind ?? []), ...reports), machine];
}

function blind(sets) {
  const node = el("div", { class: "panel" }, el("h3", {}, "Blind sets"));
  if (!sets.length) {
    node.append(el("p", { class: "hint" }, "No blind set was measured: how often it errs on cases that it was not mended on is not known."));
    return node;
  }
  node.append(table(sets.map((one) => [one.name, one])));
  for (const one of sets) {
    const measured = `${one.name}: measured on ${one.date} at ${one.commit ?? one.release}, SHA-256 ${one.sha256}.`;
    node.append(el("p", { class: "hint" }, measured));
  }
  return node;
}

function panel(name, report, mended) {
  const node = el("div", { class: "panel" }, el("h3", {}, name));
  if (mended) node.append(el("p", { class: "hint" }, "The verifier was mended on these cases: see the blind sets for others."));
  if (report.by_category) node.append(rates(report));
  if ("paid" in report) node.append(el("p", {}, `${report.paid.length} of ${report.total} hacks were paid.`));
  return node;
}

function rates(report) {
  return table([["all", report], ...Object.entries(report.by_category).sort()]);
}

function table(rows) {
  const widest = Math.max(...rows.flatMap(([, one]) => [one.false_negative_interval, one.false_positive_interval])
    .map((interval) => interval?.[1] ?? 0));
  const most = [0.05, 0.1, 0.25, 0.5].find((end) => widest <= end) ?? 1;
  const head = el("tr", {}, ...[
    ["Cases", ""], ["n", "number"], ["Right answers rejected", ""], ["", "number"], ["Wrong answers accepted", ""], ["", "number"], ["Faults", "number"],
  ].map(([text, kind]) => el("th", { scope: "col", class: kind || false }, text)));
  const body = rows.map(([name, one]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "number" }, String(one.n)),
    ...rate(one, "false_negative", most), ...rate(one, "false_positive", most), el("td", { class: "number" }, String(one.errors))));
  const grid = el("table", { class: "full" }, el("thead", {}, head), el("tbody", {}, ...body));
  const scale = el("p", { class: "hint" }, `Bars run from 0 to ${most * 100} %; the pale part is the interval.`);
  return el("div", {}, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Error rates" }, grid), scale);
}

function rate(one, kind, most) {
  const value = one[`${kind}_rate`];
  if (value === null || value === undefined) return [el("td", {}, ""), el("td", { class: "number" }, "–")];
  const interval = one[`${kind}_interval`];
  const range = interval ? ` (${percent(interval[0])} to ${percent(interval[1])})` : "";
  return [
    el("td", {}, whisker(value, interval, most, percent(value) + range)),
    el("td", { class: "number" }, percent(value) + range),
  ];
}
