"""A small subject of the wire, standard library only: what an adapter's author starts from (docs/wire.md).

``activation`` and ``optimise`` are the real thing; ``lower_level`` and ``hypergradient`` only have the right shapes.
"""

import json
import math
import sys
from typing import Any

ABOUT = {
    "protocol": "f2csa-wire/1", "name": "echo", "language": "Python", "version": "1",
    "capabilities": ["lower_level", "activation", "hypergradient", "optimise"], "uses_draws": True,
}  # fmt: skip
PROBLEMS: dict[str, Any] = {}


def problem(params: Any) -> Any:
    PROBLEMS[params["id"]] = params
    return {}


def lower_level(params: Any) -> Any:
    given = PROBLEMS[params["problem"]]
    return {"y_star": [0.0] * given["m"], "lam": [0.0] * given["p"]}


def activation(params: Any) -> Any:
    def ramp(value: float) -> float:
        return min(max(value, 0.0), 1.0)

    width, lam_width = params["h_width"], params["lam_width"]
    pairs = zip(params["h"], params["lam"], strict=True)
    return {"rho": [ramp((h + width) / width) * ramp(lam / lam_width) for h, lam in pairs]}


def hypergradient(params: Any) -> Any:
    given, draws = PROBLEMS[params["problem"]], params["call"]["draws"] or {}
    rows = draws.get("f_x") or [[0.0] * given["n"]]
    noise = [given["noise"]["sigma_f"] * math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
    return {"hypergradient": [a + b for a, b in zip(params["x"], noise, strict=True)]}


def optimise(params: Any) -> Any:
    x, D, eta, M = params["x0"], *(params["parameters"][name] for name in ("D", "eta", "M"))
    step, path, zs = [0.0] * len(x), [x], [x][:0]
    for t, s in enumerate(params["s"]):
        z = [a + s * b for a, b in zip(x, step, strict=True)]
        x = [a + b for a, b in zip(x, step, strict=True)]
        send({"jsonrpc": "2.0", "id": t, "method": "oracle", "params": {"z": z}})
        gradient = json.loads(sys.stdin.readline())["result"]["gradient"]
        step = [a - eta * b for a, b in zip(step, gradient, strict=True)]
        step = [a * min(1.0, D / (math.hypot(*step) or D)) for a in step]
        path, zs = [*path, x], [*zs, z]
    blocks = [zs[first : first + M] for first in range(0, len(zs), M)]
    x_bar = [[math.fsum(column) / M for column in zip(*block, strict=True)] for block in blocks]
    return {"x_out": x_bar[params["block"]], "x_bar": x_bar, "path": path}


METHODS = {
    "initialize": lambda _: ABOUT, "shutdown": lambda _: {}, "echo": lambda params: {"values": params["values"]},
    "problem": problem, "lower_level": lower_level, "activation": activation, "hypergradient": hypergradient,
    "optimise": optimise,
}  # fmt: skip


def error(number: Any, code: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}


def answer(message: Any) -> Any:
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return error(None, -32600, "not a request")
    number, method = message.get("id"), METHODS.get(message["method"])
    if "id" not in message:
        return None  # a notification, `forget`, which need not be heeded
    if method is None:
        return error(number, -32601, f"no method {message['method']}")
    try:
        return {"jsonrpc": "2.0", "id": number, "result": method(message.get("params"))}
    except Exception as failure:
        return error(number, -32602, f"{type(failure).__name__}: {failure}")


def reply(line: str) -> Any:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return error(None, -32700, "not JSON")
    return (
        [response for response in map(answer, message) if response]
        if isinstance(message, list) and message
        else answer(message)
    )


def send(message: Any) -> None:
    print(json.dumps(message, allow_nan=False), flush=True)


if __name__ == "__main__":
    for line in sys.stdin:
        if responses := reply(line):
            send(responses)
