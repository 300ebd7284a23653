"""``python -m verify.conformance.trace.trace_worker``: looks for lines; what it is asked comes on standard input.

Exchanged values are run in copies of this process (``fork``), each of which is killed where one run takes too long,
whatever it does; the next copy leaves that expression out.
"""

from __future__ import annotations

import copy
import json
import mmap
import os
import pickle
import resource
import select
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from verify.conformance.blame.accuracy.accuracy import DeclaredAccuracy, widened
from verify.conformance.probes.probes import Probe
from verify.conformance.trace.line_search import find_line
from verify.conformance.trace.line_words import StageLine, traced_lines
from verify.conformance.trace.patches.clean_copy import CleanCopy
from verify.conformance.trace.patches.patch_search import FIRST_NUMBER
from verify.conformance.trace.seen_values import ValueWatch
from verify.conformance.trace.traced_questions.traced_calls import TracedQuestion, questions_of
from verify.conformance.trace.traced_questions.traced_runs import loop_questions
from verify.conformance.trace.user_modules import Kept, calls_exec, kept_by_modules, not_rewritten, restored, rewriting
from verify.conformance.trace.value_replacement import OutOfTimeError, Replacement
from verify.subjects.faults import described
from verify.subjects.loading import load_subject
from verify.subjects.protocol import StageCalls
from verify.subjects.subject_names import split_name

LONGEST_RUN = 1.0
"""Seconds that one run with a value exchanged may take, C calls included."""
MEMORY = 4 << 30
"""Bytes of address space of a copy."""
COPIES = 6
"""Copies that may be killed before a stage's search is given up."""
MOST_HUNG = 1
"""Changes of the source that may make a copy hang so that more of them are tried."""
KEPT = 2.0
"""Seconds that a stage keeps for each stage after it."""
INNER = ("lower_level", "activation", "penalty_minimiser")


@dataclass(frozen=True)
class TraceRequest:
    """What is looked for.

    Args:
        source: ``package.module:Attribute``.
        judged: Stages that are wrong, in order, with the judge's wrong questions.
        accuracy: What the subject declares; 0 without.
        seconds: Time for all stages.
    """

    source: str
    judged: dict[str, Sequence[Probe]]
    accuracy: float
    seconds: float


class Worker:
    """Loads the subject rewritten, and looks stage by stage."""

    def __init__(self, request: TraceRequest, tell: Callable[[str, Any], None]) -> None:
        self.request, self.tell = request, tell
        self.watch = ValueWatch()
        self.until = time.monotonic() + request.seconds

    def work(self) -> None:
        """Say what is found as it is found."""
        with rewriting(self.watch):
            try:
                load_subject(self.request.source)
            except BaseException as error:  # whatever the user's module does on import
                self.tell(
                    "no_line", f"{next(iter(self.request.judged))}: it cannot be loaded rewritten ({described(error)})"
                )
                return
            self._say_left_out()
            if threading.active_count() > 1:
                self.tell("left_out", "threads that it keeps (a copy of the process has none of them)")
            make = maker(self.request.source, self.watch.files)
            wrong: list[str] = []
            for number, stage in enumerate(self.request.judged, 1):
                questions = self._questions(stage, wrong)
                if not questions:
                    continue
                if stage == "samples" and not StageCalls(make()).use_draws:
                    self.tell("no_line", f"{stage}: its normals are its own, so that no two answers are alike")
                    continue
                self.tell("says", f"looking for the line: {stage} ({number} of {len(self.request.judged)})")
                # Of what is left the stages to come keep a little each, half of it at most.
                left, to_come = self.until - time.monotonic(), len(self.request.judged) - number
                share = max(left / 2, left - KEPT * to_come) if to_come else left
                result = self._apart(stage, questions, make, time.monotonic() + max(share, 0.5))
                if result is None:
                    continue
                wrong.append(stage)
                for kind, content in result:
                    self.tell(kind, content)

    def _say_left_out(self) -> None:
        for file, why in not_rewritten(self.watch).items():
            self.tell("left_out", f"{file} ({why})")
        for file in calls_exec(self.watch):
            self.tell("left_out", f"what {file} makes of text (exec or eval)")
        if not self.watch.sites:
            self.tell("left_out", f"{split_name(self.request.source)[0]} (no source of the user's)")

    def _questions(self, stage: str, wrong: Sequence[str]) -> list[TracedQuestion]:
        if stage == "optimise":
            return [*loop_questions()]
        if stage == "samples" and "hypergradient" in wrong:
            return []
        declared = DeclaredAccuracy(self.request.accuracy, self.request.accuracy > 0)
        questions = questions_of(stage, self.request.judged[stage], lambda probe: widened(probe, declared))
        if stage == "hypergradient" and any(inner in self.request.judged for inner in INNER):
            # What it computes by itself follows from stages that are wrong.
            questions = [question for question in questions if not question.kind.split(" twice")[0]]
        return questions

    def _apart(
        self, stage: str, questions: Sequence[TracedQuestion], make: Callable[[], Any], until: float
    ) -> list[tuple[str, Any]] | None:
        """The result of a copy of this process; ``None`` where nothing is wrong."""
        left_out: set[int] = set()
        for _ in range(COPIES):
            counter = mmap.mmap(-1, 16)
            counter.write(struct.pack("qd", -1, 0.0))
            search = partial(self._search, stage, questions, make, until, counter, left_out)
            heard, says = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(heard)
                _search_and_leave(says, search)
            os.close(says)
            try:
                data, hung = _listened(heard, counter, until + LONGEST_RUN)
            finally:
                os.close(heard)
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            if hung is None:
                return pickle.loads(data) if data else [("no_line", f"{stage}: time was over, or the search ended")]
            left_out.add(hung)
        return [("no_line", f"{stage}: runs with changed source or exchanged values do not end")]

    def _search(
        self, stage: str, questions: Sequence[TracedQuestion], make: Callable[[], Any], until: float,
        counter: mmap.mmap,
        left_out: set[int],
    ) -> list[tuple[str, Any]] | None:  # fmt: skip
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

        def before_run(k: int) -> bool:
            counter.seek(0)
            counter.write(struct.pack("qd", k, time.monotonic()))
            return k not in left_out

        def after_run() -> None:
            counter.seek(0)
            counter.write(struct.pack("qd", -1, 0.0))

        try:
            # Where an exchanged value hung, changes of the source had all been tried.
            hung = [number for number in left_out if number >= FIRST_NUMBER]
            is_patched = len(hung) == len(left_out) and len(hung) <= MOST_HUNG
            each = [partial(_answered, question, make, self.watch) for question in questions]
            clean = CleanCopy(each, self.watch.files) if is_patched else None
            replacement = Replacement(make, self.watch, until, before_run, after_run)
            result = find_line(replacement, stage, questions, copy=clean, is_patched=is_patched)
        except OutOfTimeError:
            return [("no_line", f"{stage}: time was over")]
        if result is None:
            return None
        return told(result)


def _answered(question: TracedQuestion, make: Callable[[], Any], watch: ValueWatch) -> Sequence[float]:
    watch.clock = 0
    return question.parts(question.run(StageCalls(make()), watch))


def _lock(value: Any, seen: set[int]) -> None:
    """Let nobody write into the arrays within: on their way here problems lost what kept them as they are."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, Mapping):
        for part in value.values():
            _lock(part, seen)
    elif isinstance(value, list | tuple):
        for part in value:
            _lock(part, seen)
    elif hasattr(value, "__dict__"):
        _lock(vars(value), seen)
        _lock(getattr(value, "__pydantic_private__", None), seen)


def told(result: StageLine) -> list[tuple[str, Any]]:
    """What is said of a stage: its lines, or why there is none."""
    lines = traced_lines(result)
    if lines:
        return [("line", line.model_dump()) for line in lines]
    if result.late:
        why = "time was over"
    elif result.wrong < 2:
        why = f"{result.wrong} of {result.total} questions is wrong, too few to test a line on"
    else:
        why = f"no single expression puts all {result.wrong} wrong questions right"
    why += f"; changes of the source could not be tried ({result.failed})" if result.failed else ""
    return [("no_line", f"{result.stage}: {why}")]


def maker(source: str, files: Collection[str] = ()) -> Callable[[], Any]:
    """What makes the subject as new: its class called, or a copy of the object, and what these files keep as it is."""
    module, attribute = split_name(source)
    named: Any = sys.modules[module]
    for part in attribute.split("."):
        named = getattr(named, part)
    living = kept_by_modules(files)
    if isinstance(named, type):
        return partial(_as_new, living, named)
    try:
        copy.deepcopy(named)
    except Exception:  # an object that cannot be copied is asked as it is
        return partial(_as_new, living, lambda: named)
    return partial(_as_new, living, lambda: copy.deepcopy(named))


def _as_new(living: Kept, make: Callable[[], Any]) -> Any:
    restored(living)
    return make()


def _search_and_leave(says: int, search: Callable[[], Any]) -> None:
    try:
        result = search()
        with os.fdopen(says, "wb") as pipe:
            pickle.dump(result, pipe)
    finally:
        os._exit(0)


def _listened(heard: int, counter: mmap.mmap, until: float) -> tuple[bytes, int | None]:
    """What a copy says, or the expression in whose exchange it hangs."""
    data = b""
    while time.monotonic() < until:
        if select.select([heard], [], [], 0.05)[0]:
            part = os.read(heard, 1 << 16)
            if not part:
                return data, None
            data += part
            continue
        counter.seek(0)
        number, since = struct.unpack("qd", counter.read(16))
        if number >= 0 and time.monotonic() - since > LONGEST_RUN and not data:
            return b"", number
    return b"", None


def main() -> int:
    """Answer what standard input asks."""
    target = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    sys.path = [entry for entry in sys.path if entry not in ("",)]
    request = TraceRequest(**pickle.loads(sys.stdin.buffer.read()))
    _lock(request.judged, set())

    def tell(kind: str, content: Any) -> None:
        target.write(json.dumps({"kind": kind, "content": content}).encode() + b"\n")

    worker = Worker(request, tell)
    worker.watch.root = Path.cwd()
    worker.work()
    tell("done", "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
