"""What a subject is given and how it is held to its answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spec.atlas import find
from verify.subjects import Call, MissingCapabilityError, ReferenceSubject, SubjectFaultError
from verify.subjects.protocol import StageCalls

X = np.array([1.0])


def noisy_call(N_g: int) -> Call:
    call = Call(0.1)
    blocks = {"f_x": np.full((N_g, 1), 2.0)}
    return Call(0.1, parameters=call.parameters.model_copy(update={"N_g": N_g}), draws=blocks)


def test_supplied_draws_are_used_in_place_of_the_generator() -> None:
    problem = find("toy1").problem
    stages = StageCalls(ReferenceSubject())
    assert stages.use_draws
    quiet = stages.hypergradient(problem.model_copy(update={"noise": type(problem.noise)()}), X, Call(0.1))
    noisy = stages.hypergradient(problem, X, noisy_call(3))
    np.testing.assert_allclose(noisy - quiet, 2.0 * float(problem.noise.sigma_f), rtol=1e-12)


def test_a_subject_cannot_tread_on_the_draws() -> None:
    class Treads(ReferenceSubject):
        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
            assert call.draws is not None
            call.draws["f_x"][:] = np.nan
            return np.zeros(1)

    call = noisy_call(2)
    StageCalls(Treads()).hypergradient(find("toy1").problem, X, call)
    assert call.draws is not None
    assert np.isfinite(call.draws["f_x"]).all()


def test_a_subject_that_says_nothing_about_draws_uses_none() -> None:
    class Plain:
        name = "plain"

        def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
            return h

    assert not StageCalls(Plain()).use_draws


class Answers:
    """A subject whose activation answers with one given thing."""

    name = "answers"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Tensor:
    """What a foreign tensor shows of itself: numbers through the array protocol, and whether it has a graph."""

    def __init__(self, values: Any, *, requires_grad: bool = False, dtype: Any = np.float64) -> None:
        self.values, self.requires_grad, self.dtype = values, requires_grad, dtype

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return np.array(self.values, dtype=dtype or self.dtype)


def activation_of(answer: Any) -> Any:
    return StageCalls(Answers(answer)).activation(np.zeros(2), np.ones(2), 0.1, 0.1)


@pytest.mark.parametrize("answer", [Tensor([0.5, 1.0]), [0.5, 1], (0.5, 1.0), np.array([0.5, 1.0])])
def test_whatever_numpy_reads_as_doubles_is_an_answer(answer: Any) -> None:
    found = activation_of(answer)
    assert found.dtype == np.float64
    assert found.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (Tensor([0.5, 1.0], requires_grad=True), "got Tensor (TypeError: it requires grad: return it detached)"),
        (Tensor([0.5, 1.0], dtype=np.float32), "got Tensor (TypeError: float32: work in float64, "),
        (np.array([0.5, 1.0], dtype=np.float16), "got ndarray (TypeError: float16: work in float64, "),
    ],
)
def test_a_tensor_that_cannot_be_judged_says_why_in_a_line(answer: Any, line: str) -> None:
    with pytest.raises(SubjectFaultError) as caught:
        activation_of(answer)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_subject_may_say_itself_what_it_does_not_do() -> None:
    with pytest.raises(MissingCapabilityError, match=r"^the subject does not support this activation: not yet$"):
        activation_of(MissingCapabilityError("not yet"))


def test_python_s_own_word_for_what_is_not_there_is_a_refusal_too():
    class Partial:
        name = "partial"

        def lower_level(self, problem, x):
            raise NotImplementedError("not for such a problem")

    with pytest.raises(MissingCapabilityError, match="does not support this lower_level: not for such a problem"):
        StageCalls(Partial()).lower_level(find("toy1").problem, np.ones(1))


@pytest.mark.parametrize("answer", [[], None, 3.0])
def test_many_estimates_that_are_none_end_in_a_fault_and_not_in_a_loop(answer: Any) -> None:
    subject: Any = ReferenceSubject()
    subject.hypergradients_together = lambda problem, calls, rng: answer
    questions = [(np.array([0.5]), Call(alpha=0.1))] * 2
    with pytest.raises(SubjectFaultError, match="a list of one answer or more"):
        StageCalls(subject).hypergradients(find("toy1").problem, questions)
