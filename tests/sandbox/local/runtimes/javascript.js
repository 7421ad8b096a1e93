const { execFileSync, spawn } = require("child_process");
const { Worker } = require("worker_threads");
const assert = require("assert");
const fs = require("fs");
const net = require("net");

async function main() {
  await new Promise((resolve) =>
    new Worker('require("worker_threads").parentPort.postMessage(1)', { eval: true }).on("message", resolve));
  assert.equal(execFileSync("echo", ["child"]).toString(), "child\n");
  await new Promise((resolve) => spawn("cat", { stdio: ["ignore", "pipe", "inherit"] }).on("close", resolve));
  const server = net.createServer((socket) => socket.end("x"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  await new Promise((resolve) => net.connect(server.address().port, "127.0.0.1").on("data", resolve));
  server.close();
  await fs.promises.writeFile("one.txt", "x");
  await fs.promises.cp("one.txt", "two.txt");
  let sum = 0;
  for (let i = 0; i < 1e6; i++) sum += i; // long enough to be compiled
  console.log("done");
}
main();
