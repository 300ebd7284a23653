"""What the paper does: Algorithms 1 and 2 in plain numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import f2csa_ref.own_spec  # noqa: F401  # first, so that all else finds it
from f2csa_ref.lower_level import LowerLevelError, LowerLevelSolution, lower_level, lower_level_runs, primal_dual
from f2csa_ref.penalty_minimiser import PenaltySolution, penalty_minimiser

if TYPE_CHECKING:
    from f2csa_ref.accuracy.wanted_error import Accuracy, AccurateAnswer, hypergradient_within
    from f2csa_ref.activation import activation_weights
    from f2csa_ref.algorithm_1 import Hypergradient, OracleCall, Stages, hypergradient
    from f2csa_ref.algorithm_2 import OuterTrace, box_projection, clip, outer_loop
    from f2csa_ref.certificate.error_certificate import ErrorCertificate
    from f2csa_ref.certificate.map_constants import Assumed
    from f2csa_ref.certificate.near_kinks import HullDistance
    from f2csa_ref.many.hypergradient_runs import hypergradient_runs, hypergradient_samples
    from f2csa_ref.many.penalty_runs import penalty_runs
    from f2csa_ref.objectives import (
        HolderObjectives,
        Objectives,
        QuadraticObjectives,
        SmoothObjectives,
        objectives_of,
    )
    from f2csa_ref.penalty import PenaltyLagrangian, penalty_parameters
    from f2csa_ref.sampling import Draws, draw_shapes, sample_draws
    from f2csa_ref.solver.schedules import Constants, estimate_constants, schedule
    from f2csa_ref.whole_solve.solve import Setting, SolveReport, solve

__all__ = [
    "Accuracy",
    "AccurateAnswer",
    "Assumed",
    "Constants",
    "Draws",
    "ErrorCertificate",
    "HolderObjectives",
    "HullDistance",
    "Hypergradient",
    "LowerLevelError",
    "LowerLevelSolution",
    "Objectives",
    "OracleCall",
    "OuterTrace",
    "PenaltyLagrangian",
    "PenaltySolution",
    "QuadraticObjectives",
    "Setting",
    "SmoothObjectives",
    "SolveReport",
    "Stages",
    "activation_weights",
    "box_projection",
    "clip",
    "draw_shapes",
    "estimate_constants",
    "hypergradient",
    "hypergradient_runs",
    "hypergradient_samples",
    "hypergradient_within",
    "lower_level",
    "lower_level_runs",
    "objectives_of",
    "outer_loop",
    "penalty_minimiser",
    "penalty_parameters",
    "penalty_runs",
    "primal_dual",
    "sample_draws",
    "schedule",
    "solve",
]

_HOMES = {
    "f2csa_ref.activation": "activation_weights",
    "f2csa_ref.algorithm_1": "Hypergradient OracleCall Stages hypergradient",
    "f2csa_ref.algorithm_2": "OuterTrace box_projection clip outer_loop",
    "f2csa_ref.certificate.error_certificate": "ErrorCertificate",
    "f2csa_ref.many.hypergradient_runs": "hypergradient_runs hypergradient_samples",
    "f2csa_ref.many.penalty_runs": "penalty_runs",
    "f2csa_ref.certificate.map_constants": "Assumed",
    "f2csa_ref.certificate.near_kinks": "HullDistance",
    "f2csa_ref.objectives": "HolderObjectives Objectives QuadraticObjectives SmoothObjectives objectives_of",
    "f2csa_ref.penalty": "PenaltyLagrangian penalty_parameters",
    "f2csa_ref.sampling": "Draws draw_shapes sample_draws",
    "f2csa_ref.solver.schedules": "Constants estimate_constants schedule",
    "f2csa_ref.whole_solve.solve": "Setting SolveReport solve",
    "f2csa_ref.accuracy.wanted_error": "Accuracy AccurateAnswer hypergradient_within",
}
"""What is imported on first use, by module: a subject's process needs its stages, not every solver and rival.

``lower_level`` and ``penalty_minimiser`` are imported at once, for their modules bear the same names.
"""
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        import importlib

        value = globals()[name] = getattr(importlib.import_module(_HOME_OF[name]), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *globals()})
