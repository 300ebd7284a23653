"""What an implementation may offer, stage by stage, and how the checks call it.

A subject is any object with some of the stage methods below. Arrays go in as numpy doubles; whatever numpy can read
as doubles may come out: arrays, lists, PyTorch and JAX tensors, which are taken off their graph and device. A stage
it lacks makes the checks that need it NOT_APPLICABLE; a stage that raises, or returns NaN or the wrong shape, is a
fault of the subject and never a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from spec import REPAIRED, OracleParameters, OuterParameters, Problem, Quadratic, Reading
from spec.exact import Vector
from verify.subjects.faults import MissingCapabilityError as MissingCapabilityError
from verify.subjects.faults import StageFaultError as StageFaultError
from verify.subjects.faults import SubjectFaultError as SubjectFaultError
from verify.subjects.faults import as_fault, checked_array
from verify.subjects.faults import described as described
from verify.subjects.stage_table import REFUSED, ROWS, TOGETHER, Asked, Capability

OWN_WORDS = (MissingCapabilityError, NotImplementedError)
WHOLE_RUNS: tuple[Asked, ...] = ("optimise", "end_to_end")
"""Stages whose answer has parts with names, as attributes or keys."""
GIVEN = ("y_star", "lam", "rho", "y_penalty")
"""What a call may hand over instead of having it computed."""


@dataclass(frozen=True)
class Call:
    """Everything one oracle call is given besides problem and point.

    Args:
        alpha: Accuracy parameter.
        reading: How the paper is read.
        parameters: N_g, ramp widths, budgets.
        y_star: Lower-level solution to use instead of computing one, shape (m,).
        lam: Multipliers to use, shape (p,).
        rho: Activation weights to use, shape (p,).
        y_penalty: Penalty minimiser to use, shape (m,).
        draws: Standard normals to use instead of the generator, by block, each (N_g, k): ``f_x`` for the noise of
            ∇_x f, ``g_x`` and, for independent pairing, ``g_x_star`` for that of ∇_x g at ỹ and ỹ*. What each block
            means under each noise model: :class:`f2csa_ref.Draws`. Only sent to a subject that says
            ``uses_draws = True``.
    """

    alpha: float
    reading: Reading = REPAIRED
    parameters: OracleParameters = field(default_factory=OracleParameters)
    y_star: Vector | None = None
    lam: Vector | None = None
    rho: Vector | None = None
    y_penalty: Vector | None = None
    draws: Mapping[str, Vector] | None = None

    @property
    def stages(self) -> dict[str, Vector | None]:
        """What was handed over, by name; ``None`` for what is to be computed."""
        return {name: getattr(self, name) for name in GIVEN}


@runtime_checkable
class Subject(Protocol):
    """The stages an implementation may offer; each method is optional.

    ``lower_level(problem, x) -> (y_star (m,), lam (p,))``;
    ``activation(h, lam, h_width, lam_width) -> rho (p,)``;
    ``penalty_minimiser(problem, x, call, tol) -> y (m,)`` with ``tol`` a bound on the gradient norm of the
    penalty Lagrangian, or ``None`` for the reading's own stopping rule;
    ``hypergradient(problem, x, call, rng) -> (n,)``: one oracle call, given stages used as they are;
    ``hypergradient_samples(problem, x, call, rng, replications) -> (replications, n)``: optional speed-up;
    ``optimise(oracle, x0, parameters, rng)``: Algorithm 2 on ``oracle: z (n,) -> (n,)``; answers with ``x_out (n,)``,
    the block means ``x_bar (K, n)`` and the iterates ``path (T + 1, n)``, as attributes or keys;
    ``optimise_runs(oracle, x0, parameters, rng, keep_path) -> (x_bar (K, R, n), path (T + 1, R, n) or None)``: optional
    speed-up, R runs at once from starts ``x0 (R, n)`` with ``oracle: (R, n) -> (R, n)``;
    ``lower_level_runs(problem, x, call, rng, replications) -> (y (replications, m), lam (replications, p))``: final
    pairs of independent primal-dual iterations from zero: ``lower_level_steps`` steps of sizes ``eta_y`` and
    ``eta_lam``, sign and solver by the reading (averaged: both steps times (1 + t/10)^(-2/3), mean of the last half);
    ``penalty_runs(problem, x, call, rng, replications) -> (y (replications, m), calls)``: independent noisy penalty
    solves of ``penalty_steps`` epochs with ``shared_samples`` terms, and the sampled gradients each one took, each as
    often as it took it;
    ``hypergradient_runs(problem, x, call, rng, replications) -> ((replications, n), calls)``: independent complete
    calls with noisy inner solvers, and the sampled gradients each one took, likewise;
    ``end_to_end(problem, x0, parameters, alpha, rng)``: a whole optimiser that takes no oracle; answers as
    ``optimise``, the block means if it has them (:class:`verify.subjects.adapters.EndToEnd` makes one of a function).

    ``accuracy``, from 0 to 1e-3, says how exactly its solvers work, relative; :func:`verify.conform` allows ten times
    that.

    ``uses_draws = True`` says that ``hypergradient`` takes its normals from ``call.draws`` where they are given, so
    that it can be compared number by number under noise too; ``hypergradient_samples`` draws from ``rng``.
    """

    name: str


@dataclass(frozen=True)
class OuterRun:
    """A subject's Algorithm 2: its output (n,), block means (K, n), and iterates x_0, ..., x_T (T + 1, n)."""

    x_out: Vector
    x_bar: Vector
    path: Vector


TRUSTED: set[type] = set()
"""Where the reference signs itself in: its own class, and no other."""


SPEAKERS: set[type] = set()
"""Where ours sign themselves in that speak for a program: what it lacks they say in words of ours."""


class StageCalls:
    """Calls a subject's stages and checks what comes back."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    def offers(self, capability: Capability) -> bool:
        """Whether the subject has this stage."""
        return offers(self.subject, capability)

    @property
    def use_draws(self) -> bool:
        """Whether the subject takes its normals from ``call.draws``."""
        with as_fault("uses_draws cannot be looked up"):
            return getattr(self.subject, "uses_draws", False) is True

    @property
    def are_the_reference(self) -> bool:
        """Whether these are the reference's own stages; a name alone anybody can take."""
        return type(self.subject) in TRUSTED

    def require(self, capabilities: Sequence[Capability]) -> None:
        """Refuse to go on without these stages; the error names the first one missing."""
        for capability in capabilities:
            if not self.offers(capability):
                raise MissingCapabilityError(f"the subject offers no {capability}")

    def lower_level(self, problem: Problem, x: Vector) -> tuple[Vector, Vector]:
        """The lower-level pair (y*, λ*) at x, shapes (m,) and (p,)."""
        return self._two("lower_level", problem, x)

    def activation(self, h: Vector, lam: Vector, h_width: float, lam_width: float) -> Vector:
        """Weights ρ of the rows, shape (p,)."""
        return self._one("activation", h, lam, h_width, lam_width)

    def penalty_minimiser(self, problem: Problem, x: Vector, call: Call, tol: float | None) -> Vector:
        """Minimiser of the penalty Lagrangian in y, shape (m,)."""
        return self._one("penalty_minimiser", problem, x, call, tol)

    def hypergradient(self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator | None = None) -> Vector:
        """One estimate of ∇F(x), shape (n,)."""
        # A subject that draws noise of size 0 is right too: it always has a generator to draw from.
        return self._one("hypergradient", problem, x, call, unused_generator() if rng is None else rng)

    def hypergradients(
        self, problem: Problem, calls: Sequence[tuple[Vector, Call]], rng: np.random.Generator | None = None
    ) -> list[Vector]:
        """What :meth:`hypergradient` answers at each point and call; a program is asked many in one exchange."""
        if not offers(self.subject, TOGETHER):
            return [self.hypergradient(problem, x, call, rng) for x, call in calls]
        answers: list[Vector] = []
        while rest := calls[len(answers) :]:
            given = self._call("hypergradient", problem, rest, rng, by=TOGETHER)
            if not isinstance(given, list) or not given:
                raise SubjectFaultError(f"{TOGETHER} must return a list of one answer or more")
            answers += [checked_array("hypergradient", one, x.shape) for one, (x, _) in zip(given, rest, strict=False)]
        return answers

    def hypergradient_samples(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> Vector:
        """Independent estimates given the call's stages, shape (replications, n)."""
        if offers(self.subject, "hypergradient_samples"):
            return self._one("hypergradient_samples", problem, x, call, rng, replications)
        return np.array([self.hypergradient(problem, x, call, rng) for _ in range(replications)])

    def lower_level_runs(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> tuple[Vector, Vector]:
        """Final pairs of independent stochastic lower-level iterations, shapes (replications, m), (replications, p)."""
        return self._two("lower_level_runs", problem, x, call, rng, replications)

    def penalty_runs(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> tuple[Vector, float]:
        """Independent noisy penalty solves, shape (replications, m), and the gradient samples each one used."""
        return self._two("penalty_runs", problem, x, call, rng, replications)

    def hypergradient_runs(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> tuple[Vector, float]:
        """Independent complete oracle calls, shape (replications, n), and the gradient samples each one used."""
        return self._two("hypergradient_runs", problem, x, call, rng, replications)

    def optimise(
        self, oracle: Callable[[Vector], Vector], x0: Vector, parameters: OuterParameters, rng: np.random.Generator
    ) -> OuterRun:
        """One run of Algorithm 2."""
        return OuterRun(*self._ask("optimise", oracle, x0, parameters, rng))

    def optimise_runs(
        self,
        oracle: Callable[[Vector], Vector],
        x0: Vector,
        parameters: OuterParameters,
        rng: np.random.Generator,
        *,
        keep_path: bool = False,
    ) -> tuple[Vector, Vector | None]:
        """R runs of Algorithm 2 from the rows of x0: block means (K, R, n); if asked for, iterates (T + 1, R, n)."""
        if offers(self.subject, "optimise_runs"):
            return self._two("optimise_runs", oracle, x0, parameters, rng, keep_path)
        runs = [self.optimise(lambda z: oracle(z[None])[0], start, parameters, rng) for start in x0]
        means = np.stack([run.x_bar for run in runs], axis=1)
        return means, np.stack([run.path for run in runs], axis=1) if keep_path else None

    def end_to_end(
        self, problem: Problem, x0: Vector, parameters: OuterParameters, alpha: float, rng: np.random.Generator
    ) -> OuterRun:
        """One run of an optimiser that takes no oracle; block means of shape (0, n) where it has none."""
        x_out, x_bar, path = self._ask("end_to_end", problem, x0, parameters, alpha, rng)
        return OuterRun(x_out, np.zeros((0, len(x0))) if x_bar is None else x_bar, path)

    def _one(self, stage: Asked, *args: Any) -> Vector:
        return np.asarray(self._ask(stage, *args)[0])

    def _two(self, stage: Asked, *args: Any) -> tuple[Vector, Any]:
        first, second = self._ask(stage, *args)
        return first, second

    def _ask(self, stage: Asked, *args: Any) -> list[Any]:
        """The parts of a stage's answer, each finite and of the sizes its row says."""
        row, parts = ROWS[stage], parts_of(stage, self._call(stage, *args))
        given = dict(zip(row.takes, args, strict=True))
        lengths, checked = _lengths(given), list[Any]()
        for part, value in zip(row.gives, parts, strict=True):
            if part.name == "calls":
                checked.append(checked_count(stage, value))
            elif part.optional and _is_left_out(stage, given, value):
                checked.append(None)
            else:
                where = f"{stage}.{part.name}" if stage in WHOLE_RUNS else stage
                checked.append(checked_array(where, value, tuple(lengths[size] for size in part.sizes)))
        return checked

    def _call(self, stage: str, *args: Any, by: str = "") -> Any:
        if not offers(self.subject, stage):
            raise MissingCapabilityError(f"the subject offers no {stage}")
        method: Callable[..., Any] = getattr(self.subject, by or stage)
        # A subject may tread on what it is given; the next stage is given the true values all the same.
        given = [_copied(argument) for argument in args]
        with as_fault(f"{stage} raised"):
            try:
                return method(*given)
            except (MissingCapabilityError, NotImplementedError) as refusal:
                ours = isinstance(self.subject, tuple(SPEAKERS)) and str(refusal).startswith("the subject ")
                if type(refusal) not in OWN_WORDS or ours:
                    raise
                raise MissingCapabilityError(f"{REFUSED}{stage}: {refusal}") from None


_ZERO = np.random.SeedSequence(0)


def unused_generator() -> np.random.Generator:
    """``np.random.default_rng(0)``, its seed spread out once: for what draws nothing that counts."""
    return np.random.Generator(np.random.PCG64(_ZERO))


def parts_of(stage: Asked, answer: Any) -> tuple[Any, ...]:
    """What a stage answered, part by part."""
    names = [part.name for part in ROWS[stage].gives]
    if len(names) == 1:
        return (answer,)
    if stage in WHOLE_RUNS:
        return tuple(answer.get(name) if isinstance(answer, dict) else getattr(answer, name, None) for name in names)
    # What a message calls hypergradients, a method returns as estimates.
    words = ", ".join(names).replace("hypergradients", "estimates")
    with as_fault(f"{stage} must return a pair ({words})"):
        first, second = answer
    return first, second


def _lengths(given: Mapping[str, Any]) -> dict[str, int]:
    """What a call's arguments say about the sizes of its answer."""
    lengths = {"p": len(given.get("h", ())), "replications": given.get("replications", 0)}
    if "problem" in given and "x" in given:
        lengths |= zip("nmp", (len(given["x"]), *sizes(given["problem"])[1:]), strict=True)
    if "x0" in given:
        x0, outer = given["x0"], given["parameters"]
        lengths |= {"R": len(x0), "n": x0.shape[-1], "K": outer.K, "T+1": outer.T + 1}
    return lengths


def _is_left_out(stage: Asked, given: Mapping[str, Any], value: Any) -> bool:
    """Whether a part that is optional is not there: nobody asked for it, or a whole optimiser has no block means."""
    if stage == "end_to_end":
        return value is None or np.size(value) == 0
    return not given["keep_path"]


def answer_shapes(stage: Asked, given: Mapping[str, Any]) -> list[tuple[int, ...] | None]:
    """Shapes of the parts of a stage's answer to these arguments by name; ``None`` for a count."""
    lengths = _lengths(given)
    return [tuple(lengths[size] for size in part.sizes) or None for part in ROWS[stage].gives]


def checked_count(stage: str, value: Any) -> float:
    """How many gradient samples a stage says that it took."""
    with as_fault(f"{stage} must count its gradient samples; got {type(value).__name__}"):
        count = float(value)
    if not 0 <= count < np.inf:
        raise SubjectFaultError(f"{stage} must count its gradient samples; got {count}")
    return count


def offers(subject: object, stage: str) -> bool:
    """Whether an object has a stage that can be called; where asking is an error already, that is a fault."""
    with as_fault(f"{stage} cannot be looked up"):
        return callable(getattr(subject, stage, None))


def _copied(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return argument.copy()
    if isinstance(argument, Call):
        copies: dict[str, Any] = {name: value.copy() for name, value in argument.stages.items() if value is not None}
        if argument.draws is not None:
            copies["draws"] = {name: block.copy() for name, block in argument.draws.items()}
        return Call(argument.alpha, argument.reading, argument.parameters, **copies)
    return argument


def sizes(problem: Problem) -> tuple[int, int, int]:
    """(n, m, p) of a problem of any kind."""
    # Of a model, an attribute that is not there is dear to ask for.
    sized: Any = problem if isinstance(problem, Quadratic) else getattr(problem, "quadratic", problem)
    return sized.n, sized.m, sized.p
