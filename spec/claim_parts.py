"""What a claim is made of: bounds, premises, the inferences of a proof, and what is asserted under a reading."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from spec.errors import InvalidInputError
from spec.files import Frozen
from spec.formulas import Node, latex, parse_formula
from spec.formulas.bounds import bound_of
from spec.reading import chosen_by, find_choice

Relation = Literal["upper", "lower"]
ReadingName = Literal["as-written", "repaired"]
Tag = Literal["upper", "lower", "tight", "equality"]
Exponent = Annotated[Fraction, BeforeValidator(Fraction), PlainSerializer(str)]


class Inference(Frozen):
    """One inequality of a proof step, with the order the text reads off it.

    Args:
        quantity: Name of what is bounded, for later steps to use; empty if the step only collects hypotheses.
        relation: Bounded from above (O) or from below (Omega).
        bound_by: The bound as an expression; empty with ``quantity``.
        asserted: The order asserted; empty for the exponents of the assertion's own bound.
        given: Orders the text plugs in here, by name: of a quantity (then its source must provide it) or of a
            variable (then it is a choice, such as ``alpha = "epsilon"``).
        hypotheses: Inequalities assumed here, such as ``"alpha >= C_f / mu_g"``.
        provided: Inequalities without which the bound is not valid.
        variables: What the order is meant in, all else held fixed; empty for the variables of the assertion's bound,
            or alpha.
        everywhere: Whether it is meant for all values of these variables, not only near their limits.
        by: Where the bound comes from, in a few words.
    """

    quantity: str = Field(default="", pattern=r"^([A-Za-z]\w*)?$")
    relation: Relation = "upper"
    bound_by: str = ""
    asserted: str = ""
    given: dict[str, str] = Field(default_factory=dict)
    hypotheses: tuple[str, ...] = ()
    provided: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    everywhere: bool = False
    by: str = Field(min_length=1)


class Bound(Frozen):
    """What is bounded, and how fast the bound moves.

    Args:
        quantity: The measured quantity, in words or a formula of our notation.
        exponents: Claimed power of each variable, e.g. ``{"alpha": "1"}``; empty for a plain comparison of a
            measured with a predicted value.
        toward: Where the variables tend.
        tag: ``upper`` (O), ``lower`` (Omega), ``tight`` (Theta) or ``equality``.
    """

    quantity: str = Field(min_length=1)
    exponents: dict[str, Exponent] = Field(default_factory=dict)
    toward: Literal["zero", "infinity"] = "zero"
    tag: Tag = "upper"


class Assertion(Frozen):
    """What the paper asserts under one reading.

    Args:
        text: One or two sentences, in our words.
        formula: The same in the language of :mod:`spec.formulas`; then ``bound``, and ``latex`` where none is given,
            follow from it.
        latex: The same for display.
        bound: The measurable part.
        orders: The inequalities it is inferred from, with the order of each; empty where no order is inferred.
    """

    text: str = Field(min_length=1)
    formula: str = ""
    latex: str = ""
    bound: Bound
    orders: tuple[Inference, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _derived(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not data.get("formula") or isinstance(data.get("bound"), Bound):
            return data
        node = parse_formula(data["formula"])
        bound = Bound.model_validate(bound_of(node))
        if "bound" in data and Bound.model_validate(data["bound"]) != bound:
            raise InvalidInputError("bound", "must not be given beside a formula, which it follows from", data["bound"])
        return {"latex": latex(node), **data, "bound": bound}

    @property
    def proposition(self) -> Node | None:
        """The formula as a tree; ``None`` where there is none."""
        return parse_formula(self.formula) if self.formula else None


class Premise(Frozen):
    """A hypothesis a claim stands on.

    Args:
        id: Short name, unique in its claim.
        text: What must hold; one sentence for all readings, or one for each.
        formula: The same in the language of :mod:`spec.formulas`, one for all readings or one for each; then it is
            decided at each place before a check is asked.
        no_formula: Why it has none; a check spends it, or evaluates it.
        taken_from: Ids of the statements whose conclusion it is, where the text takes it from there and does not
            suppose it. Each is among what its statement rests on.
        granted: Why the authors are granted it though their text does not list it: so that what is asked has a sense,
            or is asked where its step is used; empty where the text lists it.
        choice: The choice that tells its two formulas apart, where it is one: then the value chosen decides which is
            asked, not the text's name.
        under: ``FIELD=VALUE`` where it is a hypothesis under one literal value of a choice only; its formula decides.
        latex: The same for display; from the formula where none is given.
        readings: Under which readings the claim asks for it.
        shown_by: Id of a statement that, as written, goes without it: its verdicts show whether it is needed.
        without: The choice of that statement that goes without it, where it makes several.
    """

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    text: Annotated[str, Field(min_length=1)] | dict[ReadingName, Annotated[str, Field(min_length=1)]]
    formula: str | dict[ReadingName, str] = ""
    no_formula: str = ""
    taken_from: tuple[str, ...] = ()
    granted: str = ""
    choice: str = ""
    under: str = ""
    latex: str = ""
    readings: tuple[ReadingName, ...] = ("as-written", "repaired")
    shown_by: str = ""
    without: str = ""

    @model_validator(mode="before")
    @classmethod
    def _shown(cls, data: Any) -> Any:
        if isinstance(data, dict) and (formula := data.get("formula")) and not data.get("latex"):
            texts = [formula] if isinstance(formula, str) else list(formula.values())
            return {**data, "latex": r"\quad\text{or}\quad ".join(latex(parse_formula(text)) for text in texts)}
        return data

    @model_validator(mode="after")
    def _one_for_each_reading(self) -> Self:
        if isinstance(self.formula, dict) and set(self.formula) != set(self.readings):
            raise InvalidInputError("formula", f"must have one for each of {', '.join(self.readings)}", self.formula)
        if isinstance(self.text, dict) and set(self.text) != set(self.readings):
            raise InvalidInputError("text", f"must have one for each of {', '.join(self.readings)}", self.text)
        if bool(self.formula) == bool(self.no_formula or self.taken_from):
            rule = "must stand where there is neither no_formula nor taken_from, and only there"
            raise InvalidInputError(f"{self.id}.formula", rule, self.formula)
        if self.choice and isinstance(self.formula, str):
            raise InvalidInputError("choice", "must come with a formula for each reading", self.choice)
        if self.under and not (chosen_by(self.under) and self.formula):
            raise InvalidInputError("under", "must come with a formula", self.under)
        if self.granted != self.granted.strip():
            raise InvalidInputError(f"{self.id}.granted", "must be a reason, without blanks around it", self.granted)
        if self.granted and ("as-written" not in self.readings or self.taken_from):
            rule = "must be of a premise that the text as written is asked with and does not take from a lemma"
            raise InvalidInputError(f"{self.id}.granted", rule, self.granted)
        for reading in self.readings:
            self.predicate(reading)
        return self

    @property
    def listed(self) -> bool:
        """Whether the paper's text asks for it: not where only the repaired one does, nor where it is granted."""
        return "as-written" in self.readings and not self.granted

    def words(self, reading: ReadingName | None = None) -> str:
        """What must hold under a reading, or of all readings in one sentence."""
        if isinstance(self.text, str):
            return self.text
        if reading is not None:
            return self.text[reading]
        told = (f"{text.rstrip('.')} ({name.replace('-', ' ')})" for name, text in self.text.items())
        return "; ".join(told) + "."

    def predicate(self, reading: ReadingName, choices: Mapping[str, str] | None = None) -> Node | None:
        """What is decided under a reading; ``None`` where it is not asked then, or has no formula."""
        if reading not in self.readings or not self.formula:
            return None
        if self.under and choices and not chosen_by(self.under).items() <= choices.items():
            return None
        if self.choice and choices:
            reading = "repaired" if choices[self.choice] == find_choice(self.choice).repaired else "as-written"
        return parse_formula(self.formula if isinstance(self.formula, str) else self.formula[reading])
