"""The decorator as a stranger uses it: in a project of their own, with pytest run on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from verify.cli.pytest_plugin import parametrize_with_claims

pytest_plugins = ["pytester"]

SOLVER = """
from dataclasses import replace
from verify.subjects import ReferenceSubject

class Right:
    made = 0
    def __init__(self):
        print("made once")
    def hypergradient(self, problem, x, call, rng):
        return ReferenceSubject().hypergradient(problem, x, call, rng)

class Wrong:
    def hypergradient(self, problem, x, call, rng):
        reading = call.reading.choose(dual_term="frozen")
        return ReferenceSubject().hypergradient(problem, x, replace(call, reading=reading), rng)

class Crashing:
    def hypergradient(self, problem, x, call, rng):
        raise RuntimeError("boom")

class Unmade:
    def __init__(self):
        raise RuntimeError("no licence")
    hypergradient = None
"""
HEAD = "from verify import parametrize_with_claims\nimport my_solver\n"


class Modules:
    """What the runs import, to be put back after each: pytester forgets it all.

    A library imported a second time has two of each class, which neither pickle nor sympy bears.
    """

    def __init__(self, own: Path) -> None:
        self.own = own
        self.kept: dict[str, ModuleType] = {}

    def pytest_unconfigure(self) -> None:
        self.kept |= {name: module for name, module in sys.modules.items() if not self.is_own(module)}

    def is_own(self, module: ModuleType) -> bool:
        file = getattr(module, "__file__", None)
        return file is not None and Path(file).is_relative_to(self.own)

    def put_back(self) -> None:
        for name, module in self.kept.items():
            sys.modules.setdefault(name, module)


class Project:
    def __init__(self, pytester: pytest.Pytester, modules: Modules) -> None:
        self.pytester, self.modules = pytester, modules
        pytester.makepyfile(my_solver=SOLVER)

    def run(self, text: str, *arguments: str, apart: bool = False) -> tuple[dict[str, int], str]:
        """Outcome counts and what pytest printed."""
        self.pytester.makepyfile(test_mine=HEAD + text)
        options = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-rA", "--no-header", *arguments)
        if apart:
            # What is copied has imported before what pytest would rewrite.
            options = (*options, "-W", "ignore::pytest.PytestAssertRewriteWarning")
            made = self.pytester.runpytest_subprocess(*options)
        else:
            made = self.pytester.runpytest_inprocess(*options, plugins=[self.modules])
            self.modules.put_back()
        return made.parseoutcomes(), made.stdout.str() + made.stderr.str()


@pytest.fixture
def modules(tmp_path: Path) -> Iterator[Modules]:
    """Asked for before pytester, which forgets once more at its own end."""
    modules = Modules(tmp_path.parent)
    yield modules
    modules.put_back()


@pytest.fixture
def project(modules: Modules, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, copied: list[str]) -> Project:
    monkeypatch.setenv("COLUMNS", "300")
    # A process of its own need not start as one.
    monkeypatch.setattr(pytester, "_getpytestargs", lambda: (*copied, "-m", "pytest"))
    pytester.syspathinsert()
    return Project(pytester, modules)


def decorated(subject: str, name: str = "test_claims", body: str = "claim.check()", **options: object) -> str:
    given = "".join(f", {key}={value!r}" for key, value in ({"causes": 0} | options).items())
    return f"\n@parametrize_with_claims({subject}{given})\ndef {name}(claim):\n    {body}\n"


def test_verdicts_become_outcomes(project: Project) -> None:
    only = {"instances": ("toy1",)}
    text = decorated('"my_solver:Right"', "test_right", claims=["bias-bound/T3", "bias-bound/uniformity"], **only)
    text += decorated("my_solver.Right", "test_missing", claims=["solution-error/monotonicity"], **only)
    text += decorated("my_solver.Wrong()", "test_wrong", claims=["bias-bound/T3"], **only)
    text += decorated("my_solver.Crashing", "test_crash", claims=["bias-bound/T3"], **only)
    text += decorated("my_solver.Unmade", "test_unmade", claims=["bias-bound/T3"], **only)
    text += decorated("my_solver.Right", "test_idle", "pass", claims=["bias-bound/T3"], **only)
    text += decorated("my_solver.Right", "test_own", "assert str(claim.verdict) == 'SUPPORTED'; "
                      "assert claim.results[0].interval", claims=["bias-bound/T3"], **only)  # fmt: skip
    counts, out = project.run(text)
    assert "test_idle never looked at its claim: call claim.check()" in out
    assert "REFUTED: bias-bound/T3 [repaired] on toy1: T₃ scales as α^-2.00 (interval" in out
    assert "reproduce: f2csa verify bias-bound/T3 --reading repaired --instance toy1 --profile smoke" in out
    assert "FAULT: bias-bound/T3 [repaired] on toy1: hypergradient raised RuntimeError: boom (my_solver.py:" in out
    assert "FAULT: the subject my_solver:Unmade cannot be made: RuntimeError: no licence" in out
    assert "During handling of the above" not in out
    assert "Not applicable: the subject offers no penalty_minimiser" in out
    assert "Traceback" not in out
    assert "pytest_plugin.py:" not in out.replace("SKIPPED", "\nSKIPPED").split("SKIPPED")[0]
    passed = [line for line in out.splitlines() if line.startswith("PASSED")]
    assert [line.split("::")[1].split("[")[0] for line in passed] == ["test_right", "test_own"]
    assert counts["failed"] == 4
    assert out.count("PASSED test_mine.py::test_right[bias-bound/T3-repaired]") == 1


@pytest.mark.parametrize("subject", ['"my_solver:Wrong"', "my_solver.Wrong"])
def test_what_is_off_in_the_stages_is_looked_for_once_and_told_by_each_that_fails(
    project: Project, subject: str
) -> None:
    text = decorated(subject, claims=["bias-bound/T3", "bias-bound/black-box"], instances=("toy1",), causes=120)
    counts, out = project.run(text, apart=True)
    assert counts == {"failed": 2}
    cause = "cause: hypergradient, ∇F off by up to "
    # pytest repeats the whole message in its summary where the variable CI is set.
    failures = out.split("short test summary info")[0]
    told = [line for line in failures.splitlines() if line.startswith(cause)]
    assert len(told) == 2
    assert all("line 6 = the right one + α₁·Aᵀλ̃" in line for line in told)
    assert out.count("f2csa: looking for what is off in each stage, for 120 s at most") == 1


def test_the_line_that_makes_a_stage_wrong_is_told_where_it_is_asked_for(project: Project) -> None:
    right = "return ReferenceSubject().hypergradient(problem, x, replace(call, reading=reading), rng)"
    turned = "answer = ReferenceSubject().hypergradient(problem, x, call, rng)\n        return -answer"
    kept = SOLVER.replace(right, turned)
    project.pytester.makepyfile(my_signs=kept)
    text = decorated('"my_signs:Wrong"', claims=["bias-bound/T3"], instances=("toy1",), causes=60, trace=True)
    counts, out = project.run(text, apart=True)
    assert counts == {"failed": 1}
    line = kept.splitlines().index("        return -answer")
    assert f"cause: hypergradient, my_signs.py:{line}: `return -answer` should be `return answer` (wrong on " in out


def test_a_subject_that_can_be_made_once_only_is_said_where_causes_were_to_be_looked_for(project: Project) -> None:
    once = "\n".join(["class Once(Wrong):", "    def __init__(self):", "        if vars(Once).get('is_made'):",
                      "            raise RuntimeError('one licence')", "        Once.is_made = True"])  # fmt: skip
    text = decorated("my_once.Once", claims=["bias-bound/T3"], instances=("toy1",), causes=20)
    project.pytester.makepyfile(my_once=f"from my_solver import Wrong\n\n{once}\n")
    counts, out = project.run(f"import my_once\n{text}", apart=True)
    assert counts == {"failed": 1}
    assert "REFUTED: bias-bound/T3 [repaired] on toy1" in out
    assert "causes were not looked for: making it once more ended in RuntimeError: one licence" in out
    assert "Traceback" not in out


def test_ending_the_process_fails_every_test_and_is_tried_once(project: Project) -> None:
    project.pytester.makepyfile(my_end="import os\nprint('tried', file=open('tried', 'a'))\nos._exit(0)")
    counts, out = project.run(decorated('"my_end:Subject"', claims=["bias-bound/T3", "bias-bound/T1"]), apart=True)
    assert counts == {"failed": 2}
    assert "cannot be made: subject: ended its process while it was loaded (exit code 0)" in out
    assert (project.pytester.path / "tried").read_text() == "tried\n"


NOTHING = """
from verify.subjects import MissingCapabilityError
class Nothing:
    def hypergradient(self, *given):
        raise MissingCapabilityError("not today")
    lower_level = activation = penalty_minimiser = optimise = hypergradient
"""


def test_a_subject_that_answers_nothing_fails_where_it_would_be_skipped(project: Project) -> None:
    project.pytester.makepyfile(my_nothing=NOTHING)
    text = decorated('"my_nothing:Nothing"', claims=["bias-bound/T3", "goldstein-convergence/clip"])
    counts, out = project.run(text, apart=True)
    assert counts == {"failed": 2}
    assert "FAULT: my_nothing:Nothing answers nothing: no comparison was made" in out


SLOW = """
import time
class Slow:
    name = "slow"
    def hypergradient(self, problem, x, call, rng):
        time.sleep(60)
"""


@pytest.mark.parametrize("subject", ['"my_slow:Slow"', "my_slow.Slow"])
def test_the_settings_say_how_long_a_stage_may_take(project: Project, subject: str) -> None:
    project.pytester.makepyfile(my_slow=SLOW)
    (project.pytester.path / "f2csa.toml").write_text('subject = "my_slow:Slow"\ntime-limit = 0.3\n')
    text = "import my_slow\n" + decorated(subject, claims=["bias-bound/T3"], instances=["toy1"])
    _, out = project.run(text, apart=True)
    assert "hypergradient did not answer within 0.3 s" in out


def test_settings_of_another_subject_say_nothing(project: Project) -> None:
    (project.pytester.path / "f2csa.toml").write_text('subject = "else:Where"\ntime-limit = 0.000001\n')
    counts, _ = project.run(decorated('"my_solver:Right"', claims=["bias-bound/T3"], instances=["toy1"]), apart=True)
    assert counts == {"passed": 1}


def test_broken_settings_are_one_line(project: Project) -> None:
    (project.pytester.path / "f2csa.toml").write_text("time-limit = -1\n")
    _, out = project.run(decorated('"my_solver:Right"', claims=["bias-bound/T3"]), apart=True)
    assert "parametrize_with_claims: f2csa.toml.time-limit: must be greater than 0" in out
    assert "Traceback" not in out


MINE = """
from concurrent.futures import ThreadPoolExecutor
def pool():
    print("asked", file=open("asked", "a"))
    return ThreadPoolExecutor(1)
"""


def test_an_executor_judges_for_it(project: Project) -> None:
    project.pytester.makepyfile(my_pool=MINE)
    asked = {"instances": ["toy1"], "executor": "my_pool:pool"}
    text = decorated('"my_solver:Right"', "test_right", claims=["bias-bound/T3", "bias-bound/T1"], **asked)
    text += decorated('"my_solver:Wrong"', "test_wrong", claims=["bias-bound/T3"], **asked)
    counts, out = project.run(text, apart=True)
    assert counts == {"passed": 2, "failed": 1}
    assert "REFUTED: bias-bound/T3 [repaired] on toy1" in out
    assert (project.pytester.path / "asked").read_text() == "asked\n" * 2


@pytest.mark.parametrize("subject", ["my_solver.Right", "my_solver.Right()"])
def test_an_executor_needs_a_name(project: Project, subject: str) -> None:
    _, out = project.run(decorated(subject, claims=["bias-bound/T3"], executor="my_pool:pool"), apart=True)
    assert "executor: must be given a subject by name; got" in out


def test_expected_failures(project: Project) -> None:
    text = decorated("my_solver.Wrong", "test_known", claims=["bias-bound/T3"], instances=("toy1",),
                     expected_failed={"bias-bound/T3": "keeps a term, see our #12"})  # fmt: skip
    text += decorated("my_solver.Right", "test_mended", claims=["bias-bound/T3"], instances=("toy1",),
                      expected_failed={"bias-bound/T3|repaired": "was wrong once"})  # fmt: skip
    text += decorated("my_solver.Crashing", "test_crash", claims=["bias-bound/T3"], instances=("toy1",),
                      expected_failed={"bias-bound/T3": "known"})  # fmt: skip
    text += decorated("my_solver.Right", "test_missing", claims=["solution-error/monotonicity"], instances=("toy1",),
                      expected_failed={"solution-error/monotonicity": "known"})  # fmt: skip
    counts, out = project.run(text)
    assert counts == {"failed": 3, "xfailed": 1}
    assert "but it is skipped: Not applicable: the subject offers no penalty_minimiser. Take it out of" in out
    assert "XFAIL test_mine.py::test_known[bias-bound/T3-repaired] - keeps a term, see our #12 (REFUTED: T₃" in out
    assert "is expected to fail (was wrong once), but it holds. Take it out of expected_failed." in out
    assert "FAULT: bias-bound/T3" in out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"expected_failed": {"bias-bound/T9": "?"}}, "expected_failed bias-bound/T9.claim: must be a known claim"),
        ({"expected_failed": {"bias-bound/T3": " "}}, "must have a reason"),
        ({"expected_failed": {"bias-bound/T3|as-written": "?"}}, "expected_failed must name tests there are"),
        ({"expected_failed": {"bias-bound/T3": "?"}, "readings": ["as-written"]}, "must name tests there are"),
        ({"expected_failed": {"bias-bound/T3|repaired|toy1": "?"}}, "single instances need per_instance=True"),
        ({"claims": ["bias-bond"]}, "bias-bond"),
        ({"readings": ["literal"]}, "must be as-written, repaired, only:FIELD, choose:... or keep:FIELD=VALUE"),
        ({"instances": ["toy9"]}, "toy9"),
        ({"causes": -1}, "causes: must be >= 0 and finite; got -1"),
        ({"trace": True}, "trace: must go with a Python subject, package.module:Attribute; got object"),
        ({"profile": "fast"}, "must be one of smoke, ci, full"),
        ({"claims": ["scaling-experiment"]}, "must say something about a solver"),
    ],
)
def test_stale_and_unknown_names_are_one_line_at_collection(options: dict, says: str) -> None:
    with pytest.raises(pytest.Collector.CollectError) as caught:
        parametrize_with_claims(object(), **options)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_stale_name_stops_pytest_without_a_traceback(project: Project) -> None:
    text = decorated("my_solver.Right", expected_failed={"bias-bound/T9": "?"})
    counts, out = project.run(text)
    assert counts == {"errors": 1}
    assert "parametrize_with_claims: expected_failed bias-bound/T9.claim: must be a known claim or step" in out
    assert "Traceback" not in out
    assert "pytest_plugin.py" not in out


def test_only_what_is_selected_runs_and_ids_are_the_same_in_every_process(project: Project) -> None:
    text = decorated("my_solver.Right", claims=["bias-bound"], readings=["as-written", "repaired"],
                     instances=("toy1", "two-of-three"), per_instance=True)  # fmt: skip
    name = "bias-bound/T3-repaired-toy1"
    counts, out = project.run(text, "-k", "T3 and not uniform and repaired and toy1", "-s")
    assert counts["passed"] == 1
    assert out.count("made once") == 1
    counts, out = project.run(text, f"test_mine.py::test_claims[{name}]")
    assert counts == {"passed": 1}
    counts, out = project.run(text, "-k", "T3 and not uniform and repaired", "-n", "2")
    assert counts["passed"] == 2, out


def test_as_written_the_verdict_on_record_passes(project: Project) -> None:
    given = {"claims": ["bias-bound/T3"], "instances": ("toy1",), "readings": ["as-written"]}
    text = decorated("my_solver.Right", "test_right", **given)
    text += decorated("my_solver.Wrong", "test_wrong", **given)
    counts, _ = project.run(text)
    assert counts == {"passed": 2}  # the text itself keeps the term


def test_who_answers_only_where_it_is_right_proves_nothing(project: Project) -> None:
    project.pytester.makepyfile(
        choosy="""
from verify import MissingCapabilityError
from verify.subjects import ReferenceSubject

class Choosy:
    asked = 0
    def hypergradient(self, problem, x, call, rng):
        if problem.p == 3:
            raise MissingCapabilityError("I do not do this one")
        return ReferenceSubject().hypergradient(problem, x, call, rng)
"""
    )
    text = "import choosy\nfrom verify import parametrize_with_claims\n\n"
    text += "@parametrize_with_claims(choosy.Choosy, claims=['bias-bound/black-box'])\n"
    text += "def test_claims(claim):\n    claim.check()\n    raise RuntimeError('passed')\n"
    counts, out = project.run(text)
    assert counts == {"failed": 1}
    assert "undecided: bias-bound/black-box [repaired] on two-of-three" in out
