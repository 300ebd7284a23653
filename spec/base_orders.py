"""What the orders of every proof start from, as data: ``spec/orders.toml``."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from pydantic import Field

from spec.files import Frozen, package_text, parse_toml


class BaseOrders(Frozen):
    """What every proof starts from: where variables tend, quantities the text defines, how names are printed.

    Parameters have no limit and are held fixed, and links tie variables to others, unless an inference names them;
    constants depend on none of these. Definitions are common to both readings, but for those under a reading's name.

    Args:
        limits: Where each variable tends.
        parameters: Variables without a limit.
        links: Variables that depend on others, by name, as expressions.
        constants: Names that are left out of orders.
        definitions: Quantities the text defines, by name, as expressions.
        as-written: The same where the literal text has another.
        repaired: The same where the repaired text has another.
        symbols: How names are printed.
    """

    limits: dict[str, Literal["zero", "infinity"]]
    parameters: tuple[str, ...] = ()
    links: dict[str, str] = Field(default_factory=dict)
    constants: tuple[str, ...] = ()
    definitions: dict[str, str] = Field(default_factory=dict)
    as_written: dict[str, str] = Field(default_factory=dict, alias="as-written")
    repaired: dict[str, str] = Field(default_factory=dict)
    symbols: dict[str, str] = Field(default_factory=dict)


@lru_cache(maxsize=1)
def load_base_orders() -> BaseOrders:
    """The orders every proof starts from."""
    return parse_toml(BaseOrders, package_text("orders.toml"), "orders.toml")
