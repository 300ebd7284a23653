r"""Choose the regularisation weight of each group of features of a constrained logistic regression by validation.

The data are scikit-learn's bundled breast cancer measurements: 30 features in three groups of ten (means, standard
errors, worst values). Every coefficient must be >= 0, since all measurements are scored so that more is worse.

.. math::
    \min_x\; \ell_{\text{validation}}(y^*(x)), \qquad
    y^*(x) = \arg\min_{y \ge 0} \ell_{\text{train}}(y) + \tfrac12 \sum_k e^{x_k} \|y_k\|^2.

Each x_k is the logarithm of a group's weight, kept in [-4, 1] by the projection option. Coefficients that leave zero or
fall to it put kinks into the validation loss as a function of x.

Run it with ``python examples/hyperparameter_selection.py``; it needs scikit-learn for the data alone.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from f2csa_ref import (
    OracleCall,
    Setting,
    SmoothObjectives,
    SolveReport,
    box_projection,
    estimate_constants,
    lower_level,
    schedule,
    solve,
)
from spec.exact import Matrix, Vector

GROUPS = 3
LOWEST, HIGHEST = -4.0, 1.0
ALPHA = 0.05
RADIUS = 0.2


@dataclass(frozen=True)
class Data:
    """Standardised features and labels in {-1, +1}, in three parts of one shuffled set.

    Args:
        train: Features (N, 30) and labels (N,) the coefficients are fitted to.
        validation: Those the weights are chosen by.
        test: Those nothing is chosen by.
    """

    train: tuple[Matrix, Vector]
    validation: tuple[Matrix, Vector]
    test: tuple[Matrix, Vector]


def load(seed: int = 0) -> Data:
    """Read the bundled data and split it 100 : 200 : 269."""
    from sklearn.datasets import load_breast_cancer

    features, benign = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(features))
    features, labels = features[order], 1.0 - 2.0 * benign[order]
    features = (features - features[:100].mean(axis=0)) / features[:100].std(axis=0)
    parts = [(features[a:b], labels[a:b]) for a, b in ((0, 100), (100, 300), (300, len(features)))]
    return Data(*parts)


def loss(part: tuple[Matrix, Vector], y: Vector) -> float:
    """Mean logistic loss of coefficients y."""
    features, labels = part
    return float(np.logaddexp(0.0, -labels * (features @ y)).mean())


def gradient(part: tuple[Matrix, Vector], y: Vector) -> Vector:
    """Its gradient."""
    features, labels = part
    share = 1.0 / (1.0 + np.exp(labels * (features @ y)))
    made: Vector = -features.T @ (labels * share) / len(labels)
    return made


def accuracy(part: tuple[Matrix, Vector], y: Vector) -> float:
    """Share of labels whose sign is met."""
    features, labels = part
    return float((np.sign(features @ y) == labels).mean())


def curvature(part: tuple[Matrix, Vector]) -> float:
    """Bound of the loss's curvature: a quarter of the features' largest mean square."""
    features, _ = part
    return float(np.linalg.norm(features, 2) ** 2 / (4 * len(features)))


def objectives(data: Data) -> SmoothObjectives:
    """The bilevel problem: n = 3 weights, m = 30 coefficients, p = 30 sign rows -y <= 0."""
    m = data.train[0].shape[1]
    of = np.repeat(np.arange(GROUPS), m // GROUPS)

    def spread(x: Vector) -> Vector:
        return np.exp(x)[of]

    def squares(y: Vector) -> Vector:
        made: Vector = np.bincount(of, weights=y * y, minlength=GROUPS).astype(np.float64)
        return made

    return SmoothObjectives(
        grad_x_f=lambda x, y: np.zeros(GROUPS),  # noqa: ARG005  # the validation loss sees x through y alone
        grad_y_f=lambda x, y: gradient(data.validation, y),  # noqa: ARG005  # as above
        grad_x_g=lambda x, y: 0.5 * np.exp(x) * squares(y),
        grad_y_g=lambda x, y: gradient(data.train, y) + spread(x) * y,
        A=np.zeros((m, GROUPS)),
        B=np.eye(m),
        b=np.zeros(m),
        mu_g=float(np.exp(LOWEST)),
        C_g=curvature(data.train) + float(np.exp(HIGHEST)),
        C_f=curvature(data.validation),
        f_value=lambda x, y: loss(data.validation, y),  # noqa: ARG005  # as above
        g_value=lambda x, y: loss(data.train, y) + 0.5 * float(np.exp(x) @ squares(y)),
    )


def problem() -> SmoothObjectives:
    """The problem on the bundled data, as ``f2csa solve python:examples.hyperparameter_selection:problem`` takes it."""
    return objectives(load())


def select(data: Data, *, calls: int = 300, seed: int = 0) -> SolveReport:
    """Run the method from equal weights e^0.

    Args:
        data: The three parts.
        calls: Oracle calls.
        seed: Seed of the run.
    """
    bilevel = objectives(data)
    x_0 = np.zeros(GROUPS)
    box = (LOWEST,) * GROUPS, (HIGHEST,) * GROUPS
    inside = box_projection(*(np.array(ends) for ends in box))
    constants = estimate_constants(bilevel, x_0, OracleCall(ALPHA), rng=np.random.default_rng(seed), projection=inside)
    outer = schedule("budget", constants, goldstein_radius=RADIUS, calls=calls)
    setting = Setting(
        x_0=tuple(x_0), alpha=ALPHA, outer=outer, constants=constants, seed=seed, output="smallest", project_onto=box
    )
    return solve(bilevel, setting)


def main() -> None:
    """Print what the weights were, what they became, and what that is worth."""
    data = load()
    bilevel = objectives(data)
    report = select(data)
    block = report.blocks[report.trace.block]
    for name, x in (("equal weights", np.zeros(GROUPS)), ("chosen weights", report.trace.x_out)):
        y = lower_level(bilevel, x).y_star
        weights = ", ".join(f"{w:.3g}" for w in np.exp(x))
        sys.stdout.write(
            f"{name:15s} ({weights}): validation loss {loss(data.validation, y):.4f}, test loss "
            f"{loss(data.test, y):.4f}, accuracy {accuracy(data.test, y):.3f}, {np.sum(y > 1e-9)} coefficients > 0\n"
        )
    sys.stdout.write(f"length of the mean hypergradient over the output's block: {block.grad_norm:.4f}\n")


if __name__ == "__main__":
    main()
