// The form: a verifier, a task and a submission; and the verdict on it.

import { call } from "./api.js";
import { $, bar, el, number } from "./dom.js";
import { Params, pretty, readJson } from "./form.js";

let cards = [];
let params = new Params({}, {});
let examples = [];

export function begin(verifiers) {
  cards = verifiers;
  $("verifier").replaceChildren(...groups(verifiers));
  if (!verifiers.length) {
    $("about").textContent = "This service serves no verifiers.";
    return;
  }
  const first = verifiers.find((card) => card.id === "math/answer") ?? verifiers[0];
  $("verifier").value = first.id;
  choose();
}

// Options by family.
export function groups(verifiers) {
  const families = Map.groupBy ? Map.groupBy(verifiers, (card) => card.id.split("/")[0]) : byFamily(verifiers);
  return [...families].map(([family, some]) =>
    el("optgroup", { label: family }, ...some.map((card) => el("option", { value: card.id }, card.id))));
}

function byFamily(verifiers) {
  const families = new Map();
  for (const card of verifiers) {
    const family = card.id.split("/")[0];
    families.set(family, [...(families.get(family) ?? []), card]);
  }
  return families;
}

async function choose() {
  const card = cards.find((one) => one.id === $("verifier").value);
  $("about").textContent = card.about;
  params = new Params(card.schema ?? {}, card.params ?? {});
  $("params").replaceChildren(...params.nodes);
  $("params-details").hidden = !params.nodes.length;
  $("params-count").textContent = `${params.nodes.length}, by default`;
  $("params-details").open = false;
  const { value } = await call(`v1/verifiers/${card.id}/examples`);
  if (card.id !== $("verifier").value) return; // another was chosen meanwhile
  examples = value.examples;
  $("example-field").hidden = !examples.length;
  $("example").replaceChildren(...examples.map((one, i) =>
    el("option", { value: String(i) }, `${one.label ? "right" : "wrong"}: ${one.name}`)));
  fill(examples[0] ?? { task: { prompt: "", reference: null }, submission: "", params: {} });
}

function fill(example) {
  $("prompt").value = example.task.prompt ?? "";
  $("reference").value = pretty(example.task.reference ?? null);
  $("as-json").checked = typeof example.submission !== "string";
  $("submission").value = $("as-json").checked ? pretty(example.submission) : example.submission;
  params.write(example.params);
  const given = Object.keys(example.params).length;
  if (given) $("params-count").textContent = `${params.nodes.length}, ${given} given`;
  for (const id of ["reference", "submission"]) fault(id, "");
}

function fault(id, text) {
  $(`${id}-error`).textContent = text;
  $(id).setAttribute("aria-invalid", String(Boolean(text)));
}

function json(id) {
  try {
    fault(id, "");
    return readJson($(id).value);
  } catch (error) {
    fault(id, error.message);
    return undefined;
  }
}

function request() {
  const reference = json("reference");
  const submission = $("as-json").checked ? json("submission") : $("submission").value;
  if (!$("as-json").checked) fault("submission", "");
  const given = params.read();
  if (reference === undefined || submission === undefined || given === null) {
    if (given === null) $("params-details").open = true;
    document.querySelector("#ask [aria-invalid=true]")?.focus();
    return null;
  }
  const task = { id: "page", env_id: "page", seed: 0, difficulty: "", prompt: $("prompt").value, reference };
  return { verifier: $("verifier").value, task, submission, params: given };
}

async function judge(event) {
  event?.preventDefault();
  const body = request();
  if (!body) return;
  $("judge").disabled = true;
  $("judge").textContent = "Judging…";
  try {
    const { value, ms, id } = await call("v1/verify", body);
    $("verdict").replaceChildren(...shown(value, ms, id));
  } catch (error) {
    $("verdict").replaceChildren(...refused(error));
  } finally {
    $("judge").disabled = false;
    $("judge").textContent = "Judge";
  }
  $("curl-details").hidden = false;
  $("curl").textContent = curl(body);
}

const MEANING = {
  ok: "judged", policy_fault: "the submission cannot be used",
  verifier_error: "the verifier failed: no score", timeout: "no verdict in time: no score",
  infra: "the machinery failed: no score", cancelled: "cancelled: no score",
};

function shown(verdict, ms, id) {
  const kind = verdict.score === null ? "fault" : verdict.score >= 0.5 ? "good" : "bad";
  const words = el("div", {}, el("span", { class: "reason" }, verdict.reason.replaceAll("_", " ")),
    el("small", {}, `${verdict.status}: ${MEANING[verdict.status] ?? ""}`));
  const parts = Object.entries(verdict.parts ?? {});
  const weights = cards.find((card) => verdict.verifier.startsWith(`${card.id}@`))?.weights ?? {};
  const table = parts.length ? el("table", { class: "parts" }, el("tbody", {}, ...parts.map(([name, value]) =>
    el("tr", {}, el("td", {}, name + (name in weights ? ` (weight ${number(weights[name])})` : "")),
      el("td", { class: "number" }, number(value)), el("td", {}, bar(value, `${name}: ${number(value)}`)))))) : null;
  return [
    el("div", { class: `outcome ${kind}` }, el("b", { id: "score" }, verdict.score === null ? "–" : number(verdict.score)), words),
    list([
      ["Evidence", verdict.evidence ? el("pre", { id: "evidence" }, verdict.evidence) : null],
      ["Parts", table],
      ["Verifier", el("code", {}, verdict.verifier)],
      ["Time", `${ms.toFixed(1)} ms, there and back`],
      ["Digest", el("code", {}, verdict.digest)],
      ["Request", id ? el("code", {}, id) : null],
    ]),
  ];
}

function refused(error) {
  const words = el("div", {}, el("span", { class: "reason" }, error.code), el("small", {}, "refused: nothing was judged"));
  return [
    el("div", { class: "outcome fault" }, el("b", { id: "score" }, error.status ? String(error.status) : "!"), words),
    list([["Message", error.message], ["Where", error.where ? el("code", {}, error.where) : null]]),
  ];
}

function list(rows) {
  const kept = rows.filter(([, value]) => value !== null);
  return el("dl", {}, ...kept.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function curl(body) {
  const url = new URL("v1/verify", document.baseURI);
  const data = pretty(body).replaceAll("'", "'\\''");
  const key = sessionStorage.length ? ` \\\n  -H "Authorization: Bearer $KEY"` : "";
  return `curl -s ${url} -H 'Content-Type: application/json'${key} -d '${data}'`;
}

$("verifier").addEventListener("change", () => choose());
$("example").addEventListener("change", () => fill(examples[+$("example").value]));
$("ask").addEventListener("submit", judge);
$("ask").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) judge(event);
});
