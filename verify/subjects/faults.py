"""What a subject may do instead of answering, and its answers as numbers that can be relied on."""

from __future__ import annotations

from numbers import Real
from types import TracebackType
from typing import Any

import numpy as np

from spec.errors import InvalidInputError
from spec.exact import Vector, all_finite
from verify.subjects.fault_places import on_one_line, raised_at


class SubjectFaultError(RuntimeError):
    """The subject crashed or returned something that is not an answer."""


class StageFaultError(SubjectFaultError):
    """A fault whose line names the stage and what it did, in a word of :mod:`verify.subjects.wire.messages` too."""

    def __init__(self, line: str, kind: str = "error") -> None:
        super().__init__(line)
        self.kind = kind

    def __reduce__(self) -> tuple[type[StageFaultError], tuple[str, str]]:
        return type(self), (str(self), self.kind)


class LoadingFaultError(InvalidInputError):
    """A subject that is there and raised, quit or hung while it was loaded: refused as wrong input is, but a fault."""

    exit_code = 3


class MissingCapabilityError(RuntimeError):
    """The subject does not offer a stage, or not so; a stage may raise it, or NotImplementedError, in its own words."""


UNWRITABLE = ("read-only", "not writeable", "not writable", "readonly")
"""How numpy, buffers of compiled code and torch say that an array must not be written to."""
DOUBLE = np.dtype(np.float64)


def checked_array(stage: str, value: Any, shape: tuple[int, ...]) -> Vector:
    """An answer as doubles of the shape it must have.

    A tensor is taken off its graph and its device where it knows how (``detach``, ``cpu``).

    Raises:
        SubjectFaultError: If it is none.
    """
    if type(value) is np.ndarray and value.dtype is DOUBLE and value.shape == shape and all_finite(value):
        return value.copy()
    return as_numbers(stage, value, shape)


def as_numbers(stage: str, value: Any, shape: tuple[int, ...] | None = None) -> Vector:
    """An answer as doubles, of whatever shape if none is given; raises what :func:`checked_array` does."""
    with as_fault(f"{stage} must return numbers; got {type(value).__name__}", placed=False):
        numbers = np.asarray(_at_hand(value))
        # Truth values, text and complex numbers would convert, silently and wrongly.
        objects = numbers.ravel() if numbers.dtype.kind == "O" else ()
        if numbers.dtype.kind not in "iufO" or any(isinstance(o, bool) or not isinstance(o, Real) for o in objects):
            raise TypeError("no real numbers")
        if numbers.dtype.kind == "f" and numbers.dtype.itemsize < 8:
            raise TypeError(f"{numbers.dtype}: work in float64, α⁻⁴ leaves shorter numbers no digits")
        fits = shape is None or numbers.shape == shape
        array = numbers.astype(np.float64) if fits else np.broadcast_to(0.0, numbers.shape)
    if not fits:
        raise SubjectFaultError(f"{stage} must return shape {shape}; got {array.shape}")
    if not all_finite(array):
        raise SubjectFaultError(f"{stage} must return finite numbers; got {array.ravel()[:4]}")
    return array


def _at_hand(value: Any) -> Any:
    """A tensor without its graph, in this machine's own memory."""
    if getattr(value, "requires_grad", False) is True:
        if not callable(getattr(value, "detach", None)):
            raise TypeError("it requires grad: return it detached")
        value = value.detach()
    device = getattr(getattr(value, "device", None), "type", "cpu")
    return value.cpu() if device != "cpu" and callable(getattr(value, "cpu", None)) else value


class as_fault:  # noqa: N801  # read as the statement it makes of a block
    """Turn whatever a subject does into a fault of its own; only the user's interrupt ends the run.

    ``placed``: whether the fault says where in the subject's source it was raised.
    """

    def __init__(self, what: str, *, placed: bool = True) -> None:
        self.what = what
        self.placed = placed

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if error is None or isinstance(error, KeyboardInterrupt | MissingCapabilityError | StageFaultError):
            return
        # exit() as well: a subject must not end the run with a success
        description = described(error, placed=self.placed)
        raise SubjectFaultError(
            f"{self.what} {description}" if self.what.endswith(" raised") else f"{self.what} ({description})"
        ) from error


def described(error: BaseException, *, placed: bool = True) -> str:
    """An error on one line of bounded length, whatever it holds, and where in the user's source it was raised.

    ``ZeroDivisionError: division by zero (mysolver.py:17 in step)``; the place is left out where no source of the user
    is on the way to it.
    """
    try:
        text = str(error)
    except Exception:
        text = "which cannot be shown"
    line = on_one_line(text, 240)
    if any(word in line for word in UNWRITABLE):
        line += "; the arrays given are read-only: copy what is written to"
    description = f"{type(error).__name__}: {line}" if line else type(error).__name__
    place = raised_at(error) if placed else ""
    return f"{description} ({place})" if place else description
