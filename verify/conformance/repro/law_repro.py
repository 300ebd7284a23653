"""What to paste where a law is off: the same random numbers are drawn again, and a statistic must lie within bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator

from spec import Noise
from spec.blocks.exact_json import plain
from verify.conformance.comparison.stage_comparison import Seen, shifted
from verify.conformance.found import Reproduction
from verify.conformance.places.places import with_noise
from verify.conformance.probes.probes import n_of
from verify.conformance.random_stages import (
    FIRST,
    ROUNDING,
    RUNS,
    SURE,
    Signature,
    StageSetting,
    Statistic,
    reference_runs,
    run_settings,
    sample_settings,
)
from verify.conformance.repro.scripts import array, in_interval, of_call, of_problem, script


def of_law(seen: Seen, stage: str, load: str) -> Reproduction | None:
    """The smallest setting with a statistic that is off; ``None`` where none is."""
    return _of_samples(seen, load) if stage == "samples" else _of_runs(seen, load)


def _of_samples(seen: Seen, load: str) -> Reproduction | None:
    sampled = seen.sampled
    if sampled is None:
        return None
    for setting in sampled.settings or sample_settings():
        name = _first_off(setting, sampled.signature, sampled.law)
        if name is None:
            continue
        count = sampled.counts[setting.id]
        sizes = ", ".join(str(size) for size in _sizes(count))
        expression = "subject.hypergradient_samples(problem, x, call, rng, size)"
        lines = [
            *_setting(setting),
            f"rng = np.random.default_rng([{n_of(setting.id)}, 0])",
            f"samples = np.concatenate([{expression} for size in ({sizes},)])",
            "# In standard deviations of the right law; every statistic must be 0 within what chance allows.",
            *_centre(setting, shifted(seen)),
            f'found = of_samples(samples, centre, {setting.deviation!r}, "")[{f": {_short(name)}"!r}]',
            "got = found.value",
            f"high = {SURE!r} * found.error + {ROUNDING!r} * max(1.0, abs(got))",
            "low = -high",
            f'print({_short(name)!r}, "of", len(samples), "estimates")',
        ]
        return _made(setting, name, sampled.signature[name], sampled.law[name], (f"{count} estimates", load, lines))
    return None


def _of_runs(seen: Seen, load: str) -> Reproduction | None:
    law = reference_runs()
    for setting in run_settings():
        if not any(name.startswith(f"{setting.id}:") for name in seen.runs):
            continue
        name = _first_off(setting, seen.runs, law) if setting.settled else None
        if name is not None:
            right = law[name]
            what, _, component = _short(name).partition(" of component ")
            measure = "mean(axis=0)" if what == "mean" else "std(axis=0, ddof=1)"
            error = SURE * math.hypot(seen.runs[name].error, right.error)
            low, high = right.value - error - ROUNDING, right.value + error + ROUNDING
            lines = [
                *_setting(setting), f"rng = np.random.default_rng([{n_of(setting.id)}, {RUNS}])",
                f"rows = np.hstack(subject.lower_level_runs(problem, x, call, rng, {RUNS}))",
                f"got = rows.{measure}[{int(component) - 1}]", f"low, high = {low!r}, {high!r}",
            ]  # fmt: skip
            return _made(setting, name, seen.runs[name], right, (f"{RUNS} runs", load, lines))
        count = seen.runs.get(f"{setting.id}: samples")
        if count is not None and count.value < setting.fewest_gradients:
            least = setting.fewest_gradients
            lines = [
                *_setting(setting), f"rng = np.random.default_rng([{n_of(setting.id)}, {RUNS}])",
                f"_, got = subject.{setting.stage}(problem, x, call, rng, {RUNS})", f"low, high = {least!r}, np.inf",
            ]  # fmt: skip
            return _made(setting, f"{setting.id}: samples a run", count, Statistic(least, 0.0, "at least"),
                         (f"{RUNS} runs", load, lines))  # fmt: skip
    return None


def _centre(setting: StageSetting, own_mean: bool) -> list[str]:
    """What the mean must be: the subject's own answer without noise where its formula is off anyhow."""
    if not own_mean:
        return [f"centre = {array(setting.mean)}"]
    quiet = of_problem(with_noise(setting.problem, Noise()), "quiet")
    return [quiet, "centre = subject.hypergradient(quiet, x, call, np.random.default_rng(0))"]


def _first_off(setting: StageSetting, signature: Signature, law: Signature) -> str | None:
    """The first statistic of a setting that is not its law's."""
    own = (name for name in signature if name.startswith(f"{setting.id}:") and name in law)
    return next((name for name in own if signature[name].apart(law[name]) > 1), None)


def _short(name: str) -> str:
    return name.partition(": ")[2]


def _sizes(count: int) -> Iterator[int]:
    """Sizes of the calls in which so many samples are drawn."""
    size = FIRST
    while count > 0:
        yield min(size, count)
        count -= size
        size *= 4


def _setting(setting: StageSetting) -> list[str]:
    return [of_problem(setting.problem), f"x = {array(setting.x)}", f"call = {of_call(setting.call)}"]


def _made(
    setting: StageSetting, name: str, got: Statistic, right: Statistic, told: tuple[str, str, list[str]]
) -> Reproduction:
    """A case; ``told`` is how many were drawn, how the subject is loaded, and the lines that draw them."""
    count, load, lines = told
    least = "at least " if right.shown == "at least" else ""
    sentence = (
        f"Smallest setting found ({setting.id}): {_short(name)} is {got.value:.4g} ± {got.error:.2g} over {count} "
        f"where it must be {least}{right.value:.4g}."
    )
    return Reproduction(sentence=sentence, problem=plain(setting.problem.to_dict()),
                        x=tuple(repr(float(value)) for value in setting.x), expected=(right.value,), got=(got.value,),
                        code=script(load, [*lines, *in_interval()]))  # fmt: skip
