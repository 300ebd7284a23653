"""Orders of the quantities in a proof: what each is bounded by, and which order the text then asserts.

Expressions are products and powers (``alpha_1 * inner_tol^2``, ``M^(1/2)``), quotients and sums of named
quantities; constants are left out. Data only: whether an order follows is computed by ``verify``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from pydantic import Field

from spec.files import Frozen, package_text, parse_toml

Relation = Literal["upper", "lower"]


class Inference(Frozen):
    """One inequality of a proof step, with the order the text reads off it.

    Args:
        quantity: Name of what is bounded, for later steps to use; empty if the step only collects hypotheses.
        relation: Bounded from above (O) or from below (Omega).
        bound_by: The bound as an expression; empty with ``quantity``.
        asserted: The order asserted; empty for the exponents of the assertion's own bound.
        given: Orders the text plugs in here, by name: of a quantity (then its source must provide it) or of a
            variable (then it is a choice, such as ``alpha = "epsilon"``).
        hypotheses: Inequalities assumed here, such as ``"alpha >= C_f / mu_g"``.
        provided: Inequalities without which the bound is not valid.
        variables: What the order is meant in, all else held fixed; empty for the variables of the assertion's bound,
            or alpha.
        everywhere: Whether it is meant for all values of these variables, not only near their limits.
        by: Where the bound comes from, in a few words.
    """

    quantity: str = Field(default="", pattern=r"^([A-Za-z]\w*)?$")
    relation: Relation = "upper"
    bound_by: str = ""
    asserted: str = ""
    given: dict[str, str] = Field(default_factory=dict)
    hypotheses: tuple[str, ...] = ()
    provided: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    everywhere: bool = False
    by: str = Field(min_length=1)


class BaseOrders(Frozen):
    """What every proof starts from: where variables tend, quantities the text defines, how names are printed.

    Parameters have no limit and are held fixed, and links tie variables to others, unless an inference names them;
    constants depend on none of these. Definitions are common to both readings, but for those under a reading's name.
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
