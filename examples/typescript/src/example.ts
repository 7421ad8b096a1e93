// Every common call, in the order in which a trainer meets them.
import { body, connect, play, Refusal, submitJob, verify, verifyBatch, waitForJob } from "./client.js";

const url = process.env["VERIGYM_URL"] ?? "http://127.0.0.1:8080";
const service = connect(url, process.env["VERIGYM_API_KEY"]);

const { verifiers } = await body(service.GET("/v1/verifiers"));
const answer = verifiers.find((one) => one.id === "math/answer");
console.log(`${answer?.id} has version ${answer?.version}`);

// The short form: a verifier, what it judges against, and what the model said.
const one = await verify(service, {
  verifier: "math/answer",
  reference: { answer: "1/2" },
  submission: "The ratio is \\boxed{0.5}.",
});
console.log(`verify: ${one.status}, score ${one.score}, ${one.reason}`);

const items = ["So it is 12.", "11 or 12"].map((submission) => ({
  verifier: "math/answer",
  prompt: "What is 5 + 7?",
  reference: { answer: "12" },
  submission,
}));
const verdicts = await verifyBatch(service, items);
console.log(`batch: scores ${verdicts.map((verdict) => verdict.score)}`);

// A job survives a crash of the service. Name it after your step, so that sending it twice is harmless.
const job = await submitJob(service, items, "example-step-1");
const later = await waitForJob(service, job);
console.log(`job: scores ${later.map((verdict) => verdict.score)}`);

// An episode, with a policy that takes the first legal action.
const task = { env: "games/tic-tac-toe-v0", seed: 7, params: { difficulty: "easy" } };
const episode = await play(service, task, (_observation, info) => info.legal_actions?.[0] ?? "pass");
console.log(`episode: ${JSON.stringify(episode.actions)} earned ${JSON.stringify(episode.rewards)}`);

try {
  await verify(service, { verifier: "math/anser", reference: {}, submission: "" });
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.log(`refusal: ${error.status} ${error.code} at ${error.where}`);
}
