"""Subjects that raise, each in its own way; their lines are quoted by tests."""

from __future__ import annotations

import importlib

import numpy as np


class Divides:
    """Raises in a function of its own."""

    name = "divides"

    def hypergradient(self, problem, x, call, rng):
        return self.step(0)

    def step(self, count):
        return [1.0 / count]  # the line


class Solves:
    """Raises in numpy, called by a line of its own."""

    def hypergradient(self, problem, x, call, rng):
        return np.linalg.solve(np.zeros((2, 2)), np.ones(2))  # the line


class Recurses:
    """Never comes to an end."""

    def hypergradient(self, problem, x, call, rng):
        return self.hypergradient(problem, x, call, rng)  # the line


class Refused:
    """Calls this package as it must not be called."""

    def hypergradient(self, problem, x, call, rng):
        reference = importlib.import_module("f2csa_ref")
        return reference.hypergradient(problem, x, alpha=-1.0)  # the line


class Words:
    """Answers with what is no number: no line of its own raises."""

    def hypergradient(self, problem, x, call, rng):
        return "half"
