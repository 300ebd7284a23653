"""Changes of a lower-level pair after it was found: of the multipliers mostly."""
# ruff: noqa: ARG005  # what stands in one table is called in one way

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.programs import Pair, Program, solved
from verify.method.factors import is_almost_one, left_words, spelt_plainly

TOUCHING = 1e-8
"""Rows whose value is at most this from 0 touch."""
OutputRule = Callable[[Pair, Program, float], Pair]


@dataclass(frozen=True)
class Output:
    """A change of what comes out, in words with its number; ``numbers`` are tried, none where one is measured."""

    of: OutputRule
    words: str
    numbers: tuple[float, ...] = (0.0,)

    def told(self, value: float) -> str:
        """The words for a number."""
        scaled = [word[3:] for word in self.words.split() if word.startswith("{}·")]
        if scaled and is_almost_one(value):
            return left_words(value, " and of ".join(scaled))
        return self.words.replace("{}", spelt_plainly(value))


def _of_lam(rule: Callable[[Vector, float], Vector]) -> OutputRule:
    return lambda pair, program, c: (pair[0], rule(pair[1], c))


def _of_y(rule: Callable[[Vector, float], Vector]) -> OutputRule:
    return lambda pair, program, c: (rule(pair[0], c), pair[1])


def _least_squares(rows: Callable[[Pair, Program], list[int]], *, cut: bool = False) -> OutputRule:
    """Multipliers of some rows from the gradient of g at y, by least squares."""

    def rule(pair: Pair, program: Program, _: float) -> Pair:
        lam, chosen = np.zeros(len(program.r)), rows(pair, program)
        if chosen:
            gradient = program.G @ pair[0] + program.q
            lam[chosen] = np.linalg.lstsq(program.B[chosen].T, gradient)[0]
        return pair[0], np.maximum(lam, 0.0) if cut else lam

    return rule


def _touching(pair: Pair, program: Program) -> list[int]:
    return np.flatnonzero(program.violated(pair[0]) >= -TOUCHING).tolist()


def _all(_: Pair, program: Program) -> list[int]:
    return [*range(len(program.r))]


def _lengths(program: Program) -> Vector:
    return np.asarray(np.linalg.norm(program.B, axis=1))


def _only_largest(lam: Vector, _: float) -> Vector:
    return np.where(np.arange(len(lam)) == np.argmax(lam), lam, 0.0)


def _each_alone(pair: Pair, program: Program, _: float) -> Pair:
    """Each touching row's multiplier as if it were the only one."""
    gradient, lam = program.G @ pair[0] + program.q, np.zeros(len(program.r))
    for i in _touching(pair, program):
        lam[i] = program.B[i] @ gradient / (program.B[i] @ program.B[i])
    return pair[0], lam


def _moved(lam: Vector) -> Vector:
    """Positive multipliers moved on by one among themselves."""
    held, moved = lam > 0, lam.copy()
    moved[held] = np.roll(lam[held], 1)
    return moved


def _of_moved(pair: Pair, program: Program, _: float) -> Pair:
    return program.free + np.linalg.solve(program.G, program.B.T @ _moved(pair[1])), pair[1]


def _solved_lam(pair: Pair, program: Program, _: float) -> Pair:
    right = solved(program)
    return pair if right is None else (pair[0], right[1])


OUTPUTS: dict[str, Output] = {
    "no λ": Output(_of_lam(lambda lam, c: 0 * lam), "λ = 0 is returned"),
    "−λ": Output(_of_lam(lambda lam, c: -lam), "−λ is returned in place of λ"),
    "λ scaled": Output(_of_lam(lambda lam, c: c * lam), "{}·λ is returned in place of λ", ()),
    "λ next": Output(_of_lam(lambda lam, c: np.roll(lam, 1)), "each row gets the λ of the row before it"),
    "λ before": Output(_of_lam(lambda lam, c: np.roll(lam, -1)), "each row gets the λ of the row after it"),
    "λ next held": Output(_of_lam(lambda lam, c: _moved(lam)), "each binding row gets the λ of the binding row before "
                          "it"),
    "y of moved λ": Output(_of_moved, "y is made from multipliers that are moved on by one binding row"),
    "solved λ": Output(_solved_lam, "λ is that of the right solution"),
    "λ reversed": Output(_of_lam(lambda lam, c: lam[::-1]), "λ is returned in reversed order"),
    "λ ascending": Output(_of_lam(lambda lam, c: np.sort(lam)), "λ is sorted, the smallest first"),
    "λ descending": Output(_of_lam(lambda lam, c: np.sort(lam)[::-1]), "λ is sorted, the largest first"),
    "|λ|": Output(_of_lam(lambda lam, c: np.abs(lam)), "|λ| is returned in place of λ"),
    "λ cut": Output(_of_lam(lambda lam, c: np.minimum(lam, c)), "λ is cut off at {}", ()),
    "λ ≥ 0": Output(_of_lam(lambda lam, c: np.maximum(lam, 0.0)), "negative λ are replaced by 0"),
    "λ raised": Output(_of_lam(lambda lam, c: lam + c), "{} is added to every λ", ()),
    "λ floor": Output(_of_lam(lambda lam, c: np.maximum(lam, c)), "no λ is less than {}", ()),
    "small λ": Output(_of_lam(lambda lam, c: np.where(lam < c, 0.0, lam)), "λ below {} are returned as 0", ()),
    "λ of length 1": Output(_of_lam(lambda lam, c: lam / max(float(np.linalg.norm(lam)), 1e-300)), "λ/‖λ‖ is returned"),
    "λ of length 1 at most": Output(_of_lam(lambda lam, c: lam / max(float(np.linalg.norm(lam)), 1.0)), "λ/max(‖λ‖, 1) "
                                    "is returned"),
    "λ times ‖B‖": Output(lambda pair, program, c: (pair[0], pair[1] * float(np.linalg.norm(program.B, 2))), "‖B‖λ is "
                          "returned in place of λ"),
    "λ over ‖B‖": Output(lambda pair, program, c: (pair[0], pair[1] / float(np.linalg.norm(program.B, 2))), "λ/‖B‖ is "
                         "returned in place of λ"),
    "λ of sum 1": Output(_of_lam(lambda lam, c: lam / max(float(np.abs(lam).sum()), 1e-300)), "λ divided by its sum is "
                         "returned"),
    "λ indicator": Output(_of_lam(lambda lam, c: np.where(lam > TOUCHING, 1.0, 0.0)), "1 is returned for every "
                          "positive λ"),
    "λ squared": Output(_of_lam(lambda lam, c: lam**2), "λ² is returned in place of λ"),
    "root of λ": Output(_of_lam(lambda lam, c: np.sqrt(np.abs(lam))), "√λ is returned in place of λ"),
    "largest λ": Output(_of_lam(_only_largest), "only the largest λ is kept"),
    "λ rounded": Output(_of_lam(lambda lam, c: np.round(lam, int(c))), "λ is rounded to {} decimals",
                        (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)),
    "λ of unit rows": Output(lambda pair, program, c: (pair[0], pair[1] * _lengths(program)), "‖Bᵢ‖λᵢ is returned, the "
                             "multiplier of the row divided by its length"),
    "λ by lengths": Output(lambda pair, program, c: (pair[0], pair[1] / np.maximum(_lengths(program), 1e-300)),
                           "λᵢ/‖Bᵢ‖ is returned in place of λᵢ"),
    "λ by squares": Output(lambda pair, program, c: (pair[0], pair[1] / np.maximum(_lengths(program) ** 2, 1e-300)),
                           "λᵢ/‖Bᵢ‖² is returned in place of λᵢ"),
    "least squares": Output(_least_squares(_all), "λ is the least-squares solution of Bᵀλ = ∇_y g over all rows, slack "
                            "ones too"),
    "least squares ≥ 0": Output(_least_squares(_all, cut=True), "λ is the least-squares solution of Bᵀλ = ∇_y g over "
                                "all rows, cut off at 0"),
    "touching": Output(_least_squares(_touching), "λ is the least-squares solution of Bᵀλ = ∇_y g over the rows that "
                       "touch"),
    "each alone": Output(_each_alone, "each touching row's λ is Bᵢ·∇_y g/‖Bᵢ‖², as if it were the only one"),
    "gradient pull": Output(lambda pair, program, c: (pair[0], program.B @ (program.G @ pair[0] + program.q)), "λ is "
                            "B ∇_y g, no solution of Bᵀλ = ∇_y g"),
    "h as λ": Output(lambda pair, program, c: (pair[0], program.violated(pair[0])), "h is returned in place of λ"),
    "slack as λ": Output(lambda pair, program, c: (pair[0], -program.violated(pair[0])), "the slacks −h are returned "
                         "in place of λ"),
    "violations as λ": Output(lambda pair, program, c: (pair[0], np.maximum(program.violated(pair[0]), 0.0)),
                              "max(h, 0) is returned in place of λ"),
    "y = 0": Output(_of_y(lambda y, c: 0 * y), "y = 0 is returned"),
    "−y": Output(_of_y(lambda y, c: -y), "−y is returned in place of y"),
    "y scaled": Output(_of_y(lambda y, c: c * y), "{}·y is returned in place of y", ()),
    "y raised": Output(_of_y(lambda y, c: y + c), "{} is added to every entry of y", ()),
    "y reversed": Output(_of_y(lambda y, c: y[::-1]), "y is returned in reversed order"),
    "y next": Output(_of_y(lambda y, c: np.roll(y, 1)), "the entries of y are moved on by one place"),
    "y ≥ 0": Output(_of_y(lambda y, c: np.maximum(y, 0.0)), "negative entries of y are replaced by 0"),
    "|y|": Output(_of_y(lambda y, c: np.abs(y)), "|y| is returned in place of y"),
    "y cut": Output(_of_y(lambda y, c: np.clip(y, -c, c)), "y is cut off at ±{}", ()),
    "y rounded": Output(_of_y(lambda y, c: np.round(y, int(c))), "y is rounded to {} decimals",
                        (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)),
    "both rounded": Output(lambda pair, program, c: (np.round(pair[0], int(c)), np.round(pair[1], int(c))),
                           "y and λ are rounded to {} decimals", (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)),
    "both scaled": Output(lambda pair, program, c: (c * pair[0], c * pair[1]), "{}·y and {}·λ are returned", ()),
    "free y": Output(lambda pair, program, c: (program.free, pair[1]), "y is the minimiser without rows"),
}  # fmt: skip
"""All of them; those without numbers have one that is measured."""

NEUTRAL = ("solved λ", "|λ|", "λ ≥ 0", "touching")
"""Those that leave the right pair as it is."""
