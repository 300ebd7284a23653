"""A soak finds a fault that was planted in one family, and shrinks it to a problem that repeats it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec.atlas import find, read_instance
from verify import run
from verify.campaign.draws import status_of_draw
from verify.campaign.soak.model import SoakReport
from verify.campaign.soak.soaking import Soak
from verify.subjects.reference import ReferenceSubject
from verify.truth.geometry import quadratic_of

CLAIM = "dual-extraction/weighted-rows"


class FallsOver(ReferenceSubject):
    """Raises where a row is active without a multiplier: on the draws of one family."""

    def penalty_minimiser(self, problem: Any, x: Any, call: Any, tol: Any) -> Any:
        q = quadratic_of(problem).arrays
        h = q.A @ x - q.B @ call.y_star - q.b
        if np.any((np.abs(h) < 1e-9) & (call.lam < 1e-9)):
            raise ZeroDivisionError("no multiplier")
        return super().penalty_minimiser(problem, x, call, tol)


class Bent(ReferenceSubject):
    """Off by a tenth where some row does not bind."""

    def penalty_minimiser(self, problem: Any, x: Any, call: Any, tol: Any) -> Any:
        return super().penalty_minimiser(problem, x, call, tol) + 0.1


def test_it(tmp_path):
    import time

    t = time.time()
    report, interrupted = Soak(tmp_path, Bent(), [CLAIM], profile="smoke", draws=2).carried_out()
    print(report.model_dump_json(indent=1))
    print(time.time() - t)
    for f in report.findings:
        print(Path(f.instance).read_text())
    t = time.time()
    report, interrupted = Soak(tmp_path, FallsOver(), [CLAIM], profile="smoke", draws=2).carried_out()
    print(report.model_dump_json(indent=1))
    print(time.time() - t)
    for f in report.findings:
        print(Path(f.instance).read_text())
