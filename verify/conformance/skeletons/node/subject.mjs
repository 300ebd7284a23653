// The glue: what the suite asks, one JSON-RPC message a line on standard input, put to solver.mjs.
import { readSync, writeSync } from "node:fs";
import { activation, gradientX, lowerLevel, NotWritten, outerLoop, penaltyShift } from "./solver.mjs";

const problems = new Map();
const refuse = (code, message) => Object.assign(new Error(message), { code });
const dot = (u, v) => u.reduce((sum, value, i) => sum + value * v[i], 0);
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
  const end = whole.indexOf(10);
  unread = whole.subarray(end + 1);
  return whole.toString("utf8", 0, end);
}

function send(message) {
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let sent = 0; sent < line.length; ) sent += writeSync(1, line, sent);
}

/** The runner's oracle, asked while optimise is pending. */
function oracle(z) {
  send({ jsonrpc: "2.0", id: "oracle", method: "oracle", params: { z } });
  const reply = JSON.parse(receive());
  if (reply.error) throw new Error(reply.error.message);
  return reply.result.gradient;
}

/** Lines 3 to 5; a stage value that the call gives is used as it is. */
function stagesOf(p, x, call) {
  const found = call.y_star && call.lam ? {} : lowerLevel(p, x);
  const [y_star, lam] = [call.y_star ?? found.y_star, call.lam ?? found.lam];
  const h = p.A.map((row, i) => dot(row, x) - dot(p.B[i], y_star) - p.b[i]);
  const rho = call.rho ?? activation(h, lam, call.h_width, call.parameters.lam_width);
  const L = { alpha: call.alpha, y_star, lam, rho };
  return [L, call.y_penalty ? call.y_penalty.map((value, i) => value - y_star[i]) : penaltyShift(p, x, L)];
}

const stages = {
  lower_level: (p, { x }) => lowerLevel(p, x),
  activation: (_, { h, lam, h_width, lam_width }) => ({ rho: activation(h, lam, h_width, lam_width) }),
  penalty_minimiser: (p, { x, call }) => {
    const [{ y_star }, shift] = stagesOf(p, x, call);
    return { y: y_star.map((value, i) => value + shift[i]) };
  },
  hypergradient: (p, { x, call }) => {
    if (p.noise.model !== "none") throw refuse(-32001, "problems without noise only");
    return { hypergradient: gradientX(p, x, ...stagesOf(p, x, call)) };
  },
  optimise: (_, { x0, parameters, s, block }) => {
    if (!s) throw refuse(-32001, "runs whose uniform numbers are given only");
    const { x_bar, path } = outerLoop(oracle, x0, parameters, s);
    return { x_out: x_bar[block ?? 0], x_bar, path };
  },
};

const methods = {
  initialize: () => ({ protocol: "f2csa-wire/1", name: "my-solver", language: "JavaScript", version: "1",
    capabilities: Object.keys(stages), readings: { dual_term: ["cancelled"] } }),
  problem: (_, { id, kind, arrays, noise }) => {
    if (kind !== "quadratic") throw refuse(-32001, "quadratic objectives only");
    problems.set(id, { ...arrays, noise });
    return {};
  },
  forget: (_, { id }) => (problems.delete(id), null), // a notification: no answer
  echo: (_, { values }) => ({ values }),
  shutdown: () => ({}),
};

function answer({ jsonrpc, id = null, method: name, params = {} }) {
  try {
    if (jsonrpc !== "2.0" || typeof name !== "string") throw refuse(-32600, "not a request");
    if (!Object.hasOwn(methods, name) && !Object.hasOwn(stages, name)) throw refuse(-32601, `no method ${name}`);
    if ("problem" in params && !problems.has(params.problem)) throw refuse(-32602, `no problem ${params.problem}`);
    return { jsonrpc, id, result: (methods[name] ?? stages[name])(problems.get(params.problem), params) };
  } catch (error) {
    // Params of another shape show as undefined values where arrays are wanted.
    const code = error instanceof NotWritten ? -32002 : error instanceof TypeError ? -32602 : error.code ?? -32000;
    return { jsonrpc: "2.0", id, error: { code, message: error.message } };
  }
}

function parsed(line) {
  try { return JSON.parse(line); } catch { return undefined; }
}

for (let line = receive(); line !== undefined; line = receive()) {
  const message = parsed(line);
  const isBatch = Array.isArray(message) && message.length > 0;
  const answers = (isBatch ? message : [message]).map((each) => answer(each ?? {})).filter(({ result }) => result !== null);
  if (message === undefined) send({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "not JSON" } });
  else if (answers.length) send(isBatch ? answers : answers[0]);
  if (message?.method === "shutdown") break;
}
