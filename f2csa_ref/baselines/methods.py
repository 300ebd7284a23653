"""Every method by name: its parameters, how they are derived where not given, and a run of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, cast, get_args

import numpy as np
from pydantic import Field, ValidationError

from f2csa_ref.baselines.ds_blo import DsBloMethod, DsBloParameters
from f2csa_ref.baselines.exact_parent import ParentParameters, PigdMethod, PigdParameters, counted_penalty_gradient
from f2csa_ref.baselines.iterates import Surroundings
from f2csa_ref.baselines.kkt_system import LinearAlgebra
from f2csa_ref.baselines.ssigd import SsigdMethod, SsigdParameters
from f2csa_ref.baselines.tilted import TiltedImplicitGradient
from f2csa_ref.baselines.zeroth_order import ZerothOrderAnswers, ZerothOrderParameters
from f2csa_ref.solver.run_loop import ClippedMomentum, Method
from f2csa_ref.solver.schedules import Constants
from spec.errors import InvalidInputError, from_validation
from spec.exact import Vector
from spec.files import Frozen
from spec.parameters import OuterParameters


class F2csaParameters(Frozen):
    """Algorithms 1 and 2: parameters stand in the setting itself; ``fast`` answers are :mod:`f2csa_ref.fast`'s."""

    name: Literal["f2csa"] = "f2csa"
    fast: bool = False


Rival: TypeAlias = SsigdParameters | DsBloParameters | PigdParameters | ParentParameters | ZerothOrderParameters
MethodSpec: TypeAlias = Annotated[F2csaParameters | Rival, Field(discriminator="name")]
MethodName = Literal["f2csa", "ssigd", "dsblo", "dsblo-2", "pigd", "parent", "zeroth-order"]
"""What a command calls a method; ``dsblo`` is option I, ``dsblo-2`` option II."""


@dataclass(frozen=True)
class Wishes:
    """What was asked of a rival's parameters; what is ``None`` is derived.

    ``step_size`` is β of SSIGD, η of PIGD and 1/γ₂ of DS-BLO; ``momentum`` its β; ``perturbation`` the scale of q;
    ``smoothing`` the radius of the zeroth-order method. A target ``epsilon`` asks for the schedule of DS-BLO's theorem;
    without one it has what the number of steps allows.
    """

    step_size: float | None = None
    decay: Literal["constant", "square-root", "harmonic"] | None = None
    momentum: float | None = None
    perturbation: float | None = None
    smoothing: float | None = None
    linear_algebra: LinearAlgebra | None = None
    epsilon: float | None = None


USED: dict[str, tuple[str, ...]] = {
    "f2csa": (), "parent": (), "pigd": ("step_size",), "zeroth-order": ("smoothing",),
    "ssigd": ("step_size", "decay", "perturbation", "linear_algebra"),
    "dsblo": ("step_size", "momentum", "perturbation", "linear_algebra"),
    "dsblo-2": ("step_size", "momentum", "perturbation", "linear_algebra"),
}  # fmt: skip
"""Which wishes each method can grant."""
USERS: dict[str, tuple[str, ...]] = {
    "oracle": ("f2csa",), "error": ("f2csa",), "reading": ("f2csa",), "choose": ("f2csa",),
    "alpha": ("f2csa", "parent", "pigd"), "eta": ("f2csa", "parent", "zeroth-order"),
    "samples": ("f2csa", "ssigd", "dsblo-2"),
}  # fmt: skip
"""Which methods use what stands in a run's setting; what is not named here, all do."""


def require_method(name: str) -> MethodName:
    """The method of that name, or a refusal that lists them."""
    if name not in get_args(MethodName):
        raise InvalidInputError("--method", f"must be one of {', '.join(get_args(MethodName))}", name)
    return cast("MethodName", name)


def parameters_of(
    name: MethodName,
    constants: Constants,
    outer: OuterParameters,
    n: int,
    wishes: Wishes = Wishes(),  # frozen
) -> F2csaParameters | Rival:
    """A method's parameters as its theorem derives them from the constants and the schedule, then as wished.

    Raises:
        InvalidInputError: If a wish breaks its rule or is not one of this method's.
    """
    wished: dict[str, Any] = require_granted(name, wishes)
    if name.startswith("dsblo"):
        wished = {("beta" if key == "momentum" else key): value for key, value in wished.items()}
        if "step_size" in wished:
            wished["gamma_2"] = _inverse(wished.pop("step_size"))
    try:
        derived = _derived(name, constants, outer, n, wishes.epsilon)
        parameters = type(derived).model_validate(derived.model_dump() | wished)
    except ValidationError as error:
        raise from_validation(error, name) from None
    except ArithmeticError:
        rule = "must stay within the range of doubles: give other constants, or rescale the problem"
        raise InvalidInputError(f"{name}'s schedule", rule) from None
    if isinstance(parameters, ZerothOrderParameters):
        parameters.remaining(outer)
    return parameters


def require_granted(name: MethodName, wishes: Wishes) -> dict[str, Any]:
    """The wishes by name; refused where a method has no such parameter."""
    wished = {key: value for key, value in vars(wishes).items() if value is not None and key != "epsilon"}
    for key, value in wished.items():
        _require_among(tuple(method for method, used in USED.items() if key in used), name, key, value)
    return wished


def require_used(name: MethodName, option: str, value: object) -> None:
    """Refuse an option of the setting that this method would not use."""
    _require_among(USERS[option], name, option, value)


def _require_among(takers: tuple[str, ...], name: MethodName, option: str, value: object) -> None:
    if name not in takers:
        raise InvalidInputError(f"--{option.replace('_', '-')}", f"is for {', '.join(takers)} only, not {name}", value)


def _inverse(step_size: float) -> float:
    if not step_size > 0:
        raise InvalidInputError("--step-size", "must be > 0", step_size)
    return 1 / step_size


def _derived(
    name: MethodName, constants: Constants, outer: OuterParameters, n: int, epsilon: float | None
) -> F2csaParameters | Rival:
    gap, L, radius = constants.gap, constants.lipschitz_F, outer.goldstein_radius
    if name == "ssigd":
        return SsigdParameters.of_theorem(gap=gap, lipschitz_F=L, steps=outer.T)
    if name.startswith("dsblo"):
        common = {"goldstein_radius": radius, "noise": constants.variance**0.5, "lipschitz": L}
        if epsilon is None:
            parameters = DsBloParameters.of_memory(**common, epsilon=outer.epsilon, K=outer.M)
        else:
            parameters = DsBloParameters.of_theorem(**common, epsilon=epsilon)
        return parameters.model_copy(update={"option": "II" if name == "dsblo-2" else "I"})
    if name == "pigd":
        return PigdParameters.of_theorem(gap=gap, lipschitz_F=L, radius=radius, steps=outer.T, n=n)
    if name == "zeroth-order":
        return ZerothOrderParameters(smoothing=min(radius / 2, max(gap, 1e-12) / L))
    return ParentParameters() if name == "parent" else F2csaParameters()


def takes_samples(spec: F2csaParameters | Rival) -> bool:
    """Whether a method samples gradients where the problem's are noisy, instead of taking their means."""
    return isinstance(spec, F2csaParameters | SsigdParameters) or (
        isinstance(spec, DsBloParameters) and spec.option == "II"
    )


def rival_method(spec: Rival, around: Surroundings) -> Method[Any]:
    """A run of a rival."""
    if isinstance(spec, SsigdParameters):
        return SsigdMethod(spec, around)
    if isinstance(spec, DsBloParameters):
        return DsBloMethod(spec, around)
    if isinstance(spec, PigdParameters):
        return PigdMethod(spec, around)
    outer = spec.remaining(around.outer) if isinstance(spec, ZerothOrderParameters) else around.outer
    return ClippedMomentum(answers_of(spec, around), outer, around.projection)


def answers_of(spec: Rival, around: Surroundings) -> Callable[[Vector, np.random.Generator], Vector]:
    """One answer of a rival's own oracle at a point, (n,) to (n,), whatever its steps make of it."""
    if isinstance(spec, SsigdParameters | DsBloParameters):
        gradient = TiltedImplicitGradient(around, spec.linear_algebra)
        sampled = takes_samples(spec)

        def implicit(x: Vector, rng: np.random.Generator) -> Vector:
            q = spec.perturbation * rng.standard_normal(around.objectives.m)
            return gradient(x, q, rng if sampled else None)

        return implicit
    if isinstance(spec, ZerothOrderParameters):
        return ZerothOrderAnswers(spec, around)
    return lambda x, _: counted_penalty_gradient(around, x)
