"""What the flags of test vectors mean: the bug a vector would show, or the circumstance it is special for."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

FlagKind = Literal["bug", "circumstance"]


class Flag(BaseModel):
    """One flag.

    Args:
        id: As written in vectors.
        kind: ``bug``: an implementation with this bug misses every vector that carries the flag, by at least ten
            tolerances; measured, not declared. ``circumstance``: what is special about the vector.
        bug_type: What the bug is, or what an implementation may get wrong here.
        effect: What it does to results.
        claim: Where the paper's claim on it is checked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    kind: FlagKind
    bug_type: str
    effect: str
    claim: str


def _bug(id_: str, bug_type: str, effect: str, claim: str) -> Flag:
    return Flag(id=id_, kind="bug", bug_type=bug_type, effect=effect, claim=claim)


def _circumstance(id_: str, bug_type: str, effect: str, claim: str) -> Flag:
    return Flag(id=id_, kind="circumstance", bug_type=bug_type, effect=effect, claim=claim)


BUGS: tuple[Flag, ...] = (
    _bug("dual-term", "the term α₁Aᵀλ̃ is kept where it cancels, or dropped where it is frozen",
         "the estimate is off by α⁻²‖Aᵀλ̃‖ and grows without bound as α falls", "bias-bound/T3"),
    _bug("noise-pairing", "g at ỹ and at ỹ* sees other draws than the reading says",
         "noise of g is amplified by α₁ instead of cancelling, or cancels where it must not",
         "variance-bound/pairing-alone"),
    _bug("ramp-width", "the ramp below the boundary has the other reading's width",
         "a row is switched off by the error that ỹ* is allowed, or half on where it is slack", "bias-bound/ramp"),
    _bug("weak-penalties", "α₁ = α⁻¹ and α₂ = α⁻² instead of α⁻² and α⁻⁴",
         "the bias falls too slowly in α", "bias-bound/T3"),
    _bug("swapped-weights", "α₁ = α and α₂ = α²: multiplied where the paper divides",
         "the lower level is forgotten as α falls", "bias-bound/T3"),
    _bug("hard-activation", "rows are switched on or off, without a ramp",
         "the estimate jumps where x moves a row across its width", "dual-extraction/activation-locality"),
    _bug("always-active", "every row gets weight 1", "slack rows pull", "dual-extraction/activation-locality"),
    _bug("h-ramp-alone", "the multiplier's ramp is left out", "rows at the boundary pull without a multiplier",
         "dual-extraction/activation-locality"),
    _bug("lam-ramp-alone", "the ramp in h is left out", "rows off the boundary pull",
         "dual-extraction/activation-locality"),
    _bug("smaller-ramp", "the smaller of both ramps instead of their product", "rows on both ramps pull too much",
         "dual-extraction/activation-locality"),
    _bug("cubic-ramp", "a smooth step with the same ends instead of the straight ramp",
         "weights between the ends are off", "dual-extraction/activation-locality"),
    _bug("shifted-rows", "each row gets its neighbour's weight", "the wrong rows pull",
         "dual-extraction/activation-locality"),
    _bug("swapped-widths", "the two ramps' widths are exchanged", "weights between the ends are off",
         "dual-extraction/activation-locality"),
    _bug("h-sign", "h has the opposite sign, feasible where >= 0", "slack rows pull, rows violated do not",
         "dual-extraction/activation-locality"),
    _bug("multiplier-dropped", "λ̃ᵀh is missing from the penalty Lagrangian",
         "ỹ is off by order one instead of α²", "solution-error"),
    _bug("multiplier-sign", "λ̃ enters with the opposite sign", "ỹ is pushed out of the feasible set",
         "inner-cost/primal-dual-sign"),
    _bug("pull-missing", "the quadratic penalty is left out where ỹ is computed",
         "ỹ leaves the active rows", "solution-error/active-rows"),
    _bug("half-penalty", "the gradient of (α₂/2)ρh² is taken as α₂ρh/2",
         "the penalty is half as stiff as it should be", "bias-bound/T3"),
    _bug("upper-ignored", "∇_y f is left out where ỹ is computed",
         "ỹ is the lower-level solution and the implicit part of the gradient is lost", "bias-bound/T3"),
    _bug("penalty-sign", "the penalty's part of the estimate has the opposite sign, as if B and A were exchanged in it",
         "the response of active rows has the wrong sign", "bias-bound/T3"),
    _bug("penalty-missing", "α₂Aᵀ(ρ∘h) is left out of the estimate", "rows that move with x do not count",
         "bias-bound/T3"),
    _bug("gap-missing", "α₁(∇_x g(x,ỹ) − ∇_x g(x,ỹ*)) is left out of the estimate",
         "the response of y* to x through g is lost", "bias-bound/T3"),
    _bug("one-sided-gap", "∇_x g(x,ỹ*) is not subtracted", "the estimate is off by α₁∇_x g", "bias-bound/T3"),
    _bug("implicit-missing", "the estimate is ∇_x f(x,ỹ*) alone", "y* is taken not to depend on x",
         "hypergradient-accuracy"),
    _bug("at-y-star", "the estimate is made at ỹ* instead of ỹ", "the gap vanishes and with it the implicit part",
         "bias-bound/T3"),
    _bug("samples-ignored", "only the first of N_g samples is used", "the variance does not fall with N_g",
         "variance-bound"),
    _bug("samples-summed", "samples are summed, not averaged", "noise grows with N_g", "variance-bound"),
    _bug("noise-silent", "noise never reaches the gradient, as when it is added to the objective's value",
         "the estimate is exact where it should scatter", "stochastic-oracles/noise-reaches-gradient"),
    _bug("given-ignored", "stage values that were given are computed afresh",
         "allowed errors of the stages cannot be studied", "bias-bound/conditional-mean"),
    _bug("rows-ignored", "the lower level is solved without its rows", "y* leaves the feasible set",
         "lipschitz-solution"),
    _bug("rows-not-moving", "A x is left out of the rows", "the feasible set does not follow x",
         "lipschitz-solution"),
    _bug("offset-ignored", "b is left out of the rows", "the feasible set is displaced", "lipschitz-solution"),
    _bug("coupling-ignored", "x is left out of g", "y* moves with the rows alone", "lipschitz-solution"),
    _bug("stale-y-star", "the lower level is solved at x = 0 and kept", "y* does not follow x", "lipschitz-solution"),
    _bug("rows-as-equations", "every row is held as an equation", "slack rows bind", "lipschitz-solution"),
    _bug("flipped-b", "B has the opposite sign", "the feasible set is mirrored", "lipschitz-solution"),
    _bug("step-sign", "+Bᵀλ where the reading has −Bᵀλ, or the reverse", "the primal step climbs the Lagrangian",
         "inner-cost/primal-dual-sign"),
    _bug("other-solver", "steps are constant where they must decrease and be averaged, or the reverse",
         "under noise a constant step stalls", "inner-cost/samples-for-accuracy"),
    _bug("old-y", "the dual step uses y from before the primal step", "the iteration is another one",
         "inner-cost/linear-rate"),
    _bug("unclipped-multipliers", "multipliers may become negative", "slack rows push", "inner-cost/linear-rate"),
    _bug("dual-step-missing", "multipliers are never updated", "the rows are ignored", "inner-cost/linear-rate"),
    _bug("one-step-more", "one step too many", "counts of oracle calls are off by one", "inner-cost/total"),
    _bug("single-precision", "inputs are rounded to 24 bits", "what α₁ and α₂ amplify is lost", "bias-bound/T3"),
)  # fmt: skip
"""Measured: the generator computes each bug exactly and flags a vector where it lands ten tolerances away."""

CIRCUMSTANCES: tuple[Flag, ...] = (
    _circumstance("weakly-active", "an active row with multiplier 0 is treated as if it carried one",
                  "F has a kink here; the stages' values are unique all the same", "bias-bound/ramp"),
    _circumstance("multipliers-not-unique", "multipliers are compared though many are right",
                  "only their pull Bᵀλ is unique, expected as dual_pull", "smoothness"),
    _circumstance("given-exact", "nothing", "stage values are given as doubles that mean exactly what they say",
                  "bias-bound/conditional-mean"),
    _circumstance("inexact-stages", "given stages are assumed to be exact, so that terms are dropped that vanish there",
                  "ỹ*, λ̃ or ỹ are displaced on purpose, as the paper's premises allow", "bias-bound/T2"),
    _circumstance("on-the-ramp", "a weight strictly between 0 and 1", "weights enter every later stage",
                  "dual-extraction/activation-locality"),
    _circumstance("stop-allowance", "the penalty minimiser is told when it may stop",
                  "the tolerance holds the whole error this rule allows, computed on the exact Hessian",
                  "bias-bound/T1"),
    _circumstance("loose-tolerance", "the tolerance exceeds 1/1000 of the value",
                  "the stopping rule allows this much: the vector shows gross errors only", "bias-bound/T1"),
    _circumstance("shift-form", "h and ∇g are formed at ỹ instead of as changes from ỹ*",
                  "digits are lost to cancellation, amplified by α₁ and α₂; the tolerance expects the stable form",
                  "bias-bound/T1"),
    _circumstance("supplied-draws", "other normals are used than those given", "noise differs number by number",
                  "variance-bound/per-sample"),
    _circumstance("unused-draws", "draws are used that the reading does not use", "noise that must cancel remains",
                  "variance-bound/pairing-alone"),
    _circumstance("irrational", "nothing", "values are certified to thirty digits instead of being fractions",
                  "variance-bound/per-sample"),
    _circumstance("reading-inert", "a choice acts where it must not",
                  "all choices are as written, and those that do not concern this stage change nothing",
                  "inner-cost/primal-dual-sign"),
    _circumstance("not-quadratic", "g is assumed to be quadratic",
                  "g has a Hessian that is Hölder continuous only; values at x = 0 are rational all the same",
                  "bias-bound/hessian-lipschitz"),
    _circumstance("bad-input", "bad input is computed with",
                  "an error must come out, not a number; which kind of error is free", "smoothness"),
)  # fmt: skip
"""Declared, and held by tests against the vectors' own data where data decides."""

FLAGS: dict[str, Flag] = {flag.id: flag for flag in (*BUGS, *CIRCUMSTANCES)}
"""Every flag by id."""
