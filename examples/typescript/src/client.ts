// A typed client of a Verigym service. The routes and types come from the service's own OpenAPI document
// (`npm run generate`); this file adds errors, patience with a busy service, jobs and episodes.
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./verigym.js";

type Schemas = components["schemas"];
export type Verdict = Schemas["Verdict"];
export type Submission = Schemas["VerifyBody"];
export type Info = Schemas["Info"];
export type Service = Client<paths, "application/json">;

const MAX_ATTEMPTS = 4;

/** An error answer of the service: `code` is for programs, `where` is a path into the body. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly where: string,
  ) {
    super(message);
  }
}

/** A step or job without a result. It is not a reward of 0: try again, or leave the episode out. */
export class Fault extends Error {}

/** Return a client of the service at `url`; `key` is needed for any service that is not on this machine. */
export function connect(url: string, key?: string): Service {
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  return createClient<paths, "application/json">({ baseUrl: url, headers, fetch: fetchPatiently });
}

/** Send a request again while the service is busy (429): nothing has happened yet. */
async function fetchPatiently(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(request.clone());
    if (response.status !== 429 || attempt === MAX_ATTEMPTS) return response;
    const pauseS = Number(response.headers.get("Retry-After") ?? 1);
    await new Promise((resolve) => setTimeout(resolve, 1000 * pauseS));
  }
}

/** Return the body of an answer; throw a Refusal for any status from 400 on. */
export async function body<T>(
  call: Promise<{ data?: T; error?: Schemas["Error"]; response: Response }>,
): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  // A proxy in between answers in a form of its own, or with nothing.
  const { code, message, where } = error?.error ?? {
    code: "http_error",
    message: `HTTP ${response.status}: ${String(error ?? response.statusText)}`,
    where: "",
  };
  throw new Refusal(response.status, code, message, where);
}

/** Return the verdict on one submission. Its `score` is null if there is a fault, never 0 for one. */
export async function verify(service: Service, submission: Submission): Promise<Verdict> {
  return body(service.POST("/v1/verify", { body: submission }));
}

/** Return the verdicts on several submissions, in the same order. */
export async function verifyBatch(service: Service, items: Submission[]): Promise<Verdict[]> {
  return (await body(service.POST("/v1/verify/batch", { body: { items } }))).verdicts;
}

/** Store submissions as a job and return its id. The same `idempotencyKey` never makes a second job. */
export async function submitJob(
  service: Service,
  items: Submission[],
  idempotencyKey: string,
): Promise<string> {
  const header = { "Idempotency-Key": idempotencyKey };
  return (await body(service.POST("/v1/jobs", { params: { header }, body: { items } }))).job;
}

/** Wait for a job and return its verdicts, in the order of its items. Throws a Fault if it is cancelled. */
export async function waitForJob(service: Service, id: string): Promise<Verdict[]> {
  for (;;) {
    const params = { path: { id }, query: { wait_s: 30 } };
    const job = await body(service.GET("/v1/jobs/{id}", { params }));
    if (job.status === "cancelled") throw new Fault(`job ${id} was cancelled`);
    if (job.verdicts !== null) return job.verdicts;
  }
}

/** One play of an environment: the actions and the reward of each. */
export interface Episode {
  actions: string[];
  rewards: number[];
  lastInfo: Info;
}

/** Play one episode: `policy` gets an observation and its info and returns the text of an action. */
export async function play(
  service: Service,
  task: Schemas["CreateBody"],
  policy: (observation: string, info: Info) => string | Promise<string>,
): Promise<Episode> {
  const begun = (await body(service.POST("/v1/sessions", { body: task }))).sessions[0];
  if (begun === undefined) throw new Fault("the service began no session");
  const params = { path: { sid: begun.session } };
  const episode: Episode = { actions: [], rewards: [], lastInfo: begun.info };
  let observation = begun.observation;
  try {
    for (let seq = begun.seq + 1; ; seq++) {
      const action = await policy(observation, episode.lastInfo);
      const moved = await body(
        service.POST("/v1/sessions/{sid}/step", { params, body: { seq, action } }),
      );
      if (moved.fault) throw new Fault(`${moved.fault.status}: ${moved.fault.reason}`);
      episode.actions.push(action);
      episode.rewards.push(moved.reward!);
      episode.lastInfo = moved.info!;
      observation = moved.observation!;
      if (moved.terminated || moved.truncated) return episode;
    }
  } finally {
    await service.DELETE("/v1/sessions/{sid}", { params });
  }
}
