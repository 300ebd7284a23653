"""Order calculus: does the order each proof step asserts follow from the bounds it rests on?

No problem is solved and nothing is measured here. What the text bounds by what, and which order it reads off, is data
in ``spec``; the orders are propagated by exact exponent arithmetic.
"""
