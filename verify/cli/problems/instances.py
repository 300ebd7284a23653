"""``f2csa instances``: the atlas, each instance with its sizes n, m, p, its strata and its purpose."""

from __future__ import annotations

from typing import Any, get_args

from rich.padding import Padding
from rich.table import Table

from spec.atlas import Instance, Stratum, atlas, find
from spec.drawn import FAMILIES, PREFIX
from spec.problem import Holder
from verify.checks.measuring.case import checks
from verify.checks.measuring.where_asked import is_place_of
from verify.cli.arguments import point_options
from verify.cli.arguments.sources import ATLAS, require_one_of
from verify.cli.output.console import plain_console, print_json
from verify.report.wording import counted
from verify.truth.geometry import quadratic_of


def instances(options: point_options.Instances) -> None:
    """Print the instances asked for; a few by name with all that is known of them."""
    wanted = [require_one_of("--stratum", name, sorted(get_args(Stratum))) for name in options.stratum or ()]
    named = [find(name.removeprefix(ATLAS), "names") for name in options.names or ()] or list(atlas().values())
    selected = [instance for instance in named if instance.strata.issuperset(wanted)]
    if options.as_json:
        print_json([described(instance) for instance in selected])
    elif options.names:
        for instance in selected:
            _explain(instance)
    else:
        _list(selected, wanted)


def sizes(instance: Instance) -> tuple[int, int, int]:
    """n, m and p of an instance."""
    if isinstance(instance.problem, Holder):
        return 1, 1, 1
    quadratic = quadratic_of(instance.problem)
    return quadratic.n, quadratic.m, quadratic.p


def described(instance: Instance) -> dict[str, Any]:
    """An instance as plain data: name, sizes, point, strata, purpose, known values, and the problem itself."""
    n, m, p = sizes(instance)
    return {
        "name": instance.name, "n": n, "m": m, "p": p, "kind": instance.problem.kind,
        "x": [str(value) for value in instance.x], "strata": sorted(instance.strata), "purpose": instance.purpose,
        "known": instance.known, "statements": _statements(instance), "problem": instance.problem.to_dict(),
    }  # fmt: skip


def _statements(instance: Instance) -> list[str]:
    """The claims and steps that are checked on it."""
    return [name for name, check in checks().items() if is_place_of(check, instance.name)]


def _list(selected: list[Instance], wanted: list[str]) -> None:
    console = plain_console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("instance", "n", "m", "p"):
        table.add_column(heading, no_wrap=True, justify="left" if heading == "instance" else "right")
    table.add_column("strata and purpose")
    for instance in selected:
        table.add_row(instance.name, *map(str, sizes(instance)), f"{', '.join(sorted(instance.strata))}")
        table.add_row("", "", "", "", instance.purpose)
    console.print(table)
    of = f" of {', '.join(wanted)}" if wanted else ""
    console.print(
        f"\n{counted(len(selected), 'instance')}{of}. f2csa instances NAME explains one; f2csa hypergradient "
        f"{ATLAS}NAME runs Algorithm 1 on it.", style="dim",
    )  # fmt: skip
    if not wanted:
        console.print("\nFamilies of random problems, each draw by its seed:", style="bold")
        for family in FAMILIES.values():
            console.print(Padding(f"{PREFIX}{family.name}:SEED  {family.purpose}", (0, 0, 0, 2)), markup=False)


def _explain(instance: Instance) -> None:
    console = plain_console()
    n, m, p = sizes(instance)
    console.print(f"{instance.name}: n = {n}, m = {m}, p = {p}", style="bold", markup=False)
    lines = [
        instance.purpose,
        f"strata: {', '.join(sorted(instance.strata))}",
        f"x = ({', '.join(map(str, instance.x))})",
        *(f"{name} = {value}" for name, value in instance.known.items()),
        f"checked on it: {counted(len(_statements(instance)), 'statement')}; f2csa verify --instance {instance.name}",
    ]
    for line in lines:
        console.print(Padding(line, (0, 0, 0, 2)), markup=False)
