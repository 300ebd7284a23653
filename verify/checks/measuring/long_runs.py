"""What takes long: statements that a profile leaves out or judges on one instance, and instances that tell most."""

from __future__ import annotations

LONG = (
    "inner-cost", "goldstein-convergence", "sfo-complexity", "variance-bound/pairing-alone",
    "hypergradient-accuracy/conditional-mean",
)  # fmt: skip
"""What samples long: further points of the lattice are judged where it tells most alone."""
TOO_LONG = (
    "convergence-experiment", "goldstein-convergence", "goldstein-convergence/noise-term",
    "goldstein-convergence/explicit-constants", "goldstein-convergence/bias-hypothesis",
    "goldstein-convergence/bias-potential", "goldstein-convergence/lipschitz-scaling",
    "goldstein-convergence/second-moment", "goldstein-convergence/membership", "inner-cost/linear-rate",
    "inner-cost/noise-floor", "inner-cost/samples-for-accuracy", "inner-cost/output-accuracy",
    "inner-cost/shared-sample", "inner-cost/svrg", "sfo-complexity", "sfo-complexity/outer-calls",
    "sfo-complexity/batch-product", "sfo-complexity/theta", "sfo-complexity/lipschitz-constant",
    "sfo-complexity/larger-alpha", "sfo-complexity/shared-sample", "variance-bound/pairing-alone",
    "hypergradient-accuracy/conditional-mean",
)  # fmt: skip
"""What a smoke run leaves out, and says so; every claim is there by some statement."""
SMOKE_NARROW = (
    "inner-cost", "inner-loop-remark", "sfo-complexity", "goldstein-convergence", "hypergradient-accuracy",
    "stochastic-oracles", "variance-bound",
)  # fmt: skip
"""What a smoke run judges on its first instance alone."""
SLOW = ("inner-cost", "inner-loop-remark", "goldstein-convergence/bias-hypothesis")
"""What costs most in a run for another implementation, on its first instance alone: every catalogued mistake that only
a further one would refute here is refuted by another claim, and no claim is supported whose stage deviates."""
OUTER_RUNS = (
    "goldstein-convergence", "goldstein-convergence/noise-term", "goldstein-convergence/explicit-constants",
    "goldstein-convergence/bias-potential", "goldstein-convergence/lipschitz-scaling",
)  # fmt: skip
"""With the total's steps, what takes thousands of runs of Algorithm 2: half of the time of a program behind a pipe. It
can get wrong in them its steps, which the stage `optimise` judges one by one, and its estimates."""
OTHER_LAWS = ("stochastic-oracles/draws-as-stated",)
"""What a right program fails whose noise has another law than the problem states, of the same mean and variance."""
OUTCOMES = ("convergence-experiment", "goldstein-convergence", "sfo-complexity")
"""Claims about where a run of Algorithm 2 ends."""
TOGETHER = ("scaling-experiment",)
"""Claims whose steps all look at what the first of them counts: made once by who is asked for all of them."""
EVERY_TERM = ("scalar-rational", "moving-box", "random-3x5x4")
"""Instances that between them have every term of Algorithm 1, on rows that bind and move: b, x and g_xy among them."""
TELLING = {
    "bias-bound/T2": 2, "bias-bound/black-box": 2, "variance-bound/per-sample": 2, "variance-bound/g-noise-only": 2,
    "bias-bound/uniformity": 3, "bias-bound/uniformity-radius": 2, "bias-bound/black-box-kinks": 3,
    "lipschitz-solution/domain": 2,
}  # fmt: skip
"""Statements whose readings the first instance alone does not tell apart: how many do."""
