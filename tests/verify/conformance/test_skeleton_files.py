"""Skeletons: whole and consistent, a fault while empty, right once filled in, and nobody's file lost."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spec.settings import load_settings
from tests.whole import digest
from verify.cli.main import invoke
from verify.conformance.skeleton_files import GUIDE, SETTINGS, SKELETONS, WORKFLOW, skeleton_texts, write_skeleton
from verify.subjects.stage_table import CAPABILITIES

ROOT = Path(__file__).parents[3]
TOOLS = {"cpp": "g++", "rust": "rustc", "node": "node"}
TO_WRITE = ("lower_level", "penalty_minimiser", "hypergradient", "optimise")

LOOP = """
def outer_loop(oracle, x0, D, eta, M, K, s):
    x, step, path, x_bar = x0, np.zeros_like(x0), [x0], np.zeros((K, *x0.shape))
    for t in range(K * M):
        z, x = x + s[t] * step, x + step
        step = step - eta * oracle(z)
        step = step * min(1.0, D / max(np.linalg.norm(step), 1e-300))
        x_bar[t // M] += z / M
        path.append(x)
    return x_bar, np.array(path)
"""
NODE = """
import * as method from "./f2csa.mjs";
export class NotWritten extends Error {}
const made = (p) => {
  const form = (o) => method.quadratic(...["xx", "xy", "yy", "x", "y"].map((block) => p[`${o}_${block}`]));
  return { ...p, f: form("f"), g: form("g") };
};
export const activation = method.activation;
export const lowerLevel = (p, x) => method.lowerLevel(made(p), x);
export const penaltyShift = (p, x, L) => method.penaltyShift(made(p), x, L);
export const gradientX = (p, x, L, shift) => method.gradientX(made(p), x, shift, L, false);
export function outerLoop(oracle, x0, parameters, s) {
  const run = method.outerLoop(([z]) => [oracle(z)], [x0], parameters, (t) => [s[t]]);
  return { x_bar: run.x_bar.map(([row]) => row), path: run.path.map(([row]) => row) };
}
"""
CPP = """
#pragma once
#define Pair Found
#define lower_level found_level
#define outer_loop loop_of_many
#include "f2csa.hpp"
#undef Pair
#undef lower_level
#undef outer_loop
struct NotWritten : std::runtime_error { using std::runtime_error::runtime_error; };
struct Held { double alpha; Vector y_star, lam, rho; };
struct Pair { Vector y_star, lam; };
struct OuterRun { Matrix x_bar, path; };
inline Pair lower_level(const Problem& q, const Vector& x) {
  const Found found = found_level(q, x);
  return {found.y, found.lam};
}
inline Lagrangian held_at(const Problem& q, const Vector& x, const Held& held) {
  return {q, x, held.alpha, held.y_star, held.lam, held.rho, false};
}
inline Vector penalty_shift(const Problem& q, const Vector& x, const Held& held) {
  return held_at(q, x, held).minimiser();
}
inline Vector gradient_x(const Problem& q, const Vector& x, const Held& held, const Vector& shift) {
  return held_at(q, x, held).grad_x(shift);
}
inline OuterRun outer_loop(const std::function<Vector(const Vector&)>& oracle, const Vector& x0, double D, double eta,
                           int M, int K, const Vector& s) {
  const auto many = loop_of_many([&](const Matrix& z) { return Matrix{oracle(z[0])}; }, {x0}, D, eta, M, K,
                                 [&](int t, size_t) { return s[t]; });
  OuterRun made;
  for (const Matrix& each : many.x_bar) made.x_bar.push_back(each[0]);
  for (const Matrix& each : many.path) made.path.push_back(each[0]);
  return made;
}
"""

RUST = """
#[path = "f2csa.rs"]
mod method;
pub use method::{activation, Matrix, Objective, Outer, Problem, Vector};
pub enum Failure { #[allow(dead_code)] NotWritten(String), Failed(String) }
pub struct Held { pub alpha: f64, pub y_star: Vector, pub lam: Vector, pub rho: Vector }
fn held_at<'a>(q: &'a Problem, x: &[f64], held: &Held) -> method::Lagrangian<'a> {
    let (y_star, lam, rho) = (held.y_star.clone(), held.lam.clone(), held.rho.clone());
    method::Lagrangian { q, x: x.to_vec(), alpha: held.alpha, y_star, lam, rho, frozen: false }
}
pub fn lower_level(q: &Problem, x: &[f64]) -> Result<(Vector, Vector), Failure> {
    method::lower_level(q, x).map_err(Failure::Failed)
}
pub fn penalty_shift(q: &Problem, x: &[f64], held: &Held) -> Result<Vector, Failure> {
    held_at(q, x, held).minimiser().map_err(Failure::Failed)
}
pub fn gradient_x(q: &Problem, x: &[f64], held: &Held, shift: &[f64]) -> Result<Vector, Failure> {
    Ok(held_at(q, x, held).grad_x(shift))
}
pub fn outer_loop(
    oracle: impl Fn(&[f64]) -> Result<Vector, Failure>, x0: &[f64], outer: &Outer, s: &[f64],
) -> Result<(Matrix, Matrix), Failure> {
    let one = |z: &Matrix| Ok(vec![oracle(&z[0])?]);
    let made = method::outer_loop(one, vec![x0.to_vec()], outer, |t, _| s[t])?;
    let first = |many: &[Matrix]| many.iter().map(|rows| rows[0].clone()).collect();
    Ok((first(&made.x_bar), first(&made.path)))
}
"""


@pytest.fixture
def written(tmp_path, monkeypatch, capsys):
    """Writes a skeleton into an empty directory, which is entered; its own module is forgotten afterwards."""

    def write(language):
        runtime = TOOLS.get(language)
        if runtime is not None and shutil.which(runtime) is None:
            pytest.skip(f"{runtime} is not installed")
        if language == "torch" and importlib.util.find_spec("torch") is None:
            pytest.skip("torch is not installed; it is no dependency of this project")
        assert invoke(["init", language, "--out", str(tmp_path)]) == 0
        capsys.readouterr()
        monkeypatch.chdir(tmp_path)
        return tmp_path

    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield write
    for module in ("my_solver", "guide"):
        sys.modules.pop(module, None)


def conform(capsys, language, *more):
    """Build a skeleton, and judge it; answers with exit code and the letter."""
    skeleton = SKELETONS[language]
    if skeleton.build:
        subprocess.run(skeleton.build.split(), check=True, capture_output=True)
    subject = ["--python", skeleton.python] if skeleton.python else ["--command", skeleton.program]
    code = invoke(["conform", *subject, "--jobs", "1", *more])
    return code, capsys.readouterr().out


def about(language):
    """A language, told by the texts of its skeleton and of the example that fills it."""
    files = [file for file in (ROOT / "examples" / f"{language}_subject").glob("*") if file.is_file()]
    texts = [*skeleton_texts(language).values(), *(file.read_text(encoding="utf-8") for file in files)]
    return pytest.param(language, marks=pytest.mark.about(digest(texts)))


@pytest.mark.parametrize("language", [about(language) for language in SKELETONS])
def test_an_unfilled_skeleton_is_a_fault_that_names_the_stages_to_write_first_to_last(language, written, capsys):
    written(language)
    code, out = conform(capsys, language, "bias-bound/T3")
    faults = re.findall(r"^  ! (\w+) ", out, re.M)
    assert code == 3
    assert faults == list(TO_WRITE)
    first = next(line for line in out.splitlines() if line.startswith("Fault: "))
    assert "lower_level is not written yet, stage 1 of 5" in first
    assert re.search(r"^  ✓ activation ", out, re.M)


def fill(folder, language):
    """Put right stages into a skeleton: the guide's, corrected, and the examples'."""
    if language == "python":
        guide = (ROOT / "docs" / "ten-minutes.md").read_text(encoding="utf-8")
        (folder / "guide.py").write_text(guide.split("```python\n")[1].split("```")[0], encoding="utf-8")
        with (folder / "my_solver.py").open("a", encoding="utf-8") as file:
            file.write("\n\nimport guide\n\nlower_level, penalty_shift = guide.lower_level, guide.penalty_shift\n\n\n")
            file.write("def gradient_x(a, x, alpha, y_star, lam, rho, shift):\n")
            # The guide's first draft keeps the multiplier's term.
            file.write("    return guide.gradient_x(a, x, alpha, y_star, 0 * lam, rho, shift)\n" + LOOP)
    elif language == "node":
        shutil.copy(ROOT / "examples" / "node_subject" / "f2csa.mjs", folder)
        (folder / "solver.mjs").write_text(NODE, encoding="utf-8")
    elif language == "rust":
        shutil.copy(ROOT / "examples" / "rust_subject" / "f2csa.rs", folder)
        (folder / "solver.rs").write_text(RUST, encoding="utf-8")
    else:
        shutil.copy(ROOT / "examples" / "cpp_subject" / "f2csa.hpp", folder)
        (folder / "solver.hpp").write_text(CPP, encoding="utf-8")


@pytest.mark.parametrize("language", [about(language) for language in ("python", "node", "cpp", "rust")])
def test_a_skeleton_with_its_stages_written_conforms(language, written, capsys):
    fill(written(language), language)
    code, out = conform(capsys, language, "bias-bound/T3")
    assert code == 0
    right = re.findall(r"^  ✓ (\w+) ", out, re.M)
    assert right == [name for name in CAPABILITIES if name in (*TO_WRITE, "activation")]


@pytest.mark.parametrize("language", SKELETONS)
def test_every_mark_is_filled_in_and_the_settings_name_the_subject(language, tmp_path):
    texts, skeleton = skeleton_texts(language), SKELETONS[language]
    assert set(texts) == {*skeleton.sources, WORKFLOW, GUIDE, SETTINGS}
    write_skeleton(language, tmp_path)
    settings = load_settings(tmp_path).settings
    assert (settings.subject, settings.reading) == (skeleton.name, ("repaired",))
    assert f"baseline record\ngit add {SETTINGS} {settings.baseline} {WORKFLOW} wheels\n" in texts[GUIDE]
    for name in (WORKFLOW, GUIDE):
        assert not re.search(r"@[A-Z_]+@", texts[name])
        # Whom they judge, the settings say.
        assert {"f2csa conform\n", "f2csa verify\n"} <= {re.sub(" +#.*", "", line[line.find("f2csa") :]) + "\n"
                                                         for line in texts[name].splitlines()}  # fmt: skip
        assert skeleton.build in texts[name]
    assert f"f2csa conform {skeleton.conform}" in texts[GUIDE]
    assert f"in `{skeleton.solver}`" in texts[GUIDE]
    for stage in TO_WRITE:
        assert stage in texts[skeleton.solver]


@pytest.mark.parametrize("language", ["python", "torch"])
def test_python_skeletons_are_python(language):
    compile(skeleton_texts(language)["my_solver.py"], "my_solver.py", "exec")


def test_the_json_readers_are_those_of_the_examples():
    assert skeleton_texts("cpp")["json.hpp"] == (ROOT / "examples/cpp_subject/json.hpp").read_text(encoding="utf-8")
    rust = (ROOT / "examples/rust_subject/json.rs").read_text(encoding="utf-8")
    assert skeleton_texts("rust")["json.rs"] == rust.replace("crate::f2csa::", "crate::solver::")


def test_no_file_is_replaced_without_force(tmp_path, capsys):
    own = tmp_path / "my_solver.py"
    own.write_text("mine\n", encoding="utf-8")
    assert invoke(["init", "python", "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "--out: must not hold files that init would replace (--force replaces them)" in error
    assert {path.name for path in tmp_path.iterdir()} == {"my_solver.py"}
    assert own.read_text(encoding="utf-8") == "mine\n"
    assert invoke(["init", "python", "--out", str(tmp_path), "--force"]) == 0
    assert own.read_text(encoding="utf-8") == skeleton_texts("python")["my_solver.py"]


def test_an_unknown_language_and_a_file_as_folder_are_refused_on_one_line(tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    for arguments, said in ((["nodejs"], "language: must be one of"), (["node", "--out", str(file)], "--out: must be")):
        assert invoke(["init", *arguments]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert said in error
