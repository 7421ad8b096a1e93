// The sessions of environments that belong to this key.

import { call, Trouble } from "./api.js";
import { $, el } from "./dom.js";

const EVERY_MS = 5000;
let timer = 0;

export function stop() {
  clearInterval(timer);
}

export async function show() {
  stop();
  timer = setInterval(() => { if (!document.hidden) refresh(); }, EVERY_MS);
  await refresh();
}

async function refresh() {
  let nodes;
  try {
    nodes = drawn((await call("v1/sessions")).value.sessions);
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    const text = error.status === 404 ? "This service serves no environments, or not to this key." : error.message;
    nodes = [el("p", { class: "empty" }, text)];
  }
  $("session-list").replaceChildren(...nodes);
}

function drawn(sessions) {
  if (!sessions.length) return [el("p", { class: "empty" }, "No session is open.")];
  const names = ["Environment", "Task", "Turn", "State", "Lease left", "Session"];
  const head = el("tr", {}, ...names.map((name) => el("th", { scope: "col" }, name)));
  const rows = sessions.map((one) => el("tr", {},
    el("th", { scope: "row" }, one.env), el("td", {}, one.task_id), el("td", { class: "number" }, String(one.turn)),
    el("td", {}, el("span", { class: "tag" }, state(one))), el("td", { class: "number" }, `${Math.round(one.lease_s)} s`),
    el("td", {}, el("code", {}, one.session))));
  return [el("div", { class: "panel scroll", tabindex: "0", role: "region", "aria-label": "Sessions" },
    el("table", { class: "full" }, el("thead", {}, head), el("tbody", {}, ...rows)))];
}

function state(one) {
  if (one.terminated) return "terminated";
  if (one.truncated) return "truncated";
  return one.busy ? "busy" : "open";
}

$("refresh").addEventListener("click", () => refresh());
