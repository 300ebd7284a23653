"""What the paper does: Algorithms 1 and 2 in plain numpy."""

from __future__ import annotations

from f2csa_ref.activation import activation_weights
from f2csa_ref.holder import HolderObjectives
from f2csa_ref.hypergradient import Hypergradient, hypergradient, hypergradient_samples
from f2csa_ref.lower_level import LowerLevelError, LowerLevelSolution, lower_level, primal_dual
from f2csa_ref.objectives import Objectives, QuadraticObjectives, SmoothObjectives, objectives_of
from f2csa_ref.oracles import Draws, draw_shapes, sample_draws
from f2csa_ref.outer_loop import OuterTrace, clip, outer_loop
from f2csa_ref.penalty import PenaltyLagrangian, penalty_parameters
from f2csa_ref.penalty_minimiser import PenaltySolution, penalty_minimiser
from f2csa_ref.stages import Stages

__all__ = [
    "Draws",
    "HolderObjectives",
    "Hypergradient",
    "LowerLevelError",
    "LowerLevelSolution",
    "Objectives",
    "OuterTrace",
    "PenaltyLagrangian",
    "PenaltySolution",
    "QuadraticObjectives",
    "SmoothObjectives",
    "Stages",
    "activation_weights",
    "clip",
    "draw_shapes",
    "hypergradient",
    "hypergradient_samples",
    "lower_level",
    "objectives_of",
    "outer_loop",
    "penalty_minimiser",
    "penalty_parameters",
    "primal_dual",
    "sample_draws",
]
