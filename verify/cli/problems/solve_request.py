"""What ``f2csa solve`` was asked, read and checked before any work; on ``--resume`` held against the trace's header."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn, TypeVar, get_args

import numpy as np

from f2csa_ref.accuracy.wanted_error import Accuracy
from f2csa_ref.baselines.methods import (
    MethodName,
    Wishes,
    require_granted,
    require_method,
    require_used,
)
from f2csa_ref.certificate.map_constants import Assumed
from f2csa_ref.solver.schedules import ConstantName, ScheduleName
from f2csa_ref.whole_solve.solve import Setting
from spec import InvalidInputError, Reading
from spec.exact import parse_entry
from verify.cli.arguments import options
from verify.cli.arguments.sources import (
    read_alpha,
    read_box,
    read_point,
    read_positive,
    read_reading,
    require_at_least,
    require_one_of,
)

T = TypeVar("T")
Ends = tuple[tuple[float, ...], tuple[float, ...]]
CONSTANTS: dict[ConstantName, str] = {
    "lipschitz_F": "lipschitz", "gap": "gap", "bias": "bias", "variance": "variance",
}  # fmt: skip
"""What a schedule rests on, and the option that gives it."""
BELIEVED = ("L_y", "f_xy", "g_xy", "variance", "holder")
"""Of a problem, what --assume may state."""
LEVEL = 0.95
"""Probability of a bound with noise, where none was given."""
RADIUS = 0.1
"""Of the Goldstein ball, where none was given."""
EXCLUDED = ("alpha", "samples", "bias", "variance")
"""Options that --error chooses by itself."""
OF_RUN = ("alpha", "radius", "samples", "eta", "block_length", "blocks", "seed", "output", "oracle", "reading")
"""Options of a run that a header holds as they were given."""


@dataclass(frozen=True)
class SolveRequest:
    """The options of a run as values; ``None`` where one was not given, so that a default contradicts nothing.

    ``x_0`` (n,) lies within the ``ends`` of X.
    """

    method: MethodName
    wishes: Wishes
    constants: Mapping[ConstantName, float]
    schedule: ScheduleName | None
    calls: int | None
    alpha: float | None
    radius: float | None
    reading: Reading | None
    oracle: str | None
    samples: int | None
    block_length: int | None
    blocks: int | None
    eta: float | None
    seed: int | None
    output: str | None
    accuracy: Accuracy | None
    x_0: tuple[float, ...] | None
    ends: Ends | None


def given_or(value: T | None, default: T) -> T:
    """The value, or what stands for it where none was given."""
    return default if value is None else value


def wanted_of(request: options.Solve, n: int, method: str = "f2csa", radius: float = RADIUS) -> SolveRequest:
    """What was asked, for a problem of so many variables; of this method and at this radius where none was given.

    Raises:
        InvalidInputError: If an option breaks its rule, or is one that the method or the schedule does not use.
    """
    name = require_method(given_or(request.method, method))
    own_radius = None if request.radius is None else _positive(request.radius, "--radius")
    wishes = _wishes(request, name, given_or(own_radius, radius))
    for option in ("oracle", "reading", "choose", "alpha", "eta", "samples"):
        if (value := getattr(request, option)) not in (None, []):
            require_used(name, option, value)
    for option, least in (("seed", 0), ("calls", 1), ("block_length", 1), ("blocks", 1)):
        require_at_least(_dashed(option), getattr(request, option), least)
    if request.output is not None:
        require_one_of("--output", request.output, ("uniform", "smallest"))
    if request.oracle is not None:
        require_one_of("--oracle", request.oracle, ("plain", "fast", "first-order"))
    if request.samples is not None and not 1 <= request.samples <= 10**9:
        raise InvalidInputError("--samples", "must be in [1, 1e9]", request.samples)
    if request.eta is not None and not (0 < request.eta < math.inf):
        raise InvalidInputError("--eta", "must be > 0 and finite", request.eta)
    accuracy = _accuracy(request, name)
    chosen = request.reading is not None or request.choose
    ends = _box(request, n)
    return SolveRequest(
        method=name, wishes=wishes, constants=_constants(request), schedule=_schedule(request, name),
        calls=request.calls, alpha=None if request.alpha is None else read_alpha(request.alpha), radius=own_radius,
        reading=read_reading(given_or(request.reading, "repaired"), request.choose) if chosen else None,
        oracle=request.oracle, samples=request.samples, block_length=request.block_length, blocks=request.blocks,
        eta=request.eta, seed=request.seed, output=request.output, accuracy=accuracy,
        x_0=None if request.x is None else start_of(read_point(request.x, None, n), ends), ends=ends,
    )  # fmt: skip


def start_of(point: Sequence[Fraction | float], ends: Ends | None) -> tuple[float, ...]:
    """A start in doubles, within X."""
    x_0 = np.array([float(value) for value in point])
    return tuple((x_0 if ends is None else np.clip(x_0, *ends)).tolist())


def _dashed(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _positive(text: str, argument: str) -> float:
    value = float(read_positive(text, argument))
    if not (0 < value < math.inf):
        raise InvalidInputError(argument, "must stay > 0 and finite in doubles", text)
    return value


def _accuracy(request: options.Solve, method: MethodName) -> Accuracy | None:
    """The error wanted of each answer; refused with what it chooses, and where nothing is certified."""
    if request.error is None:
        for option in ("level", "assume"):
            if (value := getattr(request, option)) not in (None, []):
                raise InvalidInputError(_dashed(option), "must go with --error", value)
        return None
    error = _positive(request.error, "--error")
    require_used(method, "error", request.error)
    for option in EXCLUDED:
        if getattr(request, option) is not None:
            rule = "chooses alpha, the stops and N_g, and bounds bias and variance"
            raise InvalidInputError(_dashed(option), f"must be left out with --error, which {rule}")
    if any(text.startswith("inner_stop=") for text in request.choose or ()):
        raise InvalidInputError("--choose", "must leave out inner_stop with --error, which chooses the stop")
    if request.oracle not in (None, "plain"):
        raise InvalidInputError("--oracle", "must be plain with --error: no other is certified", request.oracle)
    level = LEVEL if request.level is None else _positive(request.level, "--level")
    if level >= 1:
        raise InvalidInputError("--level", "must be in (0, 1)", request.level)
    return Accuracy(error, Assumed(level=level, **_assumed(request)))


def _assumed(request: options.Solve) -> dict[str, Any]:
    """What a certificate is to believe, by name."""
    believed: dict[str, Any] = {}
    for text in request.assume or ():
        name, equals, value = text.partition("=")
        if not equals or name not in BELIEVED:
            raise InvalidInputError("--assume", f"must be NAME=VALUE, NAME one of {', '.join(BELIEVED)}", text)
        numbers = [float(parse_entry(part.strip(), "--assume")) for part in value.split(",")]
        if len(numbers) != (2 if name == "holder" else 1):
            raise InvalidInputError("--assume", "must be holder=H,S, or one number for the others", text)
        believed[name] = tuple(numbers) if name == "holder" else numbers[0]
    try:
        Assumed(**believed)
    except InvalidInputError as error:
        raise InvalidInputError("--assume", f"{error.argument.removeprefix('certify.')} {error.rule}") from None
    return believed


def _wishes(request: options.Solve, method: MethodName, radius: float) -> Wishes:
    """What was asked of the method's own parameters, each checked on its own."""
    read: dict[str, Any] = {name: _positive(text, _dashed(name))
                            for name in ("step_size", "momentum", "perturbation", "smoothing")
                            if (text := getattr(request, name)) is not None}  # fmt: skip
    for name, allowed in (("decay", ("constant", "square-root", "harmonic")),
                          ("linear_algebra", ("naive", "standard", "best", "cg"))):  # fmt: skip
        word = getattr(request, name)
        if word is not None:
            read[name] = require_one_of(_dashed(name), word, allowed)
    wishes = Wishes(**read, epsilon=None if request.epsilon is None else _positive(request.epsilon, "--epsilon"))
    require_granted(method, wishes)
    if wishes.momentum is not None and not wishes.momentum < 1:
        raise InvalidInputError("--momentum", "must be < 1", request.momentum)
    if wishes.smoothing is not None and not wishes.smoothing < radius:
        raise InvalidInputError("--smoothing", f"must be below the radius {radius:g}", request.smoothing)
    return wishes


def _schedule(request: options.Solve, method: MethodName) -> ScheduleName | None:
    """The schedule's name; refused with a target or a number of calls that it does not take."""
    if request.schedule is not None:
        require_one_of("--schedule", request.schedule, get_args(ScheduleName))
    schedule: Any = given_or(request.schedule, "budget")
    if schedule == "budget":
        if request.epsilon is not None and not method.startswith("dsblo"):
            rule = f"is for --schedule repaired or paper, and for dsblo, not {method} on a budget"
            raise InvalidInputError("--epsilon", rule, request.epsilon)
    elif request.calls is not None:
        raise InvalidInputError("--calls", f"is for --schedule budget only, not {schedule}", request.calls)
    elif request.epsilon is None:
        raise InvalidInputError("--epsilon", f"is required for the {schedule} schedule")
    return None if request.schedule is None else schedule


def _constants(request: options.Solve) -> dict[ConstantName, float]:
    given: dict[ConstantName, float] = {}
    for name, option in CONSTANTS.items():
        text = getattr(request, option)
        if text is None:
            continue
        value = float(parse_entry(text, _dashed(option)))
        if not 0 <= value < math.inf or (option == "lipschitz" and not value):
            raise InvalidInputError(_dashed(option), f"must be {'> 0' if option == 'lipschitz' else '>= 0'}", text)
        given[name] = value
    return given


def _box(request: options.Solve, n: int) -> Ends | None:
    box = read_box(request.project_onto, n, "--project-onto")
    if box is None:
        return None
    (lower, upper) = (tuple(missing if value is None else float(value) for value in part)
                      for part, missing in zip(box, (-math.inf, math.inf), strict=True))  # fmt: skip
    return lower, upper


def require_agreement(request: options.Solve, setting: Setting) -> None:
    """Refuse whatever was given and contradicts the header of the run that goes on.

    Raises:
        InvalidInputError: On the first such option, or one that breaks its own rule.
    """
    recorded = _recorded(setting)
    if request.method is not None and require_method(request.method) != recorded["method"]:
        _refuse("method", request, recorded["method"])
    wanted = wanted_of(request, len(setting.x_0), recorded["method"], recorded["radius"])
    for option in OF_RUN:
        value = getattr(wanted, option)
        if value is not None and value != recorded[option]:
            given = "choose" if option == "reading" and request.reading is None else option
            _refuse(given, request, "another reading" if option == "reading" else recorded[option])
    _require_accuracy(request, wanted.accuracy, setting.accuracy)
    for name, value in wanted.constants.items():
        if value != getattr(setting.constants, name):
            _refuse(CONSTANTS[name], request, getattr(setting.constants, name))
    _require_wishes(request, wanted.wishes, setting)
    _require_length(request, wanted, setting)
    if wanted.ends is not None and wanted.ends != setting.project_onto:
        _refuse("project_onto", request, setting.project_onto)
    x_0 = wanted.x_0
    if x_0 is not None and start_of(x_0, setting.project_onto) != setting.x_0:
        _refuse("x", request, setting.x_0)


def _require_accuracy(request: options.Solve, wanted: Accuracy | None, recorded: Accuracy | None) -> None:
    if wanted is None:
        return
    if recorded is None or wanted.error != recorded.error:
        _refuse("error", request, "without --error" if recorded is None else recorded.error)
    for name, value in _assumed(request).items():
        if getattr(recorded.assumed, name) != value:
            _refuse("assume", request, f"{name} = {getattr(recorded.assumed, name)}")
    if request.level is not None and wanted.assumed.level != recorded.assumed.level:
        _refuse("level", request, recorded.assumed.level)


def _recorded(setting: Setting) -> dict[str, Any]:
    """Of a header, by option, what :data:`OF_RUN` lists."""
    method, outer = setting.method, setting.outer
    fast = "first-order" if setting.oracle.lower_level == "first-order" else "fast"
    return {
        "method": "dsblo-2" if getattr(method, "option", "I") == "II" else method.name,
        "oracle": fast if getattr(method, "fast", False) else "plain", "alpha": setting.alpha,
        "radius": outer.goldstein_radius, "samples": setting.oracle.N_g, "eta": outer.eta, "block_length": outer.M,
        "blocks": outer.K, "seed": setting.seed, "output": setting.output, "reading": setting.reading,
    }  # fmt: skip


def _require_wishes(request: options.Solve, wishes: Wishes, setting: Setting) -> None:
    for name, value in vars(wishes).items():
        if value is None or name == "epsilon":
            continue
        recorded = getattr(setting.method, {"momentum": "beta"}.get(name, name), None)
        if name == "step_size" and recorded is None:
            recorded = 1 / getattr(setting.method, "gamma_2", math.inf)
            value = 1 / (1 / value)  # as the run inverted it
        if recorded != value:
            _refuse(name, request, recorded)


def _require_length(request: options.Solve, wanted: SolveRequest, setting: Setting) -> None:
    """Calls within a block of the run's, and the target that its schedule was made for."""
    outer, by_hand = setting.outer, wanted.block_length is not None or wanted.blocks is not None
    if wanted.calls is not None and not by_hand and not outer.T <= wanted.calls < outer.T + outer.M:
        _refuse("calls", request, outer.T)
    epsilon = wanted.wishes.epsilon
    if epsilon is not None and wanted.schedule in ("repaired", "paper") and epsilon != outer.epsilon:
        _refuse("epsilon", request, outer.epsilon)


def _refuse(option: str, request: options.Solve, recorded: object) -> NoReturn:
    shown = f"{recorded:.6g}" if isinstance(recorded, float) else recorded
    rule = f"must be the run's that goes on, {shown}"
    raise InvalidInputError(_dashed(option), rule, getattr(request, option))
