"""What a check measured: numbers with their uncertainty, and how they were obtained. No opinions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, get_args

from pydantic import ConfigDict, Field, GetJsonSchemaHandler, SerializerFunctionWrapHandler, model_serializer
from pydantic_core import CoreSchema

from spec import files

Rung = Literal["certified", "symbolic", "numeric", "statistical", "cited"]
"""How evidence was obtained, strongest first; what is cited was not computed here at all."""

Role = Literal["conclusion", "support"]
"""What decides the verdict, and what is shown beside it."""

Law = Literal[
    "variance (chi-square)", "variances along directions (chi-square)", "correlations (bilinear)",
    "mean square (bets)", "exponent (log chi-square)", "exponent (mean squares)", "exponent (order statistics)",
    "exponent (empirical Bernstein)", "exponent (sub-Gaussian)",
    "bounded mean (Bernstein)", "median (order statistics)",
    "different answers (fourth moment)", "repeats (lots)", "mean (bets)", "variance (bets)", "draws (bets)",
    "variances along directions (bets)",
]  # fmt: skip
"""Which exact law or bound a stochastic decision rests on; ``f2csa calibrate`` runs every one of them."""

WeakLaw = Literal[
    "mean (Hotelling, calls)", "variance (scatter of squares)",
    "variances along directions (scatter of squares)", "correlations (normal scores)",
    "exponent (scatter of squares)",
    "exponent (mean squares, scatter of squares)",
]  # fmt: skip
"""What takes their place on samples that do not have the shape those laws are about; it assumes less of them."""

LAWS: tuple[str, ...] = (*get_args(Law), *get_args(WeakLaw))
STANDS_FOR: dict[str, Law] = {
    "mean (Hotelling, calls)": "mean (bets)",
    "variance (scatter of squares)": "variance (chi-square)",
    "variances along directions (scatter of squares)": "variances along directions (chi-square)",
    "correlations (normal scores)": "correlations (bilinear)",
    "exponent (scatter of squares)": "exponent (log chi-square)",
    "exponent (mean squares, scatter of squares)": "exponent (mean squares)",
}  # fmt: skip
"""The law in whose place another is taken."""

RUNGS: tuple[Rung, ...] = ("certified", "symbolic", "numeric", "statistical", "cited")
PROVEN: Literal["proven"] = "proven"
"""The rung above them: a theorem for every problem. A statement stands on it, never a result: those are measured."""


def weakest(rungs: Iterable[Rung | None]) -> Rung | None:
    """The weakest rung among some."""
    present = [rung for rung in rungs if rung is not None]
    return max(present, key=RUNGS.index, default=None)


class FrozenData(files.Frozen):
    """Plain data: frozen, closed, its infinities written as strings."""

    # Infinities are honest here (an error that is exactly zero has an infinite exponent) and survive JSON as strings.
    model_config = ConfigDict(ser_json_inf_nan="strings")


class Point(FrozenData):
    """One measurement of a sweep.

    Args:
        at: Value of the swept variable.
        measured: Measured quantity, >= 0.
        uncertainty: Half-width within which the ideal value lies (rounding, or sampling at the stated error rate).
        predicted: The value derived independently, if known.
        usable: Whether it entered the fit; points below the floating-point floor do not.
    """

    at: float
    measured: float
    uncertainty: float = 0.0
    predicted: float | None = None
    usable: bool = True


class CertifiedBound(FrozenData):
    """``norm <= constant * variable**exponent`` (or >=) for all values in (0, end], proven and checked again.

    Args:
        side: ``upper`` or ``lower``.
        exponent: The power.
        constant: C.
        end: Right end of the interval, included.
        tightness: C over the largest value met: no constant better by more than this factor exists; 1: none better.
        certificates: The proof as data; :mod:`verify.truth.certificates.checker` verifies each without the code that
            made it. With several, each bounds the effect of one unit error, and their constants combine to C by the
            root of the sum of squares, which bounds the effect of every error of norm 1.
        worst_case: Whether the bound holds for every allowed error, not only for the one spent; a lower bound is about
            the one spent.
    """

    side: Literal["upper", "lower"]
    exponent: int
    constant: float
    end: float
    tightness: float
    certificates: tuple[dict[str, object], ...] = Field(repr=False)
    worst_case: bool


class ClosedForm(FrozenData):
    """A rate's quantity as a formula in its variable, derived for this one instance and held against two others.

    Args:
        text: The formula in one line, or its first terms.
        latex: The same.
        whole: Whether it is all of it.
        values: Where it was held, with its value there: each equals, as a rational, what was derived without it, and
            its first term does too. Anything else is a fault.
        measured: Whether the subject's own sweep agrees within its uncertainty; for the reference all else is a fault.
    """

    text: str
    latex: str
    whole: bool
    values: tuple[tuple[float, float], ...]
    measured: bool


class RateEvidence(FrozenData):
    """How a quantity scales with one variable.

    Args:
        kind: ``rate``.
        quantity: What was measured.
        variable: What was swept, a key of the bound's exponents.
        points: The sweep.
        exponent: Best estimate of the power; ``inf`` where the quantity is exactly zero.
        interval: Encloses the exponent, from local exponents, their drift and the points' uncertainties.
        local_exponents: Between neighbouring usable points, towards the limit.
        settled: Whether the local exponents have stopped drifting.
        floor: Value of the variable beyond which double precision stops being meaningful, if the sweep reached it.
        rung: How the points were obtained.
        error_rate: Probability that the interval misses, for statistical points.
        role: ``conclusion`` decides the verdict; ``support`` is shown beside it.
        coefficient: Norm of the leading coefficient, where the expansion is exact.
        bounds: Bounds proven for all values of the variable in an interval.
        detectable: Smallest deviation of the exponent that would have been seen, for statistical points.
        power: Probability with which it would have been seen.
        samples: Samples drawn.
        samples_needed: Samples at which the interval would resolve a tenth of an order.
        law: What the error rate rests on.
        checked: What the samples say of the shape that the law is about.
        limit: Where a law that the noise hides a bend of may lead, at the same error; none where the interval says it.
        limit_missed: The same at the probability with which a violation may be missed.
        closed_form: The quantity as a formula, on instances small enough to derive one.
        formula_order: Exact order of the formula whose values the points predict.
        agreement: Share by which a constant multiple of the formula may miss the quantity anywhere on the range, at the
            same error; none where all miss it.
        function_class: Functions within which samples on the range tell an order; without, they tell none.
        class_orders: The orders that a class of rational functions leaves; first above last where it has none.
        held_at: Where a program other than the reference was held against this exact rate: it is about the formulas,
            and about the program at these values of the variable only.
    """

    kind: Literal["rate"] = "rate"
    quantity: str
    variable: str
    points: tuple[Point, ...]
    exponent: float
    interval: tuple[float, float]
    local_exponents: tuple[float, ...] = ()
    settled: bool = True
    floor: float | None = None
    rung: Rung = "numeric"
    error_rate: float | None = None
    role: Role = "conclusion"
    coefficient: float | None = None
    bounds: tuple[CertifiedBound, ...] = ()
    detectable: float | None = None
    power: float | None = None
    samples: int | None = None
    samples_needed: int | None = None
    law: Law | WeakLaw | None = None
    checked: str | None = None
    limit: tuple[float, float] | None = None
    limit_missed: tuple[float, float] | None = None
    closed_form: ClosedForm | None = None
    formula_order: float | None = None
    agreement: float | None = None
    function_class: str | None = None
    class_orders: tuple[float, float] | None = None
    held_at: tuple[float, ...] = ()

    @model_serializer(mode="wrap")
    def _told(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What says where a sampled order comes from is written of sampled orders alone."""
        return {name: value for name, value in write(self).items() if value is not None or name not in OF_SAMPLES}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """That of the fields, these not required."""
        schema = super().__get_pydantic_json_schema__(
            {k: part for k, part in core.items() if k != "serialization"}, handler
        )
        resolved = handler.resolve_ref_schema(schema)
        resolved["required"] = [name for name in resolved.get("required", []) if name not in OF_SAMPLES]
        return schema


OF_SAMPLES = ("formula_order", "agreement", "function_class", "class_orders")
Relation = Literal["<=", ">=", "=="]


def agrees(measured: float, relation: Relation, predicted: float, tolerance: float) -> bool:
    """Whether a relation holds within a tolerance; NaN never does."""
    if relation == "<=":
        return measured <= predicted + tolerance
    return measured >= predicted - tolerance if relation == ">=" else abs(measured - predicted) <= tolerance


class ComparisonEvidence(FrozenData):
    """A measured value beside a predicted one.

    Args:
        kind: ``comparison``.
        quantity: What was measured.
        measured: Its value; the worst over what was tried.
        relation: What should hold between measured and predicted.
        predicted: The derived or claimed value.
        tolerance: Allowed absolute slack, from rounding or sampling.
        context: Where it was measured, e.g. ``{"alpha": 0.1}``.
        rung: How it was obtained.
        error_rate: Probability of a wrong outcome, for statistical values.
        role: ``conclusion`` decides the verdict; ``support`` is shown beside it.
        detectable: Smallest violation that would have been refuted, in the measured units, for statistical values.
        wanted: Violation that must be detectable for the comparison to count as holding.
        power: Probability with which the smallest violation would have been refuted.
        samples: Samples drawn.
        samples_needed: Samples at which the wanted violation is detectable.
        law: What the error rate rests on.
        checked: What the samples say of the shape that the law is about.
        broken: An assumption that no law at hand does without and that the samples break; nothing is decided then.
        refuted_under: What a refutation takes for granted beside independent estimates, where that is not what a
            support does.
        supported_under: The same of a support: a class of laws that no sample can show.
    """

    kind: Literal["comparison"] = "comparison"
    quantity: str
    measured: float
    relation: Relation
    predicted: float
    tolerance: float = 0.0
    context: dict[str, float | str] = Field(default_factory=dict)
    rung: Rung = "numeric"
    error_rate: float | None = None
    role: Role = "conclusion"
    detectable: float | None = None
    wanted: float | None = None
    power: float | None = None
    samples: int | None = None
    samples_needed: int | None = None
    law: Law | WeakLaw | None = None
    checked: str | None = None
    broken: str | None = None
    refuted_under: str | None = None
    supported_under: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the relation holds within the tolerance; NaN never does."""
        return agrees(self.measured, self.relation, self.predicted, self.tolerance)

    @property
    def powered(self) -> bool:
        """Whether a violation of the wanted size would have been seen; always where none is named."""
        return self.wanted is None or (self.detectable is not None and self.detectable <= self.wanted * (1 + 1e-9))


VALUE = "has-a-value"
"""No hypothesis of a text: what a statement names has no value at the point, which leaves nothing to hold or fail."""


CONSTRUCTED = "met by construction"


class PremiseEvidence(FrozenData):
    """Whether a hypothesis of the claim is met on this instance.

    Args:
        kind: ``premise``.
        premise: Id of the premise in the claim's data.
        holds: Whether it is met here, as computed.
        satisfiable: Whether any instance or parameter in the claimed regime could meet it, as computed.
        finding: The numbers behind it, in a sentence; beginning with :data:`CONSTRUCTED` where the check itself sees to
            it, by what it chooses.
    """

    kind: Literal["premise"] = "premise"
    premise: str
    holds: bool
    satisfiable: bool = True
    finding: str

    @property
    def is_constructed(self) -> bool:
        """Whether it is no property of the instance, but of what the check chose."""
        return self.finding.startswith(CONSTRUCTED)


Evidence = Annotated[RateEvidence | ComparisonEvidence | PremiseEvidence, Field(discriminator="kind")]


class Counterexample(FrozenData):
    """An instance on which a claim fails, complete enough to check by hand.

    Args:
        problem: The problem file's content, canonical.
        x: The upper-level point.
        values: The numbers that matter, by name.
        note: One or two sentences to follow by hand.
    """

    problem: dict[str, Any]
    x: list[str] = Field(default_factory=list)
    values: dict[str, float | str] = Field(default_factory=dict)
    note: str = ""


LETTERS = {"alpha": "α", "inner_tol": "δ", "epsilon": "ε", "goldstein_radius": "δ", "eta": "η",
           "sigma": "σ"}  # fmt: skip
"""Letters of the paper for the variables of a sweep."""
