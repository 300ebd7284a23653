"""Large answers are read as arrays, and refused for the same reasons as small ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

from verify.subjects.wire.messages import WireFault
from verify.subjects.wire.methods import OracleQuestion, read_answers

ROWS = 4000


def line(values, name="hypergradients"):
    return json.dumps({"jsonrpc": "2.0", "id": 3, "result": {name: values}}).encode()


def estimates():
    return (np.arange(2.0 * ROWS).reshape(ROWS, 2) / 7).tolist()


def test_a_large_answer_is_read_exactly():
    values = estimates()
    (answer,) = read_answers(line(values), "hypergradient_samples", [3])
    assert isinstance(answer.hypergradients, np.ndarray)
    assert answer.hypergradients.tolist() == values
    (small,) = read_answers(line(values[:5]), "hypergradient_samples", [3])
    assert small.hypergradients.tolist() == values[:5]


def test_integers_are_numbers_there_too():
    values = [[0, 1.5], *estimates()]
    (answer,) = read_answers(line(values), "hypergradient_samples", [3])
    assert answer.hypergradients.tolist() == values


@pytest.mark.parametrize(
    ("entry", "kind"),
    [(True, "schema"), (None, "not-finite"), ("1.5", "schema"), ([1.0], "schema"), (10**400, "not-finite")],
)
@pytest.mark.parametrize("size", [5, ROWS])
def test_what_is_no_number_is_refused_however_large_the_answer(entry, kind, size):
    values = estimates()[:size]
    values[-1] = [0.5, entry]
    with pytest.raises(WireFault) as fault:
        read_answers(line(values), "hypergradient_samples", [3])
    assert fault.value.kind == kind


@pytest.mark.parametrize("wrong", [estimates()[0] * ROWS, [estimates()]])
def test_other_brackets_are_refused(wrong):
    with pytest.raises(WireFault, match="answered against the schema"):
        read_answers(line(wrong), "hypergradient_samples", [3])


def test_a_large_question_to_the_oracle_is_read_exactly():
    message = {"jsonrpc": "2.0", "id": "a", "method": "oracle", "params": {"z": estimates()}}
    asked = read_answers(json.dumps(message).encode(), "optimise_runs", [3])
    assert isinstance(asked, OracleQuestion)
    assert np.array_equal(asked.z, estimates())


def test_a_field_nobody_asked_for_is_left_out():
    answer = {"jsonrpc": "2.0", "id": 3, "result": {"hypergradients": estimates(), "seconds": estimates()}}
    (read,) = read_answers(json.dumps(answer).encode(), "hypergradient_samples", [3])
    assert not hasattr(read, "seconds")
