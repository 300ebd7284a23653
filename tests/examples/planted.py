"""Examples with one mistake planted, in a copy: what is replaced where, and the stage that is wrong then."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
COMPILERS = {
    "cpp_subject": ["g++", "-std=c++20", "-O0", "main.cpp", "-o", "subject"],
    "rust_subject": ["rustc", "--edition", "2021", "-C", "opt-level=0", "main.rs", "-o", "subject"],
}


@dataclass(frozen=True)
class Planted:
    """A mistake: ``wrong`` in place of ``right``, which a file of an example holds exactly once."""

    example: str
    file: str
    right: str
    wrong: str
    stage: str

    @property
    def id(self) -> str:
        return f"{self.example}-{self.stage}"


MISTAKES = (
    Planted("node_subject", "f2csa.mjs", "Math.max(found[m + i], 0)", "2 * Math.max(found[m + i], 0)", "lower_level"),
    Planted("node_subject", "f2csa.mjs", " * clamp(lam[i] / lamWidth)", "", "activation"),
    Planted("node_subject", "f2csa.mjs", "const curvature = (w) => {",
            "const curvature = (w) => { rho = rho.map(() => 1);", "penalty_minimiser"),
    Planted("node_subject", "f2csa.mjs", "add(add(p.f.gradX(x, y), add(difference, dual), alpha ** -2)",
            "add(add(p.f.gradX(x, y), add(difference, dual), alpha ** -1)", "hypergradient"),
    Planted("node_subject", "f2csa.mjs", "mean = mean.map((row, r) => add(row, z[r], 1 / M))",
            "mean = mean.map((row, r) => add(row, x[r], 1 / M))", "optimise"),
    Planted("cpp_subject", "f2csa.hpp", "times(At, weighted_rows(w)), std::pow(alpha, -4)",
            "times(At, weighted_rows(Vector(w.size()))), std::pow(alpha, -4)", "hypergradient"),
    Planted("rust_subject", "f2csa.rs", "if length > outer.d {", "if length > 2.0 * outer.d {", "optimise"),
    Planted("pytorch_subject", "f2csa_torch.py", "h = h_star - p.B @ w", "h = h_star + p.B @ w", "penalty_minimiser"),
    Planted("jax_subject", "f2csa_jax.py", " * jnp.clip(lam / lam_width, 0, 1)", "", "activation"),
)  # fmt: skip


def built(example: str, into: Path, mistake: Planted | None = None) -> str:
    """Copy an example, plant a mistake, compile where need be; the subject's name for the loader."""
    folder = into / example
    shutil.copytree(EXAMPLES / example, folder)
    if mistake is not None:
        file = folder / mistake.file
        text = file.read_text(encoding="utf-8")
        assert text.count(mistake.right) == 1, mistake
        file.write_text(text.replace(mistake.right, mistake.wrong), encoding="utf-8")
    if example in COMPILERS:
        subprocess.run(COMPILERS[example], cwd=folder, check=True, capture_output=True, timeout=120)
        return f"command:{shlex.quote(str(folder / 'subject'))}"
    return f"command:node {shlex.quote(str(folder / 'adapter.mjs'))}"
