"""What worker processes need, imported as they are made: once for all of them, in the process they are forked from."""

from __future__ import annotations

from verify.checks.measuring.case import checks

checks()
