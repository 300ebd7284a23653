"""What is read without a schema is what the schema reads; all else is left to it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from verify.subjects.wire.messages import Packed
from verify.subjects.wire.methods import METHODS
from verify.subjects.wire.plain_answers import read_plainly

PAIR = {"jsonrpc": "2.0", "id": 3, "result": {"y": [[1, 2.5], [0.1, -0.0]], "calls": 7}}


def read(data, method="penalty_runs", ids=(3,), text=None):
    line = json.dumps(data) if text is None else text
    return read_plainly(json.loads(line), line.encode(), method, ids)


def test_the_common_form_is_read_as_the_schema_reads_it():
    (answer,) = read(PAIR)
    schema = METHODS["penalty_runs"].response.validate_python(PAIR).result
    assert answer.y.tolist() == schema.y
    assert answer.calls == schema.calls
    (packed,) = read(PAIR | {"result": {"y": Packed.of(answer.y), "calls": 7.0}})
    assert packed.y.tobytes() == answer.y.tobytes()


def test_so_are_a_batch_and_a_question():
    batch = [{"jsonrpc": "2.0", "id": k, "result": {"hypergradient": [k / 3]}} for k in (3, 4)]
    assert [one.hypergradient.tolist() for one in read(batch, "hypergradient", (3, 4))] == [[1.0], [4 / 3]]
    assert read(batch[::-1], "hypergradient", (3, 4)) is None
    number, z = read({"jsonrpc": "2.0", "id": "a", "method": "oracle", "params": {"z": [0.5]}}, "optimise")
    assert (number, z.tolist()) == ("a", [0.5])


@pytest.mark.parametrize(
    "changed",
    [
        {"id": 4}, {"id": 3.0}, {"jsonrpc": "1.0"}, {"more": 1}, {"result": {"y": [[1.0]]}},
        *({"result": {"y": y, "calls": 7}} for y in ([1.0], [[True]], [["1"]], [[None]], [[1.0], []], [[1e999]],
                                                     [[10**400]], {"shape": [1, 1], "f64": "?"}, {"shape": [1]})),
        *({"result": {"y": [[1.0]], "calls": calls}} for calls in (True, "7", None, 10**400, [7])),
    ],
)  # fmt: skip
def test_any_other_form_is_left_to_the_schema(changed):
    assert read(PAIR | changed) is None


def test_so_is_a_key_that_stands_twice():
    twice = json.dumps(PAIR).replace('"calls": 7', '"calls": 6, "calls": 7')
    assert np.array_equal(read(None, text=json.dumps(PAIR))[0].y, PAIR["result"]["y"])
    assert read(None, text=twice) is None
