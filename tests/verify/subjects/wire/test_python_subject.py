"""A Python subject in a process of its own answers what it answers here, in the same words, and forgets when told."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from spec import InvalidInputError, OuterParameters
from spec.atlas import find
from tests.verify.subjects.counting import Counts, Refuses, whole
from verify.subjects import Call, MissingCapabilityError, SubjectFaultError
from verify.subjects.loading import end, load_apart
from verify.subjects.protocol import StageCalls
from verify.subjects.subject_names import version_of

HERE = "tests.verify.subjects.counting"
ONE = np.zeros(1)
OUTER = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.05, eta=0.04, M=4, K=3)


@pytest.fixture
def load():
    made = []

    def loaded(name):
        made.append(load_apart(f"{HERE}:{name}", time_limit=20.0))
        return made[-1]

    yield loaded
    for subject in made:
        end(subject)


def asked(subject):
    return float(StageCalls(subject).activation(ONE, ONE, 0.1, 0.1)[0])


def test_it_is_as_new_after_renewing_and_copies_are_apart(load):
    subject = load("Counts")
    assert [asked(subject), asked(subject)] == [1.0, 2.0]
    for _ in range(2):
        # The second copy is the first one renewed.
        with subject.fresh() as copy:
            assert [asked(copy), asked(copy)] == [1.0, 2.0]
            assert copy.pid != subject.pid
    assert len(subject._idle) == 1
    assert asked(subject) == 3.0
    subject.renew()
    assert asked(subject) == 1.0
    assert (subject.name, version_of(subject)) == ("counts", "3.1")


def test_its_faults_and_refusals_are_in_the_words_of_one_in_process(load):
    apart, here = StageCalls(load("Refuses")), StageCalls(Refuses())
    problem, x, call = find("toy1").problem, np.array([0.3]), Call(alpha=0.1)
    questions = {
        "hypergradient": (problem, x, call), "lower_level": (problem, x), "activation": (ONE, ONE, 0.1, 0.1),
    }  # fmt: skip
    for stage, given in questions.items():
        said = []
        for stages in (apart, here):
            with pytest.raises((SubjectFaultError, MissingCapabilityError)) as refusal:
                getattr(stages, stage)(*given)
            said.append((isinstance(refusal.value, MissingCapabilityError), str(refusal.value)))
        assert said[0] == said[1]


def test_a_whole_optimiser_answers_there_too(load):
    problem, x0 = find("toy1").problem, np.array([0.3])
    subject = load("whole")
    runs = [
        StageCalls(one).end_to_end(problem, x0, OUTER, 0.05, rng)
        for one, rng in ((subject, np.random.default_rng(5)), (subject, np.random.default_rng(5)))
    ]
    assert (runs[0].path == runs[1].path).all()
    assert runs[0].path.shape == (OUTER.T + 1, 1)
    assert runs[0].x_bar.shape == (0, 1)
    assert StageCalls(whole).end_to_end(problem, x0, OUTER, 0.05, np.random.default_rng(5)).x_bar.shape == (0, 1)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("no.such.module:Subject", r"cannot be loaded \(ModuleNotFoundError: No module named 'no'\)"),
        (f"{HERE}:Nothing", r"cannot be loaded \(AttributeError: .*'Nothing'\)"),
        (f"{HERE}:ReferenceSubject.name", "must offer one of the stages"),
        ("solver", 'must be "reference", "package.module:Attribute"'),
        (":", 'must be "reference", "package.module:Attribute"'),
    ],
)
def test_what_cannot_be_loaded_is_one_line(name, line):
    with pytest.raises(InvalidInputError, match=line) as refused:
        load_apart(name)
    assert "\n" not in str(refused.value)


def test_nothing_of_it_is_imported_here(load, tmp_path, monkeypatch):
    (tmp_path / "stranger_of_its_own.py").write_text("from tests.verify.subjects.counting import Counts as Subject\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    subject = load_apart("stranger_of_its_own:Subject")
    assert asked(subject) == 1.0
    end(subject)
    assert "stranger_of_its_own" not in sys.modules
    assert isinstance(Counts(), Counts)
