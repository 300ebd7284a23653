"""The methods that F2CSA is compared with or built on, a page each: docs/rivals.md has them line by line.

Of momentum methods the paper's related work quotes one, for its rate ε^-1.5: FdeHBO (Yang, Xiao, Ji, NeurIPS 2023). It
is not here. Its update moves y by stochastic gradients of g, solves ∇²_yy g v = ∇_y f by products that are differences
of gradients, and gives all three directions a recursive momentum; each of the three takes a lower level without rows,
where y is free and v solves that system alone. With rows the system has the multipliers in it and y must stay feasible,
neither of which the update has a line for, so there is nothing of it to state for these problems. The double-momentum
method of Shi, Chang, Gu (ICML 2024), which the paper does not cite, projects y onto a set that does not depend on x.
"""

from __future__ import annotations

from f2csa_ref.baselines.as_subjects import DsBlo, DsBlo2, Implicit, Parent, Pigd, Ssigd, ZerothOrder
from f2csa_ref.baselines.ds_blo import DsBloParameters, ds_blo_step
from f2csa_ref.baselines.exact_parent import (
    ParentParameters,
    PenaltyGradient,
    PigdParameters,
    penalty_gradient,
    pigd_step,
)
from f2csa_ref.baselines.implicit_gradient import ImplicitGradient, implicit_gradient
from f2csa_ref.baselines.implicit_oracle import ImplicitAnswer, ImplicitOracle
from f2csa_ref.baselines.kkt_system import KKTSolution, LinearAlgebra, LinearSolveError, solve_kkt
from f2csa_ref.baselines.methods import F2csaParameters, MethodSpec, Rival, Wishes, parameters_of, rival_method
from f2csa_ref.baselines.ssigd import SsigdParameters, ssigd_step
from f2csa_ref.baselines.zeroth_order import ZerothOrderParameters, two_point_estimate
from f2csa_ref.second_derivatives.curvature import Curvature, curvature

__all__ = [
    "Curvature",
    "DsBlo",
    "DsBlo2",
    "DsBloParameters",
    "F2csaParameters",
    "Implicit",
    "ImplicitAnswer",
    "ImplicitGradient",
    "ImplicitOracle",
    "KKTSolution",
    "LinearAlgebra",
    "LinearSolveError",
    "MethodSpec",
    "Parent",
    "ParentParameters",
    "PenaltyGradient",
    "Pigd",
    "PigdParameters",
    "Rival",
    "Ssigd",
    "SsigdParameters",
    "Wishes",
    "ZerothOrder",
    "ZerothOrderParameters",
    "curvature",
    "ds_blo_step",
    "implicit_gradient",
    "parameters_of",
    "penalty_gradient",
    "pigd_step",
    "rival_method",
    "solve_kkt",
    "ssigd_step",
    "two_point_estimate",
]
