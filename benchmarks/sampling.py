"""How many estimator samples a second one core draws and takes into streaming moments.

Common draws of additive noise need d normals a sample, independent ones 3d. Run: python benchmarks/sampling.py
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time

import numpy as np

from spec import REPAIRED, Noise
from spec.atlas import Instance, experiment
from verify.checks.measuring.case import Case, find_profile
from verify.checks.measuring.estimates.samples import SampleSetting
from verify.evidence.streams import BLOCK
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import Call, StageCalls

SIZES = (10, 50)
BLOCKS = 60
REPEATS = 3
MODELS = ("additive", "matrix")


def rate(d: int, model: str, pairing: str) -> float:
    """Samples a second at size d, the best of a few repeats: draws, estimates and streaming moments together."""
    noise = Noise.model_validate({"model": model, "sigma_f": "1/10", "sigma_g": "1/10"})
    zero: tuple[int, ...] = (0,) * d
    drawn = Instance("benchmark", experiment(d), zero, "speed", frozenset()).with_noise(noise)  # type: ignore[arg-type]  # zeros are exact
    reading = REPAIRED.choose(noise_pairing=pairing)
    y, rows = np.full(d, 0.25), 2 * d
    call = Call(alpha=0.1, reading=reading, y_star=y, lam=np.zeros(rows), rho=np.zeros(rows), y_penalty=y + 0.01)
    case = Case(
        claim="variance-bound", bound=None, reading_name="repaired", reading=reading, instance=drawn,  # type: ignore[arg-type]  # nothing is decided
        stages=StageCalls(ReferenceSubject()), profile=find_profile("ci"), rng=np.random.default_rng(0),
    )  # fmt: skip
    setting = SampleSetting(case, geometry=None, call=call)  # type: ignore[arg-type]  # the exact mean is not asked for
    best = 0.0
    for _ in range(REPEATS):
        sampler = setting.sampler(around=np.zeros(d))
        started = time.perf_counter()
        sampler.reach(BLOCKS * BLOCK)
        best = max(best, sampler.moments.count / (time.perf_counter() - started))
    return best


def main() -> None:
    """Print a table."""
    for d in SIZES:
        for model in MODELS:
            for pairing in ("common", "independent"):
                print(f"d = {d:3d}  {model:8s}  {pairing:11s}  {rate(d, model, pairing) / 1e6:6.2f} M samples/s")


if __name__ == "__main__":
    main()
