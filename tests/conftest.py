"""Settings every test shares."""

from __future__ import annotations

from hypothesis import settings

# No test is timed: a loaded machine must not fail one.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
