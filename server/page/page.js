// The page: its parts, the key, and how the service is.

import { call, keep, key, onKeyNeeded, Trouble } from "./api.js";
import * as cards from "./cards.js";
import { $ } from "./dom.js";
import * as sessions from "./sessions.js";
import * as trying from "./try.js";

const PARTS = ["try", "cards", "sessions"];

let asking = null;

// Whether the person gave a key; one dialog for all who need it at once.
function askForKey() {
  asking ??= new Promise((done) => {
    const dialog = $("key-dialog");
    $("key").value = "";
    dialog.addEventListener("close", () => {
      asking = null;
      const given = $("key").value.trim();
      if (dialog.returnValue === "use" && given) keep(given);
      if (dialog.returnValue === "forget") keep("");
      $("key").value = "";
      label();
      done(dialog.returnValue === "use" && Boolean(given));
    }, { once: true });
    dialog.returnValue = "cancel";
    dialog.showModal();
  });
  return asking;
}

function label() {
  $("key-button").textContent = key() ? "Key ✓" : "Key";
}

async function health() {
  try {
    const { value } = await call("healthz");
    $("health").textContent = `${value.version} · ${value.workers} workers · ${value.waiting} waiting`;
  } catch {
    $("health").textContent = "not reachable";
  }
}

async function part() {
  const name = PARTS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "try";
  for (const one of PARTS) {
    $(one).hidden = one !== name;
    const link = document.querySelector(`nav a[href="#${one}"]`);
    if (one === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  sessions.stop();
  if (name === "cards") await cards.show();
  if (name === "sessions") await sessions.show();
}

async function begin() {
  $("trouble").hidden = true;
  try {
    const { value } = await call("v1/verifiers");
    trying.begin(value.verifiers);
    cards.begin(value.verifiers);
    await part();
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    $("trouble").textContent = error.status === 401
      ? "A key is needed to see anything here: press Key." : `${error.message} (${error.code})`;
    $("trouble").hidden = false;
  }
}

onKeyNeeded(askForKey);
window.addEventListener("hashchange", () => part());
$("key-button").addEventListener("click", async () => {
  await askForKey();
  await begin();
});
label();
health();
setInterval(() => { if (!document.hidden) health(); }, 5000);
begin();
