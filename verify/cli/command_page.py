"""The commands as one page, made from the parser: ``python -m verify.cli.command_page > docs/commands.md``."""

from __future__ import annotations

import sys

from verify.cli.main import COMMANDS

EXAMPLES: dict[str, str] = {
    "verify": "verify bias-bound/T3 --reading repaired",
    "merge": "merge a b --out all",
    "report": "report all --out report",
    "board": "board report conform",
    "soak": "soak bias-bound/T3 --draws 1",
    "claims": "claims bias-bound/T3",
    "hypergradient": "hypergradient atlas:toy1 --alpha 1/10 --json",
    "goldstein": "goldstein atlas:experiment-1d --x 2.3 --radius 0.2",
    "instances": "instances --stratum weakly-active",
    "solve": "solve atlas:toy1 --calls 200",
    "orders": "orders bias-bound",
    "refute": "refute bias-bound/T3",
    "calibrate": "calibrate --runs 200 --law-runs 0",
    "gate": "gate bias-bound/T3",
    "prove": "prove bias-bound/T3",
    "recheck": "recheck report",
    "badge": "badge report",
    "vectors": "vectors --out vectors",
    "conform": "conform --python my_solver:Subject",
    "history": "history f2csa-baseline.json --commits --out history.html",
    "init": "init python --out my-solver",
    "doctor": "doctor",
    "settings": "settings",
    "schema": "schema problem",
    "baseline record": "baseline record --subject my_solver:Subject",
    "baseline compare": "baseline compare f2csa-baseline.json",
    "experiment convergence": "experiment convergence --quick",
    "experiment scaling": "experiment scaling --quick",
    "experiment board": "experiment board --quick --largest 10",
    "experiment kinks": "experiment kinks --quick",
    "paper annotate": "paper annotate report --out paper.html",
    "paper check": "paper check paper.tex",
    "paper lint": "paper lint paper.tex",
    "paper extract": "paper extract paper.tex --out extract.toml",
    "paper corrections": "paper corrections --report report",
}
"""One way to call each command."""
HEAD = """\
# Commands

`f2csa COMMAND --help` lists a command's options; the page is made from the same parser. Where a machine may read,
`--json` prints JSON, on any terminal the same data.

| Exit code | |
|---|---|
| 0 | as expected |
| 1 | a finding |
| 2 | wrong input, which another command line or file mends: a subject that is not there, or has no stage, among it |
| 3 | a fault: a subject that is there and raises, quits or hangs, while it is imported or later; a disk that is full, \
output that was lost; a run that was interrupted |

It is the same whatever reads the output: a reader that leaves (`| head -1`) changes nothing, a full disk
(`> /dev/full`) turns 0 into 3 and no other code, and a closed standard output (`>&-`) is refused with 2 before anything
runs.

`f2csa --install-completion bash` (or `zsh`, `fish`; default `$SHELL`) has the shell complete commands, options, claims,
instances and strata; `--show-completion` prints that script instead.

A terminal without Greek letters is spelt to: with `TERM=dumb`, `LC_ALL=C` or an encoding such as
`PYTHONIOENCODING=ascii`, α⁻² is `alpha^-2`, and the marks are `ok` and `FAIL`. Where standard error is no terminal, a
long run says every 30 s how far it is and, as a terminal's bar does, how long the rest takes at the pace of what is
finished. Then `f2csa verify` says its answer in at most twenty lines; `-v` has a row for each statement, and of few
results each is told with its numbers. `f2csa verify --quiet` prints findings, faults and the last line alone, and `-x`
stops at the first of them.
`f2csa conform` has both: with `-x` no claim is judged once a stage deviates.

| Command | Does | Example |
|---|---|---|
"""


def page() -> str:
    """The page as Markdown."""
    rows = [
        f"| `{name}` | {str(options.__doc__).strip()} | `f2csa {EXAMPLES[name]}` |"
        for options, (name, _) in COMMANDS.items()
    ]
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
