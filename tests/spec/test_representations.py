"""Problems and parameters in one line, with what differs from the defaults."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spec import OracleParameters, PenaltyParameters, parse_problem
from spec.atlas import atlas, experiment


def test_problems_are_one_line_whatever_their_size() -> None:
    for instance in atlas().values():
        assert "\n" not in repr(instance.problem)
        assert len(repr(instance.problem)) < 120
    assert repr(atlas()["toy1"].problem) == "<Quadratic problem, n = 1, m = 1, p = 1>"
    assert repr(experiment(3)) == "Generated(family='paper-experiment', n=3)"
    noisy = {"kind": "quadratic", "g": {"yy": [[1]]}, "constraints": {"A": [[1]], "B": [[1]]},
             "noise": {"model": "additive", "sigma_f": "1/10"}}  # fmt: skip
    assert repr(parse_problem(noisy)) == "<Quadratic problem, n = 1, m = 1, p = 1, additive noise>"


@given(st.integers(1, 100), st.floats(1e-3, 1.0))
def test_parameters_show_what_differs_and_read_back(samples: int, width: float) -> None:
    made = OracleParameters(N_g=samples, lam_width=width)
    assert eval(repr(made), {"OracleParameters": OracleParameters}) == made
    assert str(made) == repr(made)
    assert "penalty_steps" not in repr(made)


def test_nothing_differs_from_the_defaults() -> None:
    assert repr(OracleParameters()) == "OracleParameters()"
    assert repr(PenaltyParameters(alpha=0.1)) == "PenaltyParameters(alpha=0.1)"
