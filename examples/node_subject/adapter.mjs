// The glue: answers the suite's requests (docs/wire.md) with f2csa.mjs; one JSON-RPC message a line on standard input.
// Run f2csa verify --subject "command:node examples/node_subject/adapter.mjs" --reading repaired
import { readSync, writeSync } from "node:fs";
import * as method from "./f2csa.mjs";
import { estimates, generator, stagesOf } from "./oracle.mjs";

const problems = new Map();
const refuse = (code, message) => Object.assign(new Error(message), { code });
let unread = Buffer.alloc(0);
/** The next line of standard input, waited for; undefined at its end. */
function receive() {
  const parts = [unread];
  while (!parts.at(-1).includes(10)) {
    const chunk = Buffer.alloc(1 << 16);
    const length = readSync(0, chunk, 0, chunk.length, null);
    if (length === 0) return undefined;
    parts.push(chunk.subarray(0, length));
  }
  const whole = Buffer.concat(parts);
  unread = whole.subarray(whole.indexOf(10) + 1);
  return whole.toString("utf8", 0, whole.indexOf(10));
}

function send(message) {
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let sent = 0; sent < line.length; ) sent += writeSync(1, line, sent);
}

/** Algorithm 2 on the rows of x0, the runner's oracle asked for every step; s has a row a step. */
function runs(oracle, x0, parameters, s, seed) {
  const { uniform } = generator(seed ?? 0);
  return method.outerLoop(oracle, x0, parameters, (t) => s?.[t] ?? x0.map(uniform));
}

const oracle = (z) => {
  send({ jsonrpc: "2.0", id: "oracle", method: "oracle", params: { z } });
  const reply = JSON.parse(receive());
  if (reply.error) throw new Error(reply.error.message);
  return reply.result.gradient;
};

const stages = {
  lower_level: (p, { x }) => method.lowerLevel(p, x),
  activation: (p, { h, lam, h_width, lam_width }) => ({ rho: method.activation(h, lam, h_width, lam_width) }),
  penalty_minimiser: (p, { x, call }) => { // Newton's method ends below any tolerance asked for
    const [L, w] = stagesOf(p, x, call);
    return { y: method.add(L.y_star, w) };
  },
  hypergradient: (p, params) => ({ hypergradient: estimates(p, params, 1)[0] }),
  hypergradient_samples: (p, params) => ({ hypergradients: estimates(p, params, params.replications) }),
  optimise: (p, { x0, parameters, s, block, seed }) => {
    const { x_bar, path } = runs(([z]) => [oracle(z)], [x0], parameters, s?.map((value) => [value]), seed);
    return { x_out: x_bar[block ?? 0][0], x_bar: x_bar.map(([row]) => row), path: path.map(([row]) => row) };
  },
  optimise_runs: (p, { x0, parameters, s, seed, keep_path }) => {
    const { x_bar, path } = runs(oracle, x0, parameters, s, seed);
    return { x_bar, path: keep_path ? path : null };
  },
};

const methods = {
  initialize: () => ({ protocol: "f2csa-wire/1", name: "node", language: "JavaScript", version: process.versions.node,
    capabilities: Object.keys(stages), uses_draws: ["hypergradient"] }),
  problem: (_, { id, kind, n, arrays: a, noise, s }) => {
    const form = (o) => method.quadratic(...["xx", "xy", "yy", "x", "y"].map((block) => a[`${o}_${block}`]));
    const [f, g] = kind === "holder"
      ? [method.quadratic([[0]], [[0]], [[0]], [0], [1]), method.holder(s)] : [form("f"), form("g")];
    problems.set(id, { f, g, A: a.A, B: a.B, b: a.b, n, noise });
    return {};
  },
  forget: (_, { id }) => (problems.delete(id), null), // a notification: no answer
  echo: (_, { values }) => ({ values }),
  shutdown: () => ({}),
};

function answer({ jsonrpc, id = null, method: name, params = {} }) {
  try {
    if (jsonrpc !== "2.0" || typeof name !== "string") throw refuse(-32600, "not a request");
    if (!methods[name] && !stages[name]) throw refuse(-32601, `no method ${name}`);
    if ("problem" in params && !problems.has(params.problem)) throw refuse(-32602, `no problem ${params.problem}`);
    return { jsonrpc, id, result: (methods[name] ?? stages[name])(problems.get(params.problem), params) };
  } catch (error) {
    // Params of another shape show as undefined values where arrays are wanted.
    const code = error instanceof TypeError ? -32602 : error.code ?? -32000;
    return { jsonrpc: "2.0", id, error: { code, message: error.message } };
  }
}

function parsed(line) {
  try { return JSON.parse(line); } catch { return undefined; }
}

for (let line = receive(); line !== undefined; line = receive()) {
  const message = parsed(line);
  const requests = Array.isArray(message) && message.length ? message : [message];
  const answers = requests.map((request) => answer(request ?? {})).filter(({ result }) => result !== null);
  if (message === undefined) send({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "not JSON" } });
  else if (answers.length) send(Array.isArray(message) && message.length ? answers : answers[0]);
  if (message?.method === "shutdown") break;
}
