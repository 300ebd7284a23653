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
    """A mistake: ``wrong`` in place of ``right``, which a file of an example holds exactly once.

    ``sentence`` is part of what its author is told.
    """

    example: str
    file: str
    right: str
    wrong: str
    stage: str
    sentence: str

    @property
    def id(self) -> str:
        return f"{self.example}-{self.stage}"


_NODE, _CPP, _RUST = ("node_subject", "f2csa.mjs"), ("cpp_subject", "f2csa.hpp"), ("rust_subject", "f2csa.rs")
MISTAKES = (
    Planted(*_NODE, "Math.max(found[m + i], 0)", "2 * Math.max(found[m + i], 0)", "lower_level",
            "2·λ is returned in place of λ"),
    Planted(*_NODE, " * clamp(lam[i] / lamWidth)", "", "activation", "without the ramp of λ"),
    Planted(*_NODE, "add(p.g.gradY(x, y), times(Bt, lam), -1)", "add(p.g.gradY(x, y), times(Bt, lam), 1)",
            "penalty_minimiser", "−λ̃ where λ̃ belongs"),
    Planted(*_NODE, "add(difference, dual), alpha ** -2)", "add(difference, dual), alpha ** -1)", "hypergradient",
            "α⁻¹ where α₁ belongs"),
    Planted(*_NODE, "add(row, z[r], 1 / M)", "add(row, x[r], 1 / M)", "optimise",
            "the iterates x_t instead of the queried points z_t"),
    Planted(*_CPP, "times(At, weighted_rows(w)), std::pow(alpha, -4)",
            "times(At, weighted_rows(Vector(w.size()))), std::pow(alpha, -4)", "hypergradient",
            "ỹ* where ỹ belongs in α₂Aᵀ(ρ∘h(x,ỹ))"),
    Planted(*_RUST, "if length > outer.d {", "if length > f64::INFINITY {", "optimise", "nothing is cut"),
    Planted("pytorch_subject", "f2csa_torch.py", " * (lam / lam_width).clamp(0, 1)", "", "activation",
            "without the ramp of λ"),
    Planted("jax_subject", "f2csa_jax.py", " * jnp.clip(lam / lam_width, 0, 1)", "", "activation",
            "without the ramp of λ"),
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
