"""A formula's tree as a key: equal trees are one, and a hash is this process's alone."""

from __future__ import annotations

import pickle

from spec.formulas import choices_within, names_within, parse_formula


def test_equal_trees_are_one_key():
    one, other = (parse_formula("norm(y_star) <= alpha", where) for where in ("here", "there"))
    assert one is not other
    assert one == other
    assert hash(one) == hash(other)
    assert hash(one) != hash(parse_formula("norm(y_star) >= alpha"))


def test_a_tree_that_is_sent_takes_no_hash_along():
    tree = parse_formula("norm(y_star) <= alpha^2")
    hash(tree)
    assert "_hash" not in tree.__getstate__()
    assert pickle.loads(pickle.dumps(tree)) == tree


def test_names_and_choices_are_those_of_all_definitions():
    tree = parse_formula("norm(y_min(y_star, lam_star) - y_star) <= alpha")
    assert {"y_star", "lam_star", "alpha", "y_min"} <= names_within(tree)
    assert set(choices_within(tree)) == {"ramp_width", "multiplier_width"}
