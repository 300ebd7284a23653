"""Ten thousand broken messages in each direction: an answer or a fault, never a traceback and never a hang."""

from __future__ import annotations

import json
import random
import sys
from typing import get_args

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec.problem import parse_problem
from verify.cli.implementations.exports import schemas
from verify.subjects import ReferenceSubject
from verify.subjects.wire import echo
from verify.subjects.wire.messages import Kind, Refusal, WireFault
from verify.subjects.wire.methods import METHODS, OracleQuestion, read_answers
from verify.subjects.wire.program import Program
from verify.subjects.wire.request_fields import problem_message
from verify.subjects.wire.self_test import TINY
from verify.subjects.wire.serve import Server

MANY = 10_000
PARTS = (
    b"NaN", b"null", b"true", b"[]", b"{}", b"-1", b"1e999", b"\"\"", b"[[", b"]", b"}", b",", b":", b"\\u0000",
    b"\xff", b"99999999999999999999999", b"\"id\":null", b"\"error\":{}", b"0.1", b"-0", b"\"\\ud800\"", b"{\"id\":7",
)  # fmt: skip
WORDS = ("lower_level", "problem", "hypergradient", "optimise", "activation", "echo", "forget", "oracle", "shutdown")


def line(message):
    return json.dumps(message).encode()


def request(method, params, number=7):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


CALL = {
    "alpha": 0.1, "h_width": 0.1, "y_star": None, "lam": None, "rho": None, "y_penalty": None, "draws": None,
    "reading": {
        "dual_term": "cancelled", "noise_pairing": "common", "ramp_width": "delta", "inner_stop": "gradient",
        "alpha_range": "upper-bound", "primal_dual_sign": "minus", "inner_solver": "averaged", "outer_batch": "single",
    },
    "parameters": {
        "N_g": 1, "lam_width": 0.1, "ramp_constant": 1.0, "lower_level": "exact", "lower_level_steps": 5, "eta_y": None,
        "eta_lam": None, "shared_samples": 1, "penalty_steps": 5, "preconditioner": "rows",
    },
}  # fmt: skip
REQUESTS = [
    line(request("initialize", {"protocol": "f2csa-wire/1", "runner": {"name": "a", "version": "1"},
                                "limits": {"message_bytes": 1000000, "seconds": 1.0}})),
    line(request("echo", {"values": [1.0, 2.0]})),
    line(request("problem", problem_message("p1", parse_problem(TINY)))),
    line(request("lower_level", {"problem": "p1", "x": [0.1, 0.2]})),
    line(request("activation", {"h": [0.1], "lam": [0.2], "h_width": 0.1, "lam_width": 0.1})),
    line(request("hypergradient", {"problem": "p1", "x": [0.1, 0.2], "call": CALL, "seed": 3})),
    line(request("hypergradient_samples", {"problem": "p1", "x": [1.0, 0.2], "call": CALL, "seed": 3,
                                           "replications": 2})),
    line({"jsonrpc": "2.0", "method": "forget", "params": {"id": "p1"}}),
    line([request("echo", {"values": [1.0]}, number) for number in (1, 2)]),
]  # fmt: skip
ANSWERS = [
    line({"jsonrpc": "2.0", "id": 7, "result": {"hypergradient": [1.0, 2.0]}}),
    line({"jsonrpc": "2.0", "id": 7, "result": {"y_star": [1.0, 2.0], "lam": [0.5]}}),
    line({"jsonrpc": "2.0", "id": 7, "result": {"x_out": [1.0], "x_bar": [[1.0]], "path": [[0.0], [1.0]]}}),
    line({"jsonrpc": "2.0", "id": 7, "error": {"code": -32000, "message": "no"}}),
    line({"jsonrpc": "2.0", "id": "a1", "method": "oracle", "params": {"z": [1.0, 2.0]}}),
    line([{"jsonrpc": "2.0", "id": number, "result": {"hypergradient": [1.0]}} for number in (7, 8)]),
    line({"jsonrpc": "2.0", "id": 7, "result": echo.ABOUT}),
]


def mutated(source: bytes, rng: random.Random) -> bytes:
    """A message after a few cuts, swaps and insertions; sometimes nothing but noise."""
    if rng.random() < 0.05:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(60))).replace(b"\n", b"")
    data = source
    for _ in range(rng.randint(1, 4)):
        at, until = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        kind = rng.randrange(4)
        if kind == 0:
            data = data[:at] + rng.choice(PARTS) + data[at:]
        elif kind == 1:
            data = data[:at] + data[min(until, at + 8) :]
        elif kind == 2:
            data = data[:at] + rng.choice(PARTS) + data[min(until, at + 6) :]
        else:
            data = data.replace(rng.choice(WORDS).encode(), rng.choice(WORDS).encode())
    return data.replace(b"\n", b"")


def test_runner_takes_any_answer():
    rng = random.Random(1)
    outcomes = set()
    for _ in range(MANY):
        method = rng.choice(list(METHODS))
        ids = rng.choice([[7], [7], [7, 8]])
        try:
            found = read_answers(mutated(rng.choice(ANSWERS), rng), method, ids)
        except WireFault as fault:
            assert fault.kind in get_args(Kind)
            assert fault.text.isprintable()
            assert len(fault.text) < 400
            outcomes.add(fault.kind)
        except Refusal:
            outcomes.add("refusal")
        else:
            assert isinstance(found, OracleQuestion) or len(found) == len(ids)
            outcomes.add("answer")
    assert {"garbage", "schema", "unknown-id", "error", "answer"} <= outcomes


@settings(max_examples=200)
@given(st.binary(max_size=80) | st.text(max_size=60).map(str.encode), st.sampled_from(list(METHODS)))
def test_runner_takes_any_bytes(data, method):
    with pytest.raises((WireFault, Refusal)):
        read_answers(data, method, [7])


def test_server_takes_any_request(recwarn):
    rng = random.Random(2)
    server = Server(ReferenceSubject)
    codes = set()
    with np.errstate(all="ignore"):
        for number in range(MANY):
            if number % 50 == 0:
                server.answer(REQUESTS[2])
            made = server.answer(mutated(rng.choice(REQUESTS), rng))
            if made is not None:
                assert made.endswith(b"\n")
                assert made.count(b"\n") == 1
                answers = json.loads(made)
                for answer in answers if isinstance(answers, list) else [answers]:
                    codes.add(answer.get("error", {}).get("code", 0))
    assert {0, -32700, -32600, -32601, -32602} <= codes


def test_echo_takes_any_request():
    rng = random.Random(3)
    for _ in range(MANY):
        data = mutated(rng.choice(REQUESTS), rng).decode(errors="surrogateescape")
        made = echo.reply(data)
        if made is not None:
            json.dumps(made)


@pytest.mark.parametrize("module", ["verify.subjects.wire.echo", "verify.subjects.wire.serve"])
def test_a_running_program_survives_them_all(module):
    """Through real pipes: garbage among requests, one answer each to those that get one."""
    rng = random.Random(4)
    arguments = [] if module.endswith("echo") else ["reference"]
    program = Program([sys.executable, "-m", module, *arguments], message_bytes=1 << 20, memory_bytes=1 << 30)
    try:
        for _ in range(1000):
            # Text only: how bytes that are not UTF-8 are met is up to the language.
            data = mutated(REQUESTS[rng.choice((0, 1, 3, 4))], rng).decode(errors="ignore").encode()
            answered = _is_answered(data)
            if answered:
                json.loads(program.exchange(data + b"\n", 5.0))
            elif answered is not None:
                program.tell(data + b"\n", 5.0)
        assert json.loads(program.exchange(REQUESTS[1] + b"\n", 5.0))["result"] == {"values": [1.0, 2.0]}
    finally:
        program.close()


def _is_answered(data: bytes) -> bool | None:
    """Whether a line is due an answer; ``None`` where it would end the program or is no line."""
    if not data.strip() or b"shutdown" in data or b"\r" in data:
        return None
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        return True
    return not (isinstance(message, dict) and isinstance(message.get("method"), str) and "id" not in message)


def test_published_schemas_hold_what_is_sent():
    to_subject, to_runner = schemas()["wire-to-subject"], schemas()["wire-to-runner"]
    for text in REQUESTS[:-1]:
        jsonschema.validate(json.loads(text), to_subject)
    for text in ANSWERS:
        jsonschema.validate(json.loads(text), to_runner)
    for wrong in (request("no_such_method", {}), request("lower_level", {"problem": "p1"}), {"jsonrpc": "2.0"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, to_subject)
    for wrong in ({"jsonrpc": "2.0", "id": 1}, {"jsonrpc": "2.0", "id": 1, "error": {"code": "no"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, to_runner)
