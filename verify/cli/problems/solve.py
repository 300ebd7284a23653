"""``f2csa solve``: Algorithms 1 and 2, or a rival, on a problem; schedule and cost are said before the start."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from f2csa_ref.accuracy.alpha_search import ROUNDED
from f2csa_ref.accuracy.wanted_error import Accuracy, answer_within
from f2csa_ref.algorithm_1 import OracleCall
from f2csa_ref.algorithm_2 import box_projection
from f2csa_ref.baselines.iterates import Surroundings
from f2csa_ref.baselines.methods import F2csaParameters, parameters_of
from f2csa_ref.fast.in_runs import FastComputing
from f2csa_ref.objectives import Objectives, objectives_of
from f2csa_ref.solver.schedules import Constants, Pages, Vicinity, constants_by, schedule, with_overrides
from f2csa_ref.solver.trace import TraceBlock, has_header, read_header
from f2csa_ref.whole_solve.solve import Setting, SolveReport, solve
from spec import InvalidInputError, OracleParameters, OuterParameters, Problem
from spec.blocks.quadratic import Quadratic
from spec.exact import Vector
from spec.neighbours import working_folder_first
from spec.problem import Generated
from spec.reading import REPAIRED
from verify.cli.arguments import options
from verify.cli.arguments.sources import Point, read_problem
from verify.cli.output.console import print_json
from verify.cli.problems.point import plain
from verify.cli.problems.rivals import computing, constants_of, one_call, parameters_line
from verify.cli.problems.solve_request import (
    CONSTANTS,
    RADIUS,
    SolveRequest,
    given_or,
    require_agreement,
    start_of,
    wanted_of,
)
from verify.subjects.faults import described
from verify.truth.geometry import quadratic_of
from verify.truth.goldstein.distance import distance

PYTHON = "python:"
MAX_REPORTED_DIMENSION = 200
"""Largest n for which the distance from stationarity is bounded afterwards; beyond, the mean answer is the estimate."""
SNAP = 1e-12
"""How near an end of the box a block mean counts as on it: far above the rounding of a mean."""
TIMED_CALLS = 3
TIMED_SAMPLES = 1 << 14
YEAR = 365.25 * 86400


def run(request: options.Solve) -> None:
    """Say what the run will take, run it, and print the result as JSON."""
    if request.plot is not None:
        _require_drawable(request.plot)
    _require_writable(request.trace)
    problem, start = _read(request.problem)
    objectives = objectives_of(problem)
    if request.problem.startswith(PYTHON):
        _require_shapes(objectives)
    goes_on = False
    if request.resume and has_header(request.trace):
        setting = Setting.from_header(read_header(request.trace))
        require_agreement(request, setting)
        goes_on = True
    else:
        wanted = wanted_of(request, objectives.n)
        _say("estimates what was not given, and times a call …")
        setting = _setting(wanted, objectives, start)
        _announce(objectives, setting, request.max_calls)
        _keep_aside(request.trace)
    with _progress(setting.outer) as show:
        report = solve(problem, setting, trace=request.trace, resume=request.resume, on_block=show,
                       on_start=_going_on(request.trace) if goes_on else None)  # fmt: skip
    _say_errors(report)
    print_json(result(problem, report))
    sys.stdout.flush()
    if request.plot is not None:
        from verify.report.figures.plots import draw_trace

        draw_trace(report.blocks, request.plot)


def _say_errors(report: SolveReport) -> None:
    errors = report.errors
    if errors is None:
        return
    largest = "none" if errors.largest is None else f"{errors.largest:.3g}"
    line = f"largest certified bound {largest}; {errors.met:,} of {errors.steps:,} steps met what was wanted"
    none = f", {errors.without:,} had no bound" if errors.without else ""
    far = errors.near_pieces
    near = "" if far is None else f" (within {far:.2g} of the gradients of the adjoining pieces together)"
    _say(f"{line}{none}{near}; {errors.attempts / errors.steps:.2f} runs of Algorithm 1 a step")


def _going_on(trace: Path) -> Callable[[int], None]:
    return lambda calls: _say(f"goes on from {trace.name} at call {calls:,}; its header says all but --plot")


PICTURES = (".svg", ".png", ".pdf")


def _require_drawable(path: Path) -> None:
    if path.suffix.lower() not in PICTURES:
        raise InvalidInputError("--plot", f"must end in one of {', '.join(PICTURES)}", str(path))
    _require_writable(path, "--plot")


def _require_writable(path: Path, option: str = "--trace") -> None:
    """Refuse, before any work, what could not be written, or read again, after it."""
    if path.is_dir() or path.is_fifo():
        raise InvalidInputError(option, "must be a file", str(path))
    if not path.parent.is_dir():
        raise InvalidInputError(option, "must be in a folder that exists", str(path))


def _require_shapes(q: Objectives) -> None:
    """Call a Python problem's gradients once, at zero, before anything depends on them."""
    x, y = np.zeros(q.n), np.zeros(q.m)
    for name, size in (("grad_x_f", q.n), ("grad_y_f", q.m), ("grad_x_g", q.n), ("grad_y_g", q.m)):
        try:
            value = np.asarray(getattr(q, name)(x, y), dtype=np.float64)
        except Exception as error:
            raise InvalidInputError(f"problem.{name}", f"raised {described(error)}") from None
        if value.shape != (size,):
            raise InvalidInputError(f"problem.{name}", f"must return shape {(size,)}", value.shape)
        if not np.isfinite(value).all():
            raise InvalidInputError(f"problem.{name}", "must return finite numbers", value.tolist())


def _keep_aside(trace: Path) -> None:
    """What is there already is somebody's: it is kept under another name, which nothing else has."""
    if trace.is_file() and trace.stat().st_size:
        names = (trace.with_name(f"{trace.name}.bak{number or ''}") for number in count())
        backup = next(name for name in names if not name.exists())
        trace.replace(backup)
        _say(f"{trace.name} was there; it is kept as {backup.name} (a run in it goes on with --resume)")


def result(problem: Problem | Objectives, report: SolveReport) -> dict[str, Any]:
    """What is printed at the end."""
    setting, trace = report.setting, report.trace
    block = report.blocks[trace.block]
    best = min(report.blocks, key=lambda other: other.grad_norm)
    smallest = {
        "block": best.k, "x": best.x_bar.tolist(), "F": best.F,
        "stationarity": stationarity(problem, best.x_bar, best.grad_norm, setting),
    }  # fmt: skip
    return {
        "method": setting.method.name,
        "x_out": trace.x_out.tolist(),
        "F": block.F,
        "output": setting.output,
        "block": trace.block,
        "stationarity": stationarity(problem, trace.x_out, block.grad_norm, setting),
        "smallest": smallest,
        "calls": trace.calls,
        "counts": report.counts,
        "schedule": setting.shown_schedule,
        "constants": {name: getattr(setting.constants, name) for name in CONSTANTS},
        "estimated": list(setting.constants.estimated),
        "resumed_at": report.resumed_at,
        "notes": list(report.notes),
    } | of_errors(report)


def of_errors(report: SolveReport) -> dict[str, Any]:
    """What is certified of the answers' errors, where that was wanted."""
    errors, accuracy = report.errors, report.setting.accuracy
    if errors is None or accuracy is None:
        return {}
    noise = {"level": accuracy.assumed.level} if errors.noisy else {}
    return {"error": {"wanted": accuracy.error} | noise | errors.to_dict()}


def stationarity(problem: Problem | Objectives, x: Vector, mean_answer: float, setting: Setting) -> dict[str, Any]:
    """Bounds of the distance from Goldstein stationarity where they can be had, and the run's own estimate."""
    radius = setting.outer.goldstein_radius
    estimate = {"radius": radius, "mean_answer": mean_answer, "lower": None, "upper": None, "certified": None}
    if not isinstance(problem, Quadratic | Generated) or len(x) > MAX_REPORTED_DIMENSION:
        return estimate
    box = setting.project_onto
    if box is not None:
        # A mean of points on the boundary is a last digit beside it, and the normal cone lives on it exactly.
        for end in (np.array(part) for part in box):
            x = np.where(np.abs(x - end) <= SNAP * (1 + np.abs(end)), end, x)
    ends = None if box is None else tuple([v if math.isfinite(v) else None for v in part] for part in box)
    try:
        bounds = distance(quadratic_of(problem), x.tolist(), radius, box=ends)  # type: ignore[arg-type]  # two lists
    except InvalidInputError as error:
        return estimate | {"note": str(error)}
    return estimate | {key: value for key, value in plain(bounds).items() if key in ("lower", "upper", "certified")}


def _read(source: str) -> tuple[Problem | Objectives, Point | None]:
    if not source.startswith(PYTHON):
        return read_problem(source)
    module, colon, attribute = source.removeprefix(PYTHON).partition(":")
    if not colon:
        raise InvalidInputError("problem", "must have the form python:package.module:objectives", source)
    try:
        with working_folder_first():
            objectives = getattr(import_module(module), attribute)
            return objectives_of(objectives() if callable(objectives) else objectives), None
    except InvalidInputError:
        raise
    except Exception as error:
        raise InvalidInputError("problem", f"cannot be loaded ({described(error)})", source) from None


def _setting(wanted: SolveRequest, q: Objectives, start: Point | None) -> Setting:
    """The run's setting, its constants and schedule derived where they were not given."""
    alpha, radius, seed = given_or(wanted.alpha, 0.1), given_or(wanted.radius, RADIUS), given_or(wanted.seed, 0)
    accuracy = wanted.accuracy
    reading, kind, ends = given_or(wanted.reading, REPAIRED), given_or(wanted.oracle, "plain"), wanted.ends
    x_0 = np.array(wanted.x_0 or start_of(start or (Fraction(0),) * q.n, ends))
    oracle = OracleParameters(
        N_g=given_or(wanted.samples, 1), lower_level="first-order" if kind == "first-order" else "exact"
    )
    bounds = dict(wanted.constants)
    if accuracy is not None:
        alpha = first_alpha(q, x_0, accuracy, OracleCall(0.0, reading, oracle), seed)
        noisy = q.noise.model != "none"
        bounds |= {"bias": accuracy.error, "variance": accuracy.variance(q.n) if noisy else 0.0}

    def scheduled(constants: Constants) -> OuterParameters:
        parameters = schedule(
            given_or(wanted.schedule, "budget"), constants, goldstein_radius=radius, epsilon=wanted.wishes.epsilon,
            calls=given_or(wanted.calls, 10_000),
        )  # fmt: skip
        return with_overrides(parameters, M=wanted.block_length, K=wanted.blocks, eta=wanted.eta)

    call, fast = OracleCall(alpha, reading, oracle), kind != "plain"
    if wanted.schedule not in (None, "budget") and "lipschitz_F" in bounds:
        # What these alone refuse is refused before anything is estimated.
        L_F, gap, bias, variance = (bounds.get(name, 0.0) for name in CONSTANTS)
        scheduled(Constants(L_F, gap, bias, variance))
    constants = constants_by(
        FastComputing(q, call) if fast else Pages(q), x_0, call,
        rng=np.random.default_rng([seed, 0]), given=bounds,
        where=Vicinity(radius=radius) if ends is None
        else Vicinity(box_projection(*(np.array(part) for part in ends)), radius),
    )  # fmt: skip
    outer = scheduled(constants)
    spec = parameters_of(wanted.method, constants, outer, q.n, wanted.wishes)
    if isinstance(spec, F2csaParameters):
        spec = F2csaParameters(fast=fast)
    else:
        around = Surroundings(q, outer, alpha, oracle.N_g)
        constants = constants_of(spec, around, x_0, constants, np.random.default_rng([seed, 2]))
        outer = scheduled(constants)
        spec = parameters_of(wanted.method, constants, outer, q.n, wanted.wishes)
    return Setting(
        x_0=tuple(x_0.tolist()), alpha=alpha, constants=constants, reading=reading, oracle=oracle, seed=seed,
        outer=outer, method=spec, output=given_or(wanted.output, "uniform"), project_onto=ends,  # type: ignore[arg-type]  # one of the two rules
        accuracy=accuracy,
    )  # fmt: skip


def first_alpha(q: Objectives, x_0: Vector, accuracy: Accuracy, call: OracleCall, seed: int) -> float:
    """Where the search for alpha begins; refused where rounding alone is more than the error wanted at the start."""
    answer = answer_within(q, x_0, accuracy, call, np.random.default_rng([seed, 3]))
    if not answer.met:
        if answer.why_not == ROUNDED:
            rule = f"is too small for doubles: at the start no bound below {answer.bound:.2g} can be certified"
            raise InvalidInputError("--error", rule, f"{accuracy.error:g}")
        _say(f"at the start the error is not certified to {accuracy.error:g}: {answer.why_not}")
    return answer.next_alpha


def _announce(q: Objectives, setting: Setting, max_calls: int) -> None:
    """Say the schedule, its cost and where its constants come from; refuse what takes more calls than allowed."""
    outer, constants = setting.outer, setting.constants
    seconds = _seconds_a_call(q, setting) * outer.T
    origin = {name: "estimated" if name in constants.estimated else "given" for name in CONSTANTS}
    if setting.accuracy is not None:
        origin |= dict.fromkeys(("bias", "variance"), "by --error")
    shown = ", ".join(f"{name} = {getattr(constants, name):.4g} ({origin[name]})" for name in origin)
    cost = f"T = K M = {outer.K:,} x {outer.M:,} = {outer.T:,} oracle calls, about {_duration(seconds)}"
    if max_calls < outer.T:
        rule = f"must take at most --max-calls = {max_calls:,}; it takes {cost}, from {shown}"
        raise InvalidInputError("schedule", f"{rule}; ask for a larger epsilon or radius, or --schedule budget")
    _say(f"{cost}; {parameters_line(setting)}; {shown}")
    if setting.accuracy is not None:
        ratio = _seconds_of_call(q, setting) / max(_seconds_of_call(q, replace(setting, accuracy=None)), 1e-9)
        wanted = f"every answer is certified to an error of at most {setting.accuracy.error:g}, or says why not"
        _say(f"{wanted}: a step takes about {ratio:.1f} times a plain one's seconds")


def _seconds_a_call(q: Objectives, setting: Setting) -> float:
    started = time.perf_counter()
    computing(q, setting).value(np.array(setting.x_0))
    # F is evaluated once a block, by a lower-level solve.
    return _seconds_of_call(q, setting) + (time.perf_counter() - started) / setting.outer.M


def _seconds_of_call(q: Objectives, setting: Setting) -> float:
    # Seconds grow in proportion to a large number of samples.
    many, few = setting.oracle.N_g, min(setting.oracle.N_g, TIMED_SAMPLES)
    setting = replace(setting, oracle=setting.oracle.model_copy(update={"N_g": few}))
    x_0, how = np.array(setting.x_0), computing(q, setting)
    call, spent = one_call(q, setting, how, np.random.default_rng(0)), []
    for _ in range(TIMED_CALLS):
        started = time.perf_counter()
        call(x_0)
        spent.append(time.perf_counter() - started)
    return min(spent) * many / few


def _duration(seconds: float) -> str:
    for unit, size in (("years", YEAR), ("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} seconds"


def _say(line: str) -> None:
    sys.stderr.write(f"f2csa: {line}\n")


@contextmanager
def _progress(outer: OuterParameters) -> Iterator[Callable[[TraceBlock], None]]:
    """A progress bar on a terminal, nothing elsewhere; told each finished block."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    done, text = TextColumn("{task.completed:,}/{task.total:,} calls"), TextColumn("{task.description}")
    with Progress(TextColumn("solve"), BarColumn(), done, TimeRemainingColumn(), text, console=console) as bar:
        task = bar.add_task("", total=outer.T)

        def show(block: TraceBlock) -> None:
            F = "" if block.F is None else f"F = {block.F:.6g}, "
            bar.update(task, completed=block.calls, description=f"{F}|mean answer| = {block.grad_norm:.3g}")

        yield show
