"""What holds for every vector: names, flags, strata, stages, form, and the record of what was released."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from typing import get_args

import jsonschema
import pytest

from spec import AS_WRITTEN, Holder, Quadratic
from spec.atlas import Stratum
from spec.claims import find
from verify.cli.implementations.exports import schemas
from verify.conformance.bugs.catalogue import BUGS, FLAGS
from verify.conformance.vectors.checking import problems_of
from verify.conformance.vectors.generation import all_vectors, left_out, named_cases
from verify.conformance.vectors.model import Manifest, StageName, TestVector
from verify.conformance.vectors.release import (
    GENERATOR,
    MANIFEST,
    changed_ids,
    contents,
    file_of,
    fingerprint,
    released,
    shipped_manifest,
)


def held() -> list[TestVector]:
    return [vector for vector in all_vectors() if vector.rejects is None]


def test_there_are_enough_of_every_stage() -> None:
    assert len(all_vectors()) >= 300
    stages = Counter(vector.stage for vector in all_vectors())
    assert set(stages) == set(get_args(StageName))
    assert min(stages.values()) >= 40


def test_every_stratum_of_the_atlas_is_covered() -> None:
    assert {stratum for vector in all_vectors() for stratum in vector.strata} == set(get_args(Stratum))


def test_ids_are_unique_and_sorted_and_name_their_cases() -> None:
    ids = [vector.id for vector in all_vectors()]
    assert ids == sorted(set(ids))
    cases = [id_ for id_, _ in named_cases()]
    assert len(cases) == len(set(cases))
    assert set(cases) == {*ids, *left_out()}


def test_no_released_id_is_gone_or_stands_for_something_else() -> None:
    now = {vector.id: fingerprint(vector) for vector in all_vectors()}
    assert changed_ids(released(), now) == [], "give the changed case a new name"
    assert set(now) == set(released()), "python -m verify.conformance.vectors.release puts new ids on record"


def test_a_changed_input_is_noticed_under_its_id() -> None:
    vector = next(v for v in all_vectors() if v.x is not None and v.x.value == (1.0,))
    assert vector.x is not None
    moved = vector.model_copy(update={"x": vector.x.model_copy(update={"value": (2.0,), "exact": ("2",)})})
    assert fingerprint(moved) != fingerprint(vector)
    assert changed_ids({vector.id: fingerprint(vector)}, {vector.id: fingerprint(moved)}) == [vector.id]
    assert changed_ids({vector.id: fingerprint(vector)}, {}) == [vector.id]


def test_a_better_expected_value_keeps_the_id() -> None:
    vector = held()[0]
    assert fingerprint(vector.model_copy(update={"expected": {}, "notes": "reworded"})) == fingerprint(vector)


def test_the_manifest_on_record_is_the_one_generated() -> None:
    made = contents()
    assert made[MANIFEST] == shipped_manifest(), (
        "python -m verify.conformance.vectors.release rewrites it; raise GENERATOR as well"
    )
    manifest = Manifest.model_validate_json(made[MANIFEST])
    assert manifest.generator == GENERATOR
    assert manifest.counts.vectors == len(all_vectors()) == sum(entry.vectors for entry in manifest.files.values())
    assert set(manifest.files) == {file_of(vector) for vector in all_vectors()}


def test_flags_are_known_and_each_is_used_and_explained() -> None:
    used = {flag for vector in all_vectors() for flag in vector.flags}
    assert used == set(FLAGS)
    for flag in FLAGS.values():
        assert flag.bug_type
        assert flag.effect
        find(flag.claim)  # raises if there is no such claim


def test_bugs_are_measured_and_every_bug_shows_clearly_somewhere() -> None:
    bugs = {flag.id for flag in BUGS}
    for vector in all_vectors():
        assert set(vector.separation) == set(vector.flags) & bugs
        assert all(ratio >= 10 for ratio in vector.separation.values())
    for bug in bugs:
        ratios = [vector.separation[bug] for vector in all_vectors() if bug in vector.flags]
        assert len(ratios) >= 10
        assert max(ratios) >= 1e5


@pytest.mark.parametrize(
    ("flag", "holds"),
    [
        ("bad-input", lambda v: v.rejects is not None),
        ("supplied-draws", lambda v: bool(v.draws)),
        ("not-quadratic", lambda v: v.problem is not None and isinstance(v.parsed_problem(), Holder)),
        ("multipliers-not-unique", lambda v: "dual_pull" in v.expected),
        ("irrational", lambda v: (bool(v.draws) and "hypergradient" in v.expected) or v.stage == "lower_level_runs"),
        ("reading-inert", lambda v: v.reading == AS_WRITTEN),
        ("stop-allowance", lambda v: v.id.startswith("oracle/")),
        ("shift-form", lambda v: v.id.startswith("oracle/")),
        ("weakly-active", lambda v: {"weakly-active", "licq-fails"} & set(v.strata)),
        ("unused-draws", lambda v: v.draws and v.reading.noise_pairing == "common"),
        ("inexact-stages", lambda v: bool(v.given)),
        ("given-exact", lambda v: bool(v.given)),
        ("on-the-ramp", lambda v: any(0 < value < 1 for value in v.expected["rho"].value)),
    ],
)
def test_circumstances_are_what_the_data_say(flag: str, holds: object) -> None:
    assert callable(holds)
    flagged = [vector for vector in all_vectors() if flag in vector.flags]
    assert flagged
    assert all(holds(vector) for vector in flagged)
    if flag in ("bad-input", "supplied-draws", "multipliers-not-unique", "stop-allowance"):
        clear = [vector for vector in held() if flag not in vector.flags]
        assert not any(holds(vector) for vector in clear if vector.rejects is None)


def test_every_vector_agrees_with_itself() -> None:
    manifest = Manifest.model_validate_json(shipped_manifest())
    found = {vector.id: list(problems_of(vector, file_of(vector), manifest)) for vector in all_vectors()}
    assert {id_: problems for id_, problems in found.items() if problems} == {}


def test_given_stages_are_doubles_that_mean_what_they_say() -> None:
    for vector in held():
        for numbers in vector.given.values():
            assert [Fraction(value) for value in numbers.value] == [Fraction(text) for text in numbers.exact]


def test_parameters_follow_from_alpha() -> None:
    for vector in held():
        p = vector.parameters
        if vector.alpha is None or p.alpha_1 is None or p.alpha_2 is None or p.inner_tol is None:
            continue
        alpha = Fraction(vector.alpha.exact)
        assert [Fraction(n.exact) for n in (p.alpha_1, p.alpha_2, p.inner_tol)] == [alpha**-2, alpha**-4, alpha**3]


def test_tolerances_are_useful_or_say_that_they_are_not() -> None:
    for vector in held():
        for name in vector.main_outputs:
            block = vector.expected[name]
            size = max(map(abs, block.value))
            if size == 0:
                continue
            loose = max(block.tolerance) / size > 1e-3
            assert loose == ("loose-tolerance" in vector.flags)


def test_blocks_are_the_problem() -> None:
    for vector in held():
        if vector.blocks is None:
            continue
        problem = vector.parsed_problem()
        assert isinstance(problem, Quadratic)
        for name, block in vector.blocks.items():
            assert getattr(problem.arrays, name).tolist() == json.loads(json.dumps(block))


def test_no_draw_is_a_tie() -> None:
    for vector in held():
        if vector.draws and vector.problem is not None and vector.problem["noise"]["model"] == "jump":
            points = (vector.given["y_star"].value[0], vector.given["y_penalty"].value[0])
            thresholds = [row[0] for name in ("g_x", "g_x_star") for row in vector.draws[name]]
            assert min(abs(a - b) for a in points for b in thresholds) > 1e-6


def test_files_are_valid_json_by_the_published_schemas() -> None:
    published = schemas()
    for name, text in contents().items():
        schema = published["vectors-manifest" if name == MANIFEST else "vectors"]
        jsonschema.Draft202012Validator(schema).validate(json.loads(text, parse_constant=_refuse))


def _refuse(name: str) -> object:
    raise AssertionError(f"{name} is no JSON number")


def test_problems_of_vectors_are_valid_problem_files() -> None:
    validator = jsonschema.Draft202012Validator(schemas()["problem"])
    for vector in held()[::7]:
        if vector.problem is not None:
            validator.validate(json.loads(json.dumps(vector.problem, default=float)))


def test_all_choices_of_the_readings_occur() -> None:
    seen = {(name, value) for v in all_vectors() if v.reading for name, value in v.reading.model_dump().items()}
    for name, value in AS_WRITTEN.model_dump().items():
        assert (name, value) in seen


def test_expected_values_are_made_without_the_reference() -> None:
    modules = "verify.conformance.vectors.generation, verify.conformance.vectors.release"
    program = f"import sys, {modules}; sys.exit('f2csa_ref' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def _example() -> TestVector:
    return next(vector for vector in all_vectors() if vector.id == "hypergradient/toy1/alpha-1-10")


def test_the_worked_example_is_what_the_documentation_says() -> None:
    vector = _example()
    assert vector.given["y_penalty"].exact == ("4503153726417291/4503599627370496",)
    assert vector.expected["hypergradient"].exact == ("278688095753125/281474976710656",)
    assert vector.expected["hypergradient"].value == (0.990099009900991,)
    assert vector.expected["hypergradient"].tolerance == (6.22e-11,)
    assert vector.separation["dual-term"] == 1.6e12
