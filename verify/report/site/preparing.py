"""What pages hold whatever a run finds, made before it ends: templates, the style, orders of proofs, what draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module

from verify.proofs.orders.table import order_table
from verify.report.site.frame import script_text, stylesheet_text, template, template_names
from verify.report.site.living.states_of_alpha import PLACES, living_place
from verify.truth.algebra.products import field

DRAWING = ("matplotlib.figure", "matplotlib.backends.backend_svg")
"""What a page with curves fetches."""


def preparations() -> Iterator[Callable[[], object]]:
    """Small steps, each kept where it is made; a page made without them is the same, only later."""
    # A page that is made at the end imports these then.
    yield partial(import_module, "verify.report.site.all_pages")
    yield from (partial(template, name) for name in template_names())
    yield from (stylesheet_text, script_text, order_table, field)
    yield from (partial(living_place, name) for name in PLACES)
    yield from (partial(import_module, name) for name in DRAWING)
