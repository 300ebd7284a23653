"""A subject's process: lines out, lines in, bounded in time, output and memory, and never left behind."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Mapping, Sequence

from verify.subjects.wire.guarded import Guarded
from verify.subjects.wire.messages import WireFault, quoted

TICK = 0.25
"""Seconds between looks at whether the process lives and how much memory it takes, while waiting."""
MEMORY_EVERY = 1.0
"""Seconds between looks at the memory between quick calls."""
PROCESSES = 256
"""Most processes a subject may have at once."""
STDERR_KEPT = 4096
"""Bytes of standard error kept to be quoted."""
LAST_WORDS = 160
"""Characters quoted of its last line."""
QUOTED = 200
"""Bytes quoted of an answer that cannot be read."""
_CHUNK = 1 << 16


class Lines:
    """Bytes in, lines out, none of them too long."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self._held = bytearray()
        self._scanned = 0

    def __len__(self) -> int:
        return len(self._held)

    def add(self, data: bytes) -> None:
        """Take what was read."""
        self._held += data

    def take(self) -> bytes | None:
        """The first line without its line feed, if it is there in full; too long a line is a fault."""
        end = self._held.find(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(self._held)
            if self._scanned > self.longest:
                raise WireFault("flood", f"wrote more than {self.longest} bytes without a line end")
            return None
        if end > self.longest:
            raise WireFault("flood", f"wrote a line of {end} bytes, {self.longest} being more than it needs")
        line = bytes(self._held[:end])
        del self._held[: end + 1]
        self._scanned = 0
        return line

    @property
    def shown(self) -> str:
        """The beginning of what is held, to be quoted."""
        return quoted(bytes(self._held[:QUOTED]))

    @property
    def shown_with_size(self) -> str:
        """The same after how long it is."""
        return f"{len(self)} bytes, {self.shown}"


class Program:
    """A running subject, refused if it cannot be started.

    The memory and the number of all its processes are checked on Linux.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        message_bytes: int,
        memory_bytes: int,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._memory_bytes = memory_bytes
        self.process = Guarded(command, environment)
        streams = self.process.streams
        self._in, self._out, self._err = (-1 if stream is None else stream.fileno() for stream in streams)
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        self._message_bytes = message_bytes
        self._lines = Lines(message_bytes)
        self._said = bytearray()
        self._looked = time.monotonic()
        self._open = True

    @property
    def pid(self) -> int:
        """Process id, also of its process group."""
        return self.process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs and was not closed."""
        return self._open and not self._ended()

    def tell(self, line: bytes, seconds: float) -> None:
        """Write a line nobody answers."""
        self._move(line, time.monotonic() + seconds, seconds, answered=False)

    def exchange(self, line: bytes, seconds: float, longest: int | None = None) -> bytes:
        """Write one line, with its line feed, and read one, at most that long, which is returned without.

        Raises:
            WireFault: If anything else happens within the time; the process is then of no more use.
        """
        self._read_ready()
        self._require_guard()
        self._lines.longest = self._message_bytes if longest is None else longest
        if self._lines:
            raise WireFault("flood", f"sent what nobody asked for: {self._lines.shown}")
        return self._move(line, time.monotonic() + seconds, seconds, answered=True)

    def _move(self, line: bytes, deadline: float, seconds: float, *, answered: bool) -> bytes:
        left = self._write(memoryview(line))
        if left:
            self._poll.register(self._in, select.POLLOUT)
        try:
            while left or answered:
                answer = self._lines.take() if answered else None
                if answer is not None:
                    if left:
                        raise WireFault("flood", "answered before it had read the request")
                    self._require_guard()
                    return answer
                now = time.monotonic()
                if now >= deadline:
                    raise self._late(seconds)
                ready = self._poll.poll(1000 * min(TICK, deadline - now) + 1)
                for descriptor, _ in ready:
                    if descriptor == self._in:
                        left = self._write(left)
                        if not left:
                            self._poll.unregister(self._in)
                    elif descriptor == self._err:
                        self._read_errors()
                    elif not self._read_output():
                        raise self._end_of_output()
                if not ready and self._ended() and not self._read_ready():
                    raise self._end_of_output()
                if now - self._looked >= (MEMORY_EVERY if ready else TICK):
                    self._look_at_memory(now)
        finally:
            if left:
                self._poll.unregister(self._in)
        return b""

    def _require_guard(self) -> None:
        if self._ended() and self.process.code is None:
            raise WireFault("crash", "killed the guard it runs under")

    def _write(self, data: memoryview) -> memoryview:
        try:
            while data:
                data = data[os.write(self._in, data) :]
        except BlockingIOError:
            return data
        except OSError:
            # It reads no more; why is told by its output's end, which may still hold an answer to nothing.
            return data[:0] if self._ended() else self._closed_input()
        return data

    def _closed_input(self) -> memoryview:
        self._settle()
        if self._ended():
            raise self._end_of_output()
        raise WireFault("closed-pipe", "closed its standard input; its process still runs")

    def _read_output(self) -> bool:
        """Read what is there; ``False`` at the end of the output."""
        try:
            data = os.read(self._out, _CHUNK if len(self._lines) < 8 * _CHUNK else 16 * _CHUNK)
        except BlockingIOError:
            return True
        self._lines.add(data)
        return bool(data)

    def _read_ready(self) -> bool:
        """Read what has already come; whether there was any."""
        before = len(self._lines)
        self._read_output()
        return len(self._lines) > before

    def _read_errors(self) -> None:
        try:
            data = os.read(self._err, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._poll.unregister(self._err)
            return
        self._said += data
        del self._said[:-STDERR_KEPT]

    def _late(self, seconds: float) -> WireFault:
        within = f"within {seconds:g} s"
        if self._lines:
            return WireFault(
                "half", f"wrote half a message ({self._lines.shown_with_size}) and did not end its line {within}"
            )
        return WireFault("hang", f"did not answer {within}")

    def _end_of_output(self) -> WireFault:
        self._settle()
        half = f", after half a message ({self._lines.shown_with_size})" if self._lines else ""
        if not self._ended():
            return WireFault("closed-pipe", f"closed its standard output{half}; its process still runs")
        return WireFault("half" if half else "crash", f"ended its process ({self._how_it_ended()}){half}")

    def _settle(self) -> None:
        """Give a process that closed its pipes half a second to be gone, and read its last words."""
        until = time.monotonic() + 0.5
        while not self._ended() and time.monotonic() < until:
            time.sleep(0.005)
        for _ in range(64):
            before = len(self._said)
            try:
                self._read_errors()
            except (OSError, KeyError):
                break
            if len(self._said) == before:
                break

    def _how_it_ended(self) -> str:
        code = self.process.code
        how = "killed" if code is None else f"exit code {code}" if code >= 0 else f"killed by {_signal_name(-code)}"
        last_words = " ".join(self._said.decode(errors="replace").strip().splitlines()[-1:])
        return f"{how}; it said: {last_words[:LAST_WORDS]}" if last_words else how

    def _ended(self) -> bool:
        return self.process.ended()

    def _look_at_memory(self, now: float) -> None:
        self._looked = now
        below = self.process.processes()
        if (taken := sum(below.values())) > self._memory_bytes:
            raise WireFault("memory", f"took {taken >> 20} MiB of memory; the limit is {self._memory_bytes >> 20}")
        if len(below) > PROCESSES:
            raise WireFault("memory", f"had {len(below)} processes; the limit is {PROCESSES}")

    def close(self, farewell: bytes = b"", seconds: float = 2.0) -> bool:
        """End it, politely if there is a farewell to say, and in any case for certain; whether it left with code 0."""
        if not self._open:
            return False
        self._open = False
        polite = False
        try:
            if farewell and not self._ended():
                polite = self._say_farewell(farewell, seconds)
        finally:
            self.process.end()
        return polite

    def _say_farewell(self, farewell: bytes, seconds: float) -> bool:
        until = time.monotonic() + seconds
        try:
            self.exchange(farewell, seconds)
        except WireFault:
            return False
        self.end_input()
        return self.gone_within(until - time.monotonic()) and self.process.code == 0

    def end_input(self) -> None:
        """Close its standard input: there will be no more requests."""
        if self.process.streams[0] is not None:
            self.process.streams[0].close()

    def gone_within(self, seconds: float) -> bool:
        """Whether the process ends by itself within some time."""
        until = time.monotonic() + seconds
        while not self._ended() and time.monotonic() < until:
            time.sleep(0.002)
        return self._ended()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
