// Asks the service, with the key of this tab where there is one.

const KEY = "verigym-key";
export const key = () => sessionStorage.getItem(KEY) || "";
export const keep = (text) => (text ? sessionStorage.setItem(KEY, text) : sessionStorage.removeItem(KEY));

// A refusal, or a service that cannot be reached (status 0).
export class Trouble extends Error {
  constructor(status, code, message, where = "") {
    super(message);
    Object.assign(this, { status, code, where });
  }
}

let askForKey = async () => false;
export const onKeyNeeded = (ask) => { askForKey = ask; };

// Paths are relative, so that the page works behind a proxy that adds a prefix.
export async function call(path, body = undefined) {
  for (;;) {
    const headers = {};
    if (key()) headers.Authorization = `Bearer ${key()}`;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const began = performance.now();
    let answer;
    try {
      answer = await fetch(path, {
        method: body === undefined ? "GET" : "POST", headers, cache: "no-store",
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    } catch {
      throw new Trouble(0, "unreachable", "The service cannot be reached.");
    }
    const value = await answer.json().catch(() => null);
    const ms = performance.now() - began;
    if (answer.ok) return { value, ms, id: answer.headers.get("X-Request-ID") };
    if (answer.status === 401 && (await askForKey())) continue;
    const error = value?.error ?? { code: `http_${answer.status}`, message: answer.statusText };
    throw new Trouble(answer.status, error.code, error.message, error.where);
  }
}
