"""What the paper says: problems, parameters, readings and claims as typed, frozen data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spec.blocks.noise import Noise
from spec.blocks.quadratic import Constraints, Quadratic, QuadraticForm
from spec.errors import InvalidInputError
from spec.exact import ExactArray
from spec.parameters import OracleParameters, OuterParameters, PenaltyParameters
from spec.problem import (
    Generated,
    Holder,
    Problem,
    digest,
    dumps_problem,
    load_problem,
    loads_problem,
    parse_problem,
    save_problem,
)
from spec.reading import AS_WRITTEN, CHOICES, REPAIRED, Choice, Reading, Sense

if TYPE_CHECKING:
    from spec.claims import Assertion, Bound, Claim, Premise, ProofStep, Statement, load_claims

__all__ = [
    "AS_WRITTEN", "CHOICES", "REPAIRED", "Assertion", "Bound", "Choice", "Claim", "Constraints", "ExactArray",
    "Generated", "Holder", "InvalidInputError", "Noise", "OracleParameters", "OuterParameters", "PenaltyParameters",
    "Premise", "Problem", "ProofStep", "Quadratic", "QuadraticForm", "Reading", "Sense", "Statement",
    "digest", "dumps_problem", "load_claims", "load_problem", "loads_problem", "parse_problem", "save_problem",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # Imported on first use: a solver, or a subject's process, asks for no claim.
    if name in __all__:
        from spec import claims

        return getattr(claims, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
