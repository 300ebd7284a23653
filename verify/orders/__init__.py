"""Order calculus: does the order each proof step asserts follow from the bounds it rests on?

No problem is solved and nothing is measured here. What the text bounds by what, and which order it reads off, is data
in ``spec``; the orders are propagated by exact exponent arithmetic.
"""

from __future__ import annotations

from verify.orders.judge import Following, OrderRow
from verify.orders.table import FirstBreak, first_breaks, first_broken_step, order_table

__all__ = ["FirstBreak", "Following", "OrderRow", "first_breaks", "first_broken_step", "order_table"]
