"""Arrays that come packed are those that come in text, and are refused for the same reasons."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from verify.subjects import ReferenceSubject
from verify.subjects.wire.messages import PACKED_FROM, Packed, WireFault, numbers
from verify.subjects.wire.methods import OracleQuestion, read_answers, request
from verify.subjects.wire.serve import Server

ROWS = np.random.default_rng(4).standard_normal((40, 2))


def line(value, name="hypergradients", **more):
    return json.dumps({"jsonrpc": "2.0", "id": 3, "result": {name: value, **more}}).encode()


def test_a_packed_answer_is_read_exactly():
    (answer,) = read_answers(line(Packed.of(ROWS)), "hypergradient_samples", [3])
    assert answer.hypergradients.tolist() == ROWS.tolist()
    (both,) = read_answers(line(Packed.of(ROWS), "y", lam=ROWS.tolist()), "lower_level_runs", [3])
    assert (np.asarray(both.y) == np.asarray(both.lam)).all()


def test_so_is_one_of_a_large_message():
    many = np.arange(60_000.0).reshape(-1, 2) / 7
    (answer,) = read_answers(line(Packed.of(many), "y", lam=many.tolist()), "lower_level_runs", [3])
    assert (answer.y == many).all()
    assert (answer.lam == many).all()


def test_so_is_a_question_to_the_oracle_and_each_of_a_batch():
    message = {"jsonrpc": "2.0", "id": "a", "method": "oracle", "params": {"z": Packed.of(ROWS)}}
    asked = read_answers(json.dumps(message).encode(), "optimise_runs", [3])
    assert isinstance(asked, OracleQuestion)
    assert np.asarray(asked.z).tolist() == ROWS.tolist()
    batch = [{"jsonrpc": "2.0", "id": k, "result": {"hypergradient": Packed.of(ROWS[k])}} for k in (4, 3)]
    found = read_answers(json.dumps(batch).encode(), "hypergradient", [3, 4])
    assert [answer.hypergradient.tolist() for answer in found] == [ROWS[3].tolist(), ROWS[4].tolist()]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"shape": [40, 2], "f64": "no base64!"}, "schema"),
        ({"shape": [41, 2], "f64": Packed.of(ROWS)["f64"]}, "schema"),
        ({"shape": [-40, -2], "f64": Packed.of(ROWS)["f64"]}, "schema"),
        ({"shape": [10**9, 10**9], "f64": ""}, "schema"),
        ({"shape": [80], "f64": Packed.of(ROWS)["f64"]}, "schema"),
        ({"shape": [1, 40, 2], "f64": Packed.of(ROWS)["f64"]}, "schema"),
        ({"shape": [], "f64": ""}, "schema"),
        ({"shape": "40", "f64": ""}, "schema"),
        ({"f64": ""}, "schema"),
        ({"shape": [2], "f64": 7}, "schema"),
        (Packed.of(np.where(ROWS > 1, np.nan, ROWS)), "not-finite"),
        (Packed.of(np.where(ROWS > 1, -np.inf, ROWS)), "not-finite"),
    ],
)
def test_whatever_is_no_such_array_is_refused(value, kind):
    with pytest.raises(WireFault) as fault:
        read_answers(line(value), "hypergradient_samples", [3])
    assert fault.value.kind == kind
    assert "\n" not in fault.value.text


def test_only_what_is_large_is_packed_and_only_where_it_is_read():
    small, large = np.zeros(PACKED_FROM - 1), np.zeros(PACKED_FROM)
    assert numbers(small, packed=True) == small.tolist()
    assert numbers(large, packed=False) == large.tolist()
    assert base64.b64decode(numbers(large, packed=True)["f64"]) == bytes(8 * PACKED_FROM)


def test_a_served_subject_reads_packed_arguments_and_refuses_broken_ones():
    server = Server(ReferenceSubject)
    h, lam = np.linspace(-1, 0, 40), np.linspace(0, 1, 40)
    given = {"h_width": 0.3, "lam_width": 0.2}
    text, packed, broken = (
        server.answer(json.dumps(request("activation", 3, {"h": value, "lam": lam.tolist(), **given})).encode())
        for value in (h.tolist(), Packed.of(h), {"shape": [39], "f64": Packed.of(h)["f64"]})
    )
    assert text == packed
    (answer,) = read_answers(packed, "activation", [3])
    assert (answer.rho == ReferenceSubject().activation(h, lam, 0.3, 0.2)).all()
    assert json.loads(broken)["error"]["code"] == -32602
