"""A paper's TeX source held against itself: read into passages, and passages that contradict each other found by rules.

No rule knows this one paper: each compares what two places of any source say. Where the source says nothing of the form
a rule looks for, the rule is silent.
"""
