"""What to paste where Algorithm 2 is off: a run on a known oracle, and what one line of the algorithm must give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spec import OuterParameters, parse_problem
from verify.conformance import outer
from verify.conformance.comparison.end_to_end import ALPHA, first_broken, is_offered
from verify.conformance.comparison.runs_together import SEED, TOGETHER, compare_together, starts_of
from verify.conformance.comparison.stage_comparison import Seen
from verify.conformance.found import Reproduction
from verify.conformance.repro.scripts import array, in_interval, of_problem, script
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls

SCHEDULES = ((1, 2), (1, 3), (2, 2), (1, 4), (2, 3), (1, 6), (2, 6), (1, 12), (1, 24))
"""Block lengths and numbers of blocks to try, shortest runs first."""
_ALLOWED = f"{outer.TOLERANCE!r} * (np.abs(run.path).max() + np.abs(rows) + np.abs(right))"
_FIRST_OFF = [
    f"allowed = {_ALLOWED}",
    "t = int((np.abs(rows - right) > allowed).any(axis=1).argmax())",
    "got, must_be = rows[t], right[t]",
    "low, high = must_be - allowed[t], must_be + allowed[t]",
]
_LAST = 'print("got", got.tolist(), "must be", must_be.tolist())'
_LINES = {
    "steps": [
        "rows = np.diff(run.path, axis=0)  # steps Δ_1, ..., Δ_T",
        "moved = rows[:-1] - q.eta * np.array(answers)[:-1]",
        "lengths = np.linalg.norm(moved, axis=1, keepdims=True)",
        "right = np.vstack([0 * rows[:1], moved * (q.D / np.maximum(lengths, q.D))])",
        *_FIRST_OFF, 'print(f"step {t + 1}: the one before, less eta times the answer, no longer than D")', _LAST,
    ],
    "queries": [
        "rows, starts, steps = np.array(asked), run.path[:-1], np.diff(run.path, axis=0)",
        "share = ((rows - starts) * steps).sum(axis=1) / np.maximum((steps**2).sum(axis=1), 1e-300)",
        "right = starts + np.clip(share, 0.0, 1.0)[:, None] * steps",
        *_FIRST_OFF, "ends = np.sort([run.path[t], run.path[t + 1]], axis=0)",
        'print(f"z_{t + 1}: between x_{t} and x_{t + 1}")',
    ],
    "means": [
        "rows, right = run.x_bar, np.array(asked).reshape(q.K, q.M, -1).mean(axis=1)",
        *_FIRST_OFF, 'print(f"block {t + 1}: the mean of the points asked at")', _LAST,
    ],
    "outputs": [
        "rows = run.x_out[None]",
        "right = run.x_bar[[np.linalg.norm(run.x_bar - run.x_out, axis=1).argmin()]]",
        *_FIRST_OFF, 'print("output: one of the block means, the nearest is")', _LAST,
    ],
}  # fmt: skip
"""By the part that is off, after a run: what came out, and what must."""
_BETWEEN = [
    "low, high = ends[0] - allowed[t], ends[1] + allowed[t]",
    'print("got", got.tolist(), "must be in", ends.ravel().tolist())',
]
_ALONG = [
    "shares = []",
    "for one in (*record.runs, *record.outputs[:4]):",
    "    starts, steps = one.run.path[:-1], np.diff(one.run.path, axis=0)",
    "    squares = (steps**2).sum(axis=1)",
    "    long = squares > (1e-6 * one.trial.parameters.D) ** 2",
    "    shares += (((one.z - starts) * steps).sum(axis=1)[long] / squares[long]).tolist()",
    "s, ends = np.sort(shares), np.arange(len(shares) + 1) / len(shares)",
    "got = float(np.maximum(ends[1:] - s, s - ends[:-1]).max() * np.sqrt(len(s)))",
    'print(f"s_t over {len(s)} steps: mean {s.mean():.3f}; Kolmogorov\'s distance from uniform, times √{len(s)}")',
]
_COUNTED = [
    "counts = np.zeros(len(record.outputs[0].run.x_bar))",
    "for one in record.outputs:",
    "    counts[np.linalg.norm(one.run.x_bar - one.run.x_out, axis=1).argmin()] += 1",
    "got = float(((counts - counts.mean()) ** 2).sum() / counts.mean())",
    'print("blocks were output", counts, "times; chi-squared against uniform")',
]
_SURPRISE = [
    "found = next(c for c in {compared} if c.part == {part!r})",
    "print(found.sentence)",
    "# In units of what chance allows.",
    "got, low, high = found.excess, 0.0, 1.0",
]


def of_run(seen: Seen, load: str) -> Reproduction | None:
    """The shortest run that shows what is off; ``None`` where nothing is."""
    if is_offered(seen.stages):
        return _end_to_end(seen.stages, load)
    if seen.record is None:
        return _of_calls(load) if seen.stages.offers("optimise") else _of_together(seen, load)
    wrong = next((c for c in outer.compare(seen.record, outer.RIGHT) if c.excess > 1), None)
    if wrong is None:
        return _of_together(seen, load)
    if wrong.is_law or wrong.part not in _LINES:
        sentence = f"Over all runs: {wrong.sentence}."
        lines = ["record = outer.watch(subject)", *_law(wrong)]
        return Reproduction(sentence=sentence, expected=wrong.expected, got=wrong.got, code=script(load, lines))
    trials = [*enumerate(outer.TRIALS), (1000, outer.OUTPUT_TRIAL)]
    seed, trial = next((seed, t) for seed, t in trials if t.id == wrong.trial)
    trial, wrong, seed = _shortest_run(seen, trial, wrong, seed)
    sentence = f"Smallest run found ({trial.id}, T = {trial.parameters.T}): {wrong.said}."
    lines = _LINES[wrong.part]
    if wrong.part == "queries":
        lines = [*lines, *(_BETWEEN if len(trial.x0) == 1 else [_LAST])]
    return Reproduction(sentence=sentence, expected=wrong.expected, got=wrong.got,
                        code=script(load, [*_run(trial, seed), *lines]))  # fmt: skip


def _of_together(seen: Seen, load: str) -> Reproduction | None:
    """The first run, of those made together, with a line that is off, or else the law that all of them break."""
    off = sorted((c for c in compare_together(seen.together) if c.excess > 1), key=lambda c: c.is_law)
    if not off:
        return None
    wrong = off[0]
    if wrong.is_law or wrong.part not in _LINES:
        lines = ["groups = watch_together(subject)", *_surprise("compare_together(groups)", wrong.part)]
        return Reproduction(sentence=f"Over all runs made together: {wrong.sentence}.", expected=wrong.expected,
                            got=wrong.got, code=script(load, lines))  # fmt: skip
    seed, trial, r = next(
        (SEED + k, trial, r)
        for k, (trial, group) in enumerate(zip(TOGETHER, seen.together, strict=True))
        for r, one in enumerate(group) if one.trial.id == wrong.trial
    )  # fmt: skip
    lines = [
        *_run(trial, seed)[:-1],
        f"starts = {array(starts_of(trial))}",
        f"x_bar, path = subject.optimise_runs(oracle, starts, q, np.random.default_rng({seed}), keep_path=True)",
        "# One of them by itself.",
        f"asked = arranged(asked, starts, q.T)[:, {r}]",
        "answers = np.where(asked >= 0, 1.0, -1.0) * slopes + curvature * asked",
        f"run = SimpleNamespace(x_out=x_bar[0, {r}], x_bar=x_bar[:, {r}], path=path[:, {r}])",
        *_LINES[wrong.part],
        *([_LAST] if wrong.part == "queries" else []),
    ]
    return Reproduction(sentence=f"On {wrong.trial}, T = {trial.parameters.T}: {wrong.said}.", expected=wrong.expected,
                        got=wrong.got, code=script(load, lines))  # fmt: skip


def _end_to_end(stages: StageCalls, load: str) -> Reproduction | None:
    first = first_broken(stages)
    if first is None:
        return None
    q = first.trial.parameters
    schedule = (
        f"goldstein_radius={q.goldstein_radius!r}, epsilon={q.epsilon!r}, D={q.D!r}, eta={q.eta!r}, M={q.M}, K={q.K}"
    )
    lines = [
        of_problem(parse_problem(first.trial.data)),
        f"q = OuterParameters({schedule})",
        f"x0 = {array(first.trial.x0)}",
        "",
        "def solved(seed):",
        f"    return loaded.end_to_end(problem, x0, q, {ALPHA!r}, np.random.default_rng(seed))",
        "",
        f"run = solved({first.seed})",
        *first.code,
        f"low, high = {array(first.low)}, {array(first.high)}",
        'print("got", np.ravel(got).tolist(), "must be in", [low.tolist(), high.tolist()])',
    ]
    return Reproduction(sentence=f"On {first.trial.id}, T = {q.T}: {first.said}.", expected=first.middle,
                        got=tuple(first.got.tolist()), code=script(load, lines))  # fmt: skip


def _of_calls(load: str) -> Reproduction:
    """It does not ask as often as it must."""
    trial = outer.TRIALS[0]
    T = trial.parameters.T
    lines = [*_run(trial, 0), f"got, must_be = len(asked), {T}  # T = KM", "low = high = must_be"]
    return Reproduction(sentence=f"It does not ask its oracle T = {T} times ({trial.id}).", expected=(float(T),),
                        code=script(load, [*lines, 'print("got", got, "must be", must_be)']))  # fmt: skip


def _law(wrong: outer.LoopComparison) -> list[str]:
    """Lines that hold a law against its bound."""
    if "where uniform" in wrong.sentence and wrong.part in ("queries", "outputs"):
        along = wrong.part == "queries"
        bound = f"special.kolmogi({outer.FALSE_ALARM!r})"
        if not along:
            bound = f"special.chdtri(len(counts) - 1, {outer.FALSE_ALARM!r})"
        chance = [f"low, high = 0.0, float({bound})"]
        return [*(_ALONG if along else _COUNTED), *chance, *in_interval()]
    return _surprise("outer.compare(record, outer.RIGHT)", wrong.part)


def _surprise(compared: str, part: str) -> list[str]:
    return [
        line.format(compared=compared, part=part) if "{part" in line else line for line in _SURPRISE
    ] + in_interval()


def _shortest_run(
    seen: Seen, trial: outer.LoopTrial, wrong: outer.LoopComparison, seed: int
) -> tuple[outer.LoopTrial, outer.LoopComparison, int]:
    q = trial.parameters
    for M, K in SCHEDULES:
        schedule = OuterParameters(goldstein_radius=q.goldstein_radius, epsilon=q.epsilon, D=q.D, eta=q.eta, M=M, K=K)
        short = replace(trial, parameters=schedule)
        try:
            one = outer.record(seen.stages, short, 0)
        except (SubjectFaultError, MissingCapabilityError, outer.WrongNumberOfCallsError):
            break
        with np.errstate(all="ignore"):  # no outputs are counted
            lines = outer.compare(outer.LoopRecord((one,), ()), outer.RIGHT)
        comparisons = [c for c in lines if c.part == wrong.part and c.excess > 1 and not c.is_law]
        if comparisons:
            return short, comparisons[0], 0
    return trial, wrong, seed


def _run(trial: outer.LoopTrial, seed: int) -> list[str]:
    q = trial.parameters
    schedule = (
        f"goldstein_radius={q.goldstein_radius!r}, epsilon={q.epsilon!r}, D={q.D!r}, eta={q.eta!r}, M={q.M}, K={q.K}"
    )
    return [
        f"slopes, curvature = {array(trial.slopes)}, {trial.curvature!r}",
        "asked, answers = [], []",
        "",
        "def oracle(z):",
        "    asked.append(np.array(z))",
        "    answers.append(np.where(z >= 0, 1.0, -1.0) * slopes + curvature * z)",
        "    return answers[-1].copy()",
        "",
        f"q = OuterParameters({schedule})",
        f"run = subject.optimise(oracle, {array(trial.x0)}, q, np.random.default_rng({seed}))",
    ]
