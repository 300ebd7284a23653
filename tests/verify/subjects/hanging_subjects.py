"""Subjects that hang or die, for the tests of time limits."""

import ctypes
import os
import signal
import time

from verify.subjects import ReferenceSubject


class Patient(ReferenceSubject):
    """Not quite the reference, so that it is limited."""

    name = "patient"


class Sleeps(ReferenceSubject):
    name = "sleeps"

    def hypergradient(self, *args):
        time.sleep(600)


class HoldsTheInterpreter(ReferenceSubject):
    """Hangs in native code that never lets another thread run."""

    name = "holds-the-interpreter"

    def hypergradient(self, *args):
        ctypes.PyDLL(None).sleep(600)


class KillsItself(ReferenceSubject):
    name = "kills-itself"

    def hypergradient(self, *args):
        os.kill(os.getpid(), signal.SIGKILL)


class LeavesWithSuccess(ReferenceSubject):
    name = "leaves-with-success"

    def hypergradient(self, *args):
        os._exit(0)
