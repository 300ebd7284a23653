"""The paper's claims as data: one TOML file each under ``spec/claims/``, proof steps included.

A claim says what the paper asserts, under each reading, and what it rests on. It never says whether that
holds: verdicts are computed by ``verify`` from evidence alone.

Orders of the quantities in a proof are expressions: products and powers (``alpha_1 * inner_tol^2``, ``M^(1/2)``),
quotients and sums of named quantities; constants are left out. Whether an order follows is computed by ``verify``, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, product
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from spec.claim_parts import Assertion as Assertion
from spec.claim_parts import Bound as Bound
from spec.claim_parts import Inference as Inference
from spec.claim_parts import Premise as Premise
from spec.claim_parts import ReadingName as ReadingName
from spec.claim_parts import Relation as Relation
from spec.claim_parts import Tag as Tag
from spec.errors import InvalidInputError
from spec.files import Frozen, find_named, package_text, parse_toml
from spec.reading import KEEPING, NAMES, Interpretation, Reading, chosen_by, find_choice, is_repaired_text
from spec.works import find as find_work

ClaimKind = Literal["assumption", "lemma", "theorem", "remark", "experiment", "context", "consistency"]
TextRelation = Literal["said", "implied", "silent", "consequence"]
"""How a statement stands to the paper's words: they say it; they take it for granted; they say nothing of it; or it is
our consequence of what they say."""

Question = Literal["holds", "can-be-met", "falls-inside"]
"""What is asked of a statement: whether it holds; whether, as an assumption, it can be met; whether the paper's
experiment falls inside one."""

About = Literal["subject", "mathematics", "paper"]
"""Whom a statement is about: the program under test; problems and formulas, whatever the program; the paper's own data
and citations."""

ORDER = (
    "smoothness", "lipschitz-solution", "stochastic-oracles", "dual-extraction", "solution-error", "bias-bound",
    "variance-bound", "hypergradient-accuracy", "inner-cost", "inner-loop-remark", "goldstein-convergence",
    "sfo-complexity", "related-rates", "convergence-experiment", "scaling-experiment", "background", "consistency",
)  # fmt: skip
"""Claim ids in the paper's order. Ids never change once released."""


class Statement(Frozen):
    """What a claim and a proof step have in common.

    Args:
        id: ``bias-bound``, or ``T1`` for a step (whose full id is ``bias-bound/T1``).
        title: A few words.
        about: Whom it is about; a program under test is asked, and credited, what is about the ``subject`` alone.
        relation: How it stands to the paper's words.
        beside: Why it is among the claims where no assertion of the paper asks for it.
        question: What is asked of it.
        location: Where it stands in the paper.
        statement: In our words.
        latex: As a formula for display.
        choices: Fields of :class:`Reading` that this very text decides; only these are set to as-written when the
            claim is judged as written, so that one error cannot hide another.
        axes: Further choices that what it measures hangs on, found by evaluating its formula: as written they are
            repaired, like all that this text does not decide, and it is asked under each of their literal values too.
        premises: Its hypotheses.
        goes_without: Ids of its claim's hypotheses that it does not ask for itself.
        regime: Range of the parameters in which it is asserted.
        as_written: What the literal text asserts. In a file a ``formula`` beside the two readings is that of both.
        repaired: What the repaired text asserts.
        rests_on: Ids it depends on.
        sources: Works by others that it rests on, by id (:mod:`spec.works`).
        left_open: Why nothing that is computed or was looked up decides it; empty where something can.
        asked_on: Instances of the atlas that a statement is asked on which its formula alone decides, the most telling
            first; empty where a check says where it is asked.
        no_formula: Why it has none in the language of :mod:`spec.formulas`; empty where it has, or waits for one.
        refuted_by: What observation would refute it.
    """

    id: str = Field(pattern=r"^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$")
    title: str = Field(min_length=1)
    about: About
    relation: TextRelation = "said"
    beside: str = ""
    question: Question = "holds"
    location: str = Field(min_length=1)
    statement: str = Field(min_length=1)
    latex: str = ""
    choices: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    premises: tuple[Premise, ...] = ()
    goes_without: tuple[str, ...] = ()
    regime: str = ""
    as_written: Assertion
    repaired: Assertion
    rests_on: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    left_open: str = ""
    asked_on: tuple[str, ...] = ()
    no_formula: str = ""
    refuted_by: str = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _one_formula(cls, data: Any) -> Any:
        """A formula beside the two readings is that of both."""
        if not isinstance(data, dict) or "formula" not in data:
            return data
        formula, readings = data["formula"], {name: data.get(name) for name in ("as_written", "repaired")}
        if any(not isinstance(asserted, dict) or "formula" in asserted for asserted in readings.values()):
            raise InvalidInputError("formula", "must stand beside two readings that have none of their own", formula)
        both = {name: {"formula": formula, **asserted} for name, asserted in readings.items() if asserted is not None}
        return {name: value for name, value in data.items() if name != "formula"} | both

    @model_validator(mode="after")
    def _known_choices(self) -> Self:
        for name in (*self.choices, *self.axes):
            find_choice(name)
        if twice := set(self.choices) & set(self.axes):
            raise InvalidInputError("axes", "must not name what choices names", min(twice))
        for premise in self.premises:
            if premise.under and not chosen_by(premise.under).keys() <= {*self.open_choices}:
                raise InvalidInputError(f"{premise.id}.under", "must name a choice of its statement", premise.under)
            if strange := set(premise.taken_from) - set(self.rests_on):
                rule = "must be among what its statement rests on"
                raise InvalidInputError(f"{premise.id}.taken_from", rule, min(strange))
        formulas = bool(self.as_written.formula or self.repaired.formula)
        if formulas and self.no_formula:
            raise InvalidInputError("no_formula", "must be empty where a reading has a formula", self.no_formula)
        if self.asked_on and not (self.as_written.formula and self.repaired.formula):
            raise InvalidInputError("asked_on", "must come with a formula under both readings", list(self.asked_on))
        return self

    def assertion(self, reading: str) -> Assertion:
        """What is asserted under a reading, by its name."""
        return self.repaired if is_repaired_text(reading) else self.as_written

    def interpreted(self, name: str) -> Interpretation:
        """The point of the lattice under which this text is judged, by its name.

        ``repaired``; ``as-written``, this text's own choices at their first literal value and all others repaired, so
        that one error cannot hide another; ``only:FIELD``, that one alone so; ``choose:FIELD=VALUE,...``, as-written
        but for the choices named; ``keep:FIELD=VALUE,...``, the repaired text but for them.

        Raises:
            InvalidInputError: If there is no such name, field or value.
        """
        written = self._written
        kind, _, rest = name.partition(":")
        if name in ("repaired", "as-written"):
            return Interpretation.of(written if name == "as-written" else {})
        if kind == "only" and rest in self.choices:
            return Interpretation.of({rest: written[rest]})
        if kind in ("choose", "keep") and (chosen := chosen_by(name)).keys() <= written.keys():
            return Interpretation.of((written if kind == "choose" else {}) | chosen)
        raise InvalidInputError("reading", NAMES, name)

    def reading(self, name: str) -> Reading:
        """What a program is told at that point."""
        return self.interpreted(name).reading

    @property
    def open_choices(self) -> tuple[str, ...]:
        """The choices whose literal values are its readings: its own, and those that it hangs on besides."""
        return (*self.choices, *self.axes)

    @property
    def _written(self) -> dict[str, str]:
        """What ``as-written`` makes of them."""
        own = {field: find_choice(field).as_written for field in self.choices}
        return own | {field: find_choice(field).repaired for field in self.axes}

    @property
    def literal_readings(self) -> tuple[str, ...]:
        """Every combination of literal values of its open choices, by name.

        ``as-written`` is the first of a text without further axes; else it is among them where the values at which
        these are held are literal, too.
        """
        values = [[(field, value) for value in find_choice(field).values] for field in self.open_choices]
        return tuple(self._named(dict(point)) for point in product(*values))

    @property
    def repairable(self) -> tuple[str, ...]:
        """The choices that the repaired text makes otherwise."""
        return tuple(field for field in self.choices if find_choice(field).is_repair)

    @property
    def repairs(self) -> dict[tuple[str, ...], str]:
        """The literal assertion with some of its choices repaired, smallest sets first: the choices, and the name."""
        sets = (s for k in range(1, len(self.repairable) + 1) for s in combinations(self.repairable, k))
        return {s: self._named({field: find_choice(field).repaired for field in s}) for s in sets}

    @property
    def kept(self) -> dict[tuple[str, ...], str]:
        """The repaired text with fewer of its choices repaired, smallest sets first: the choices, and the name."""
        written = {field: find_choice(field).as_written for field in self.repairable}
        sets = (chosen for k in range(len(written)) for chosen in combinations(written, k))
        return {s: KEEPING + ",".join(f"{f}={v}" for f, v in written.items() if f not in s) for s in sets}

    def _named(self, values: dict[str, str]) -> str:
        """The name of as-written with some choices made otherwise."""
        written = self._written
        other = {field: values[field] for field in written if values.get(field, written[field]) != written[field]}
        left = [field for field in self.repairable if field not in other]
        if len(left) == 1 and len(other) > 0 and all(v == find_choice(f).repaired for f, v in other.items()):
            return f"only:{left[0]}"
        return "choose:" + ",".join(f"{k}={v}" for k, v in other.items()) if other else "as-written"


class ProofStep(Statement):
    """One step of a proof, or one separate conclusion of a statement.

    Args:
        role: ``statement`` if the claim itself asserts it (then the claim falls with it), ``proof`` if only the
            argument passes through it, ``note`` if the paper says it beside a claim that may stand without it.
    """

    role: Literal["statement", "proof", "note"] = "proof"


class Claim(Statement):
    """One lemma, theorem, remark, assumption or experiment.

    Args:
        kind: What the paper calls it.
        label: Its label in the paper's source.
        steps: Its proof, step by step.
    """

    kind: ClaimKind
    label: str = ""
    steps: tuple[ProofStep, ...] = ()

    def parts(self, reading: str) -> tuple[str, ...]:
        """Full ids of the steps that are part of its statement and that it falls with under a reading.

        What the text does not say in words cannot fell it as written.
        """
        own = [step for step in self.steps if step.role == "statement"]
        return tuple(f"{self.id}/{step.id}" for step in own if reading == "repaired" or step.relation == "said")

    def statements(self) -> Iterator[tuple[str, Statement]]:
        """The claim and its steps, each with its full id."""
        yield self.id, self
        for step in self.steps:
            yield f"{self.id}/{step.id}", step


@lru_cache(maxsize=1)
def load_claims() -> dict[str, Claim]:
    """All claims by id, in the paper's order.

    Raises:
        InvalidInputError: If a file is malformed, an id repeats or a dependency is unknown.
    """
    claims = {name: _load(name, package_text(f"claims/{name}.toml")) for name in ORDER}
    known = {full for claim in claims.values() for full, _ in claim.statements()}
    for claim in claims.values():
        for full, statement in claim.statements():
            unheld = set(statement.goes_without) - {premise.id for premise in claim.premises}
            if unheld:
                raise InvalidInputError(f"{full}.goes_without", "must name premises of its claim", min(unheld))
            missing = [target for target in statement.rests_on if target not in known]
            if missing:
                raise InvalidInputError(f"{full}.rests_on", "must name known claims or steps", missing[0])
            unknown = [p.shown_by for p in statement.premises if p.shown_by and p.shown_by not in known]
            if unknown:
                raise InvalidInputError(f"{full}.premises.shown_by", "must name a known claim or step", unknown[0])
            for source in statement.sources:
                find_work(source)
    return claims


def _load(name: str, text: str) -> Claim:
    where = f"claims/{name}.toml"
    claim = parse_toml(Claim, text, where)
    if claim.id != name:
        raise InvalidInputError(f"{where}.id", f"must be {name!r}", claim.id)
    steps = [step.id for step in claim.steps]
    if len(set(steps)) != len(steps):
        raise InvalidInputError(f"{where}.steps", "ids must not repeat", steps)
    return claim


def find(full_id: str) -> Statement:
    """Look a claim or step up by full id.

    Raises:
        InvalidInputError: If there is none, naming the nearest known ids.
    """
    return find_named(_statements(), full_id, "claim", "must be a known claim or step", "`f2csa claims` lists them")


def premises_of(full_id: str, reading: ReadingName | None = None) -> tuple[Premise, ...]:
    """A statement's premises: its claim's but those that it goes without, then its own.

    Args:
        full_id: The statement.
        reading: The reading under which they are asked for, where a premise of its own stands in for its claim's of
            that id; whatever the reading if ``None``.

    Raises:
        InvalidInputError: If there is no such statement.
    """
    statement, claim = find(full_id), find(full_id.partition("/")[0])
    inherited = () if statement is claim else claim.premises
    premises = (*(one for one in inherited if one.id not in statement.goes_without), *statement.premises)
    return premises if reading is None else tuple({p.id: p for p in premises if reading in p.readings}.values())


@lru_cache(maxsize=1)
def _statements() -> dict[str, Statement]:
    return dict(entry for claim in load_claims().values() for entry in claim.statements())
