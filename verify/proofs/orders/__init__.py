"""Order calculus: does the order each proof step asserts follow from the bounds it rests on?

What the text bounds by what, and which order it reads off, is data in ``spec``; the orders are propagated by exact
exponent arithmetic, with no problem solved. That the bounds themselves hold is put to the test apart, in numbers on the
atlas. A break is about the argument: a statement may hold all the same, by another route, and then the evidence of its
check says so; a refuted statement whose order follows from true bounds would be a contradiction.
"""
