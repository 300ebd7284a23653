"""A repaired statement is asked somewhere: none of its premises fails on every instance of its check."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from spec import Holder, InvalidInputError
from spec.atlas import find as find_instance
from spec.claims import find
from spec.formulas import parse_formula
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.deciding import REFUSED, is_met
from verify.truth.propositions.sites import Site


def require_meetable(full_id: str, instances: Sequence[str]) -> None:
    """Refuse a repaired premise with a formula that none of the instances meets for small alpha.

    As written such a premise is the text's own, and its statement vacuous; repaired it is a mistake of the file.

    Raises:
        InvalidInputError: If there is one, naming its file and key.
    """
    claim, _, step = full_id.partition("/")
    premises = {one.id: (one, "") for one in find(claim).premises}
    premises |= {one.id: (one, step) for one in find(full_id).premises}
    for premise, owner in premises.values():
        text = premise.formula if isinstance(premise.formula, str) else premise.formula.get("repaired", "")
        if not text or "repaired" not in premise.readings:
            continue
        if not any(_is_met(text, name) for name in instances):
            key = ".".join(part for part in (owner, "premises", premise.id) if part)
            rule = f"must be met by one of the instances that {full_id} is asked on ({', '.join(instances)})"
            raise InvalidInputError(f"claims/{claim}.toml, {key}.formula", rule, text)


@lru_cache(maxsize=4096)
def _is_met(text: str, name: str) -> bool:
    """Whether a premise holds on an instance; what has no value there counts as met: a check spends it."""
    instance = find_instance(name)
    if isinstance(instance.problem, Holder):
        return True
    try:
        return is_met(parse_formula(text), Site(quadratic_of(instance.problem), tuple(map(Fraction, instance.x))), None)
    except REFUSED:
        return True
