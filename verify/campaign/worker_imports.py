"""What worker processes need, imported as they are made: once for all of them, in the process they are forked from."""

from __future__ import annotations

import gc
from contextlib import suppress

import scipy.optimize  # fetched late by what needs it, but needed in nearly every whole run
import scipy.special  # noqa: F401  # as above

from spec import InvalidInputError
from verify.checks.measuring.case import checks
from verify.truth.algebra.products import field

with suppress(InvalidInputError):  # a claim's file that is broken is the command's to tell, in one line
    checks()
field()  # with sympy
# All this stays: no worker need look through it for garbage again and again.
gc.freeze()
