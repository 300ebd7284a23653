"""One complete resolution of the choices the paper's text leaves open."""

from __future__ import annotations

import tomllib
from typing import Any, Literal, NamedTuple, Self, get_args

from spec.errors import InvalidInputError
from spec.files import Frozen, package_text

DualTerm = Literal["frozen", "map", "both-maps", "cancelled"]
"""What of ``alpha_1 (lam' h(x, y) - g(x, y*))`` the derivative in x sees; see :class:`Reading`."""


class Reading(Frozen):
    """How the paper is read; each field is one open choice, its default the repaired one.

    Args:
        dual_term: Differentiating the penalty Lagrangian in x, is ``y*_hat`` in the value term ``-g(x, y*_hat)``
            frozen, so that ``alpha_1 A' lam_hat`` stays; is it a map of x, or are both it and ``lam_hat`` maps, each
            differentiated; or does the value term carry the multiplier so that the dual term cancels?
        noise_pairing: Do ``g(x, y_hat)`` and ``g(x, y*_hat)`` of one sample see independent draws or the same?
        ramp_width: Is the activation's ramp tau * delta wide (delta^2), or Theta(delta)?
        inner_stop: Is the penalty minimiser stopped by distance delta, or by its gradient norm alpha?
        alpha_range: Must alpha be at least 2 C_f / mu_g, or at most sqrt(mu_g / (2 C_f))?
        primal_dual_sign: Is the primal step ``y - eta (grad g + B' lam)`` or with ``- B' lam``?
        inner_solver: Constant-step iteration, decreasing step with averaging, or one shared sample?
        outer_batch: ``N_g = sigma^2 / alpha^2`` samples an outer step, or a single one?

    Source: see :data:`CHOICES` for the place of each in the paper.
    """

    dual_term: DualTerm = "cancelled"
    noise_pairing: Literal["independent", "common"] = "common"
    ramp_width: Literal["tau-delta", "delta"] = "delta"
    inner_stop: Literal["distance", "gradient"] = "gradient"
    alpha_range: Literal["lower-bound", "upper-bound"] = "upper-bound"
    primal_dual_sign: Literal["plus", "minus"] = "minus"
    inner_solver: Literal["constant-step", "averaged", "shared-sample"] = "averaged"
    outer_batch: Literal["sigma2-over-alpha2", "single"] = "single"

    def choose(self, /, **choices: str) -> Self:
        """The same reading with some choices changed.

        Raises:
            InvalidInputError: If a field is unknown or a value not among its alternatives.
        """
        for name, value in choices.items():
            if name not in type(self).model_fields:
                raise InvalidInputError("reading", f"must be one of {', '.join(type(self).model_fields)}", name)
            allowed = alternatives(name)
            if value not in allowed:
                raise InvalidInputError(f"reading.{name}", f"must be one of {', '.join(allowed)}", value)
        return type(self).model_validate(self.model_dump() | choices)

    def choose_from_text(self, assignments: list[str]) -> Self:
        """The same reading after ``FIELD=VALUE`` assignments, as given on a command line."""
        chosen: dict[str, str] = {}
        for text in assignments:
            name, equals, value = text.partition("=")
            if not equals:
                raise InvalidInputError("--choose", "must have the form FIELD=VALUE", text)
            chosen[name.strip().replace("-", "_")] = value.strip()
        return self.choose(**chosen)

    def differences(self, other: Reading) -> dict[str, Any]:
        """Fields of this reading whose value differs from the other's."""
        mine, theirs = self.model_dump(), other.model_dump()
        return {name: value for name, value in mine.items() if theirs[name] != value}


def alternatives(field: str) -> tuple[str, ...]:
    """The values one choice can take."""
    return get_args((Reading.model_fields | Sense.model_fields)[field].annotation)


REPAIRED = Reading()
"""The choices under which the mathematics holds."""


class Sense(Frozen):
    """How the words are read where no program sees it, hypotheses and quotations; each default is the repaired one.

    Args:
        constrained_by: Is a bilevel problem called constrained for rows of its lower level, or for that y solves it?
        multiplier_width: May the width eps_lam of the multiplier's ramp shrink with delta, or is it fixed?
        accuracy: Are the lower level's errors of size delta surely, in the mean, or in mean square?
        domain: Do hypotheses on f and g hold on X times all of R^m, or on a compact set of (x, y)?
        inner_workload: Does the work of the inner loops count the solves of the lower level and of the penalty problem,
            or those of the lower level alone?
        batches: Does an iteration of the inner solver take one sample, or a batch that grows from one to the next?
        objective: Is the objective of SVRG an expectation, known through noisy gradients, or a finite sum?
        linear_algebra: How do the compared methods solve the linear system of their implicit gradients?
        noisy_terms: Is the experiments' noise on the terms with drawn matrices, or on xᵀy too?
        given: Is a variance "given x, lam_hat and y_hat" taken given these stages alone, or given y*_hat as well?
        upper_scale: Eigenvalues of the experiments' Q_u from 1 to its condition number, or so many times that?
        upper_set: Is the upper variable held to a closed convex set X, or is X all of R^n?
        constants: Is a Lipschitz constant that a lemma assumes that of the L of each alpha, or one number for all?
        weights: Are the weights rho in L numbers once computed, or maps of x, which its derivative in x sees?
        expectation: Is a mean without a condition over all that is random, or given the stages or steps before?
        alpha_size: May a condition on alpha be met by any alpha > 0, or by an accuracy, at most 1?
        at_kinks: Is the gradient of F where there is none one from Clarke's subdifferential, or any value, or is it
            supposed to exist wherever the oracle is asked?
    """

    constrained_by: Literal["rows", "solution"] = "solution"
    multiplier_width: Literal["shrinking", "fixed"] = "fixed"
    accuracy: Literal["mean", "sure", "mean-square"] = "mean-square"
    domain: Literal["whole-space", "compact"] = "compact"
    inner_workload: Literal["both", "lower-level"] = "both"
    batches: Literal["one", "growing"] = "one"
    objective: Literal["expectation", "finite-sum"] = "finite-sum"
    linear_algebra: Literal["conjugate-gradients", "free-block", "full-cholesky", "full-system"] = "free-block"
    noisy_terms: Literal["matrices", "all"] = "matrices"
    given: Literal["named", "all-stages"] = "all-stages"
    upper_scale: Literal["1", "10", "30"] = "1"
    upper_set: Literal["convex", "whole-space"] = "whole-space"
    constants: Literal["derived", "assumed"] = "derived"
    weights: Literal["frozen", "map"] = "frozen"
    expectation: Literal["all", "given"] = "all"
    alpha_size: Literal["any", "at-most-1"] = "any"
    at_kinks: Literal["clarke", "any", "exists"] = "clarke"


class Literally(NamedTuple):
    """One value of a choice that the paper's words allow, in a few words, and the passage that it rests on."""

    value: str
    words: str
    passage: str


class Choice(NamedTuple):
    """One open choice: where the paper leaves it open, its literal values, and what hangs on it.

    ``as_written`` is the literal value that the reading of that name takes, the first of ``literal``. It may be the
    repaired one, too: then the choice is no repair, and only its other literal values are readings beside.
    """

    field: str
    location: str
    as_written: str
    repaired: str
    repaired_words: str
    matters: str
    literal: tuple[Literally, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """The literal values."""
        return tuple(one.value for one in self.literal)

    @property
    def is_repair(self) -> bool:
        """Whether the repaired text makes it otherwise than the text as written."""
        return self.as_written != self.repaired

    def words(self, value: str) -> str:
        """A value in a few words."""
        return {self.repaired: self.repaired_words, **{one.value: one.words for one in self.literal}}.get(value, value)


def _choice(row: dict[str, Any]) -> Choice:
    literal = tuple(Literally(**one) for one in row.pop("literal"))
    return Choice(**row, literal=literal)


CHOICES = tuple(_choice(row) for row in tomllib.loads(package_text("choices.toml"))["choices"])
"""Of the program, then of the text, in the order of the fields of :class:`Reading` and :class:`Sense`."""
AS_WRITTEN = Reading.model_validate({c.field: c.as_written for c in CHOICES if c.field in Reading.model_fields})
"""The literal text; where its words allow several values, the least favourable one."""
NAMED: dict[str, Reading] = {"as-written": AS_WRITTEN, "repaired": REPAIRED}


def find_choice(field: str) -> Choice:
    """A choice by its field.

    Raises:
        InvalidInputError: If there is none of that name.
    """
    known = {choice.field: choice for choice in CHOICES}
    if field not in known:
        raise InvalidInputError("choices", f"must be one of {', '.join(known)}", field)
    return known[field]


NAMES = "must be as-written, repaired, only:FIELD, choose:... or keep:FIELD=VALUE,... with choices of the statement"
"""How a point of a statement's lattice of readings is named."""
KEEPING = "keep:"
"""What the name of a repaired text begins with that leaves some choices as they are."""


def is_repaired_text(name: str) -> bool:
    """Whether a reading of this name asserts what the repaired text does, under its hypotheses."""
    return name == "repaired" or name.startswith(KEEPING)


def chosen_by(name: str) -> dict[str, str]:
    """Values by field of a reading's name ``choose:FIELD=VALUE,...`` or ``keep:FIELD=VALUE,...``.

    Raises:
        InvalidInputError: If it has another form, or a field or value is unknown.
    """
    chosen: dict[str, str] = {}
    for part in name.removeprefix("choose:").removeprefix(KEEPING).split(","):
        field, _, value = (text.strip() for text in part.partition("="))
        if field in chosen:
            raise InvalidInputError("reading", "must choose each field once", name)
        choice = find_choice(field)
        allowed = list(dict.fromkeys([*choice.values, choice.repaired]))
        if value not in allowed:
            raise InvalidInputError(f"reading.{field}", f"must be one of {', '.join(allowed)}", value)
        chosen[field] = value
    return chosen


class Interpretation(NamedTuple):
    """One point of the lattice of readings: every choice of the program and of the text made."""

    reading: Reading
    sense: Sense

    @classmethod
    def of(cls, values: dict[str, str]) -> Interpretation:
        """The repaired one with some choices made otherwise, by field."""
        chosen = {k: v for k, v in values.items() if k in Reading.model_fields}
        sense = {k: v for k, v in values.items() if k in Sense.model_fields}
        return cls(REPAIRED.choose(**chosen), Sense.model_validate(sense))
