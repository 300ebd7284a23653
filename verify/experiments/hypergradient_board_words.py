"""What the board's runs show: who is ahead where, in two sentences, pictures and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from verify.evidence.charts import Plot, Series
from verify.experiments.answers.board_field import Field
from verify.experiments.answers.board_table import as_times, by_problem
from verify.experiments.answers.ours import F2CSA, IMPLICIT
from verify.experiments.answers.race import COLD, FRESH, TOGETHER, UNIT, WALKING, WANTED
from verify.experiments.curves import by
from verify.experiments.method_runs import joined
from verify.experiments.model import Experiment, Row, Size

LEVEL = 1.05
"""Times within this factor of one another are called level: quartiles of the unit beside itself are as wide."""
KINDS = (WALKING, FRESH, COLD)
Rows = Sequence[Mapping[str, Any]]
RATIO = "time over the unit's"


def described(rows: Rows, entrants: Field, size: Size, seed: int) -> Experiment:
    """The experiment's data with what they show."""
    duels = list(_duels(rows))
    return Experiment(
        name="board", title="Who has the hypergradient first, at which error", lead=_lead(duels), size=size, seed=seed,
        setting=_setting(rows, entrants), sentences=tuple(_sentences(rows, duels, entrants)), findings=(),
        plots=tuple(_plots(rows, duels)),
        rows=(*_standing(duels), *_by_entrant(rows), *by_problem(rows), *_needs(rows), *(dict(row) for row in rows)),
    )  # fmt: skip


def _duels(rows: Rows) -> Iterator[Row]:
    """For every problem, error and kind of points: F2CSA's fastest entrant over the fastest of all others."""
    problems = by(rows, "rows", "d", "condition", "seed")
    for (kind, d, condition, _), group in problems.items():
        for wanted in WANTED:
            for points in KINDS:
                there = [r for r in group if r.get("wanted") == wanted and r.get("points") == points]
                ours = [r for r in there if r["method"] == F2CSA]
                others = [r for r in there if r["method"] != F2CSA]
                best, rival = (min(each, key=_ratio, default=None) for each in (ours, others))
                over = None if best is None or rival is None else _ratio(best) / _ratio(rival)
                yield {"rows": kind, "d": d, "condition": condition, "wanted": wanted, "points": points, "over": over,
                       "by": None if best is None else str(best["entrant"])}  # fmt: skip


def _ratio(row: Mapping[str, Any]) -> float:
    return float(row[RATIO])


def _at(duels: Sequence[Row], points: str, wanted: float) -> list[Row]:
    return [duel for duel in duels if duel["points"] == points and duel["wanted"] == wanted]


def _counted(duels: Sequence[Row]) -> tuple[int, int, int, int]:
    """Problems on which F2CSA is ahead, level, behind, or does not reach the error."""
    overs = [duel["over"] for duel in duels]
    known = [float(over) for over in overs if over is not None]
    ahead, behind = sum(over < 1 / LEVEL for over in known), sum(over > LEVEL for over in known)
    return ahead, len(known) - ahead - behind, behind, len(overs) - len(known)


def _lead(duels: Sequence[Row]) -> str:
    """Two sentences: who is ahead along a walk, and where nothing is kept."""
    parts = []
    for points, where in ((WALKING, "Along a walk"), (FRESH, "at points that know no other")):
        ahead, _, behind, missed = zip(*(_counted(_at(duels, points, wanted)) for wanted in WANTED), strict=True)
        total = len(_at(duels, points, WANTED[0]))
        leads = [f"{a} at {_error(w)}" for a, w in zip(ahead, WANTED, strict=True) if a]
        least = min((float(d["over"]) for d in duels if d["points"] == points and d["over"] is not None), default=1.0)
        first = f"on {joined(leads)} ({as_times(least)} of its time at best)" if leads else "nowhere"
        parts.append((where, first, behind, missed, total))
    (walk, first, behind, missed, total), (fresh, second, later, _, _) = parts
    return (
        f"{walk} F2CSA has the answer before every implicit gradient, of {total} problems, {first}, {fresh} {second}. "
        "Behind it is on "
        f"{behind[0]} and {later[0]} at {_error(WANTED[0])}, on {behind[2]} and {later[2]} at {_error(WANTED[2])}, and "
        f"{_error(WANTED[-1])} it does not reach on {missed[-1]} of {total}, where the prepared implicit gradient, "
        "exact to rounding, is there on all."
    )


def _error(wanted: float) -> str:
    return f"1e{round(np.log10(wanted))}"


def _standing(duels: Sequence[Row]) -> Iterator[Row]:
    """The first table: F2CSA's fastest entrant against the fastest other, by error and kind of points."""
    for wanted in WANTED:
        row: Row = {"relative error": wanted}
        for points in KINDS:
            group = _at(duels, points, wanted)
            known = [float(duel["over"]) for duel in group if duel["over"] is not None]
            ahead, level, behind, missed = _counted(group)
            middle = f"{np.median(known):.2f} times; " if known else ""
            row[points] = f"{middle}ahead {ahead}, level {level}, behind {behind}, not reached {missed}"
        yield row


def _by_entrant(rows: Rows) -> Iterator[Row]:
    """Every entrant's median over problems, its time over the unit's along the walk, by error."""
    for (name,), group in by(rows, "entrant").items():
        row: Row = {"entrant": str(name), "implementation": next((str(r["implementation"]) for r in group
                    if "implementation" in r), "")}  # fmt: skip
        for wanted in WANTED:
            there = [r for r in group if r.get("wanted") == wanted]
            ratios = [_ratio(r) for r in there if r.get("points") == WALKING]
            total = len(by(there, "rows", "d", "condition", "seed"))
            short = f", {total - len(ratios)} of {total} not" if len(ratios) < total else ""
            row[_error(wanted)] = f"{np.median(ratios):.2f}{short}" if ratios else "not reached" if total else ""
        yield row


def _needs(rows: Rows) -> Iterator[Row]:
    """What an answer along the walk takes, in counts: products, factorisations, bytes; and what its preparation."""
    for (name, wanted), group in by([r for r in rows if r.get("points") == WALKING], "entrant", "wanted").items():
        if wanted not in (WANTED[0], WANTED[2]) or any(r["products"] is None for r in group):
            continue
        prepared = [
            float(r["factorisations"]) for r in rows if r["entrant"] == name and r.get("points") == "preparation"
        ]
        yield {
            "what an answer takes": str(name), "at an error of": wanted,
            "products, median": float(np.median([r["products"] for r in group])),
            "factorisations, mean": float(np.mean([r["factorisations"] for r in group])),
            "factorisations once": float(np.mean(prepared)) if prepared else None,
            "bytes over the unit's, median": float(np.median([r["bytes over the unit's"] for r in group])),
        }  # fmt: skip


def _sentences(rows: Rows, duels: Sequence[Row], entrants: Field) -> Iterator[str]:
    for points in (FRESH, COLD):
        firsts = [duel for duel in _at(duels, points, WANTED[0]) if duel["over"] is not None]
        if firsts:
            best = min(firsts, key=lambda duel: float(duel["over"] or 0.0))
            worst = max(firsts, key=lambda duel: float(duel["over"] or 0.0))
            yield (
                f"{points.capitalize()} at {_error(WANTED[0])}: F2CSA is best placed on {_problem(best)} "
                f"({as_times(float(best['over'] or 0))} times the fastest other, by {best['by']}), worst on "
                f"{_problem(worst)} ({as_times(float(worst['over'] or 0))})."
            )
    yield from _first_order(rows)
    together = [r for r in rows if r.get("points") == TOGETHER and r.get("wanted") == WANTED[0]]
    if together:
        ratios = [_ratio(r) for r in together]
        yield (
            "Fresh points given together, one matrix product for all, cost the batched oracle "
            f"{as_times(float(np.median(ratios)))} times what the unit takes for them one by one "
            f"({as_times(min(ratios))} to {as_times(max(ratios))})."
        )
    itself = [r for r in rows if r["entrant"] == UNIT and r.get("points") == WALKING and r.get("wanted") == WANTED[0]]
    low, high = min(float(r["lower quartile"]) for r in itself), max(float(r["upper quartile"]) for r in itself)
    yield f"The unit beside itself: quartiles from {low:.2f} to {high:.2f}; what differs by less is not told apart."
    for absentee in entrants.absent:
        yield f"Not here is {absentee}."
    yield from _left_out(rows)


def _first_order(rows: Rows) -> Iterator[str]:
    """What is spent where nothing is factorised and no second derivative formed."""
    named = "F2CSA, first-order"
    for wanted in (WANTED[0], WANTED[2]):
        there = [r for r in rows if r["entrant"] == named and r.get("wanted") == wanted and r.get("points") == WALKING]
        if there:
            bytes_over = [float(r["bytes over the unit's"]) for r in there]
            products = [float(r["products"]) for r in there]
            yield (
                f"At {_error(wanted)} {named}, without a factorisation or a second derivative, takes a median of "
                f"{np.median(products):.0f} products an answer along the walk, "
                f"{as_times(float(np.median(bytes_over)))} times the unit's bytes "
                f"({as_times(min(bytes_over))} to {as_times(max(bytes_over))})."
            )


def _left_out(rows: Rows) -> Iterator[str]:
    """Who was kept away, where and why: said, not dropped."""
    by_reason: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        status = str(row["status"])
        if status.startswith("left out"):
            by_reason.setdefault((str(row["entrant"]), status), set()).add(_problem(row))
    for (name, status), where in by_reason.items():
        places = sorted(where)
        shown = ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
        yield f"{name} {status} ({shown})."


def _problem(row: Mapping[str, Any]) -> str:
    return f"{row['rows']}, d = {row['d']}, condition {float(row['condition'] or 0):g}"


def _plots(rows: Rows, duels: Sequence[Row]) -> Iterator[Plot]:
    digits = "digits: −log₁₀ of the relative error"
    for points, where in ((WALKING, "along a walk"), (FRESH, "at fresh points")):
        yield Plot(title=f"Time of an answer {where}", x_label=digits, y_label="times the prepared implicit gradient's",
                   series=tuple(_over_errors(rows, points, RATIO)), log_y=True)  # fmt: skip
    dims = sorted({int(duel["d"] or 0) for duel in duels})
    if len(dims) > 1:
        for points, where in ((WALKING, "along a walk"), (FRESH, "at fresh points")):
            yield Plot(title=f"F2CSA's fastest over the fastest other, {where}", x_label="dimension d",
                       y_label="ratio of times", series=tuple(_over_dimensions(duels, points, dims)), log_x=True,
                       log_y=True)  # fmt: skip
    yield Plot(title="Bytes an answer reads along a walk", x_label=digits,
               y_label="times the prepared implicit gradient's",
               series=tuple(_over_errors(rows, WALKING, "bytes over the unit's")), log_y=True)  # fmt: skip


def _over_errors(rows: Rows, points: str, column: str) -> Iterator[Series]:
    """An entrant's median over problems at every error that it reaches on most of them; the band is its quartiles."""
    for (name,), group in by(rows, "entrant").items():
        at, values = [], []
        total = len(by(group, "rows", "d", "condition", "seed"))
        for wanted in WANTED:
            cells = [r[column] for r in group if r.get("wanted") == wanted and r.get("points") == points]
            if len(cells) * 2 > total and all(value is not None for value in cells):
                at.append(-float(np.log10(wanted)))
                values.append(np.percentile(cells, (25, 50, 75)))
        if len(at) > 1:
            low, middle, high = (tuple(float(v[i]) for v in values) for i in range(3))
            yield Series(name=str(name), x=tuple(at), y=middle, low=low, high=high)


def _over_dimensions(duels: Sequence[Row], points: str, dims: Sequence[int]) -> Iterator[Series]:
    for (kind,), group in by(duels, "rows").items():
        for wanted in (WANTED[0], WANTED[2]):
            at, values = [], []
            for d in dims:
                ratios = [float(duel["over"] or 0) for duel in group if duel["d"] == d and duel["points"] == points
                         and duel["wanted"] == wanted and duel["over"] is not None]  # fmt: skip
                if ratios:
                    at.append(float(d))
                    values.append((min(ratios), float(np.median(ratios)), max(ratios)))
            if len(at) > 1:
                low, middle, high = (tuple(v[i] for v in values) for i in range(3))
                yield Series(name=f"{kind}, {_error(wanted)}", x=tuple(at), y=middle, low=low, high=high)


def _setting(rows: Rows, entrants: Field) -> dict[str, Any]:
    problems = by(rows, "rows", "d", "condition")
    return {
        "problems": len(problems), "dimensions": sorted({int(d) for _, d, _ in problems}),
        "rows": list(dict.fromkeys(str(kind) for kind, _, _ in problems)),
        "condition numbers": sorted({float(c) for _, _, c in problems}),
        "unit": f"{UNIT}, prepared: the lower level's factor serves its adjoint, too",
        "held to": "the gradient of F in extended precision, at every point that is timed",
        "time": "processor time of one thread, quartiles of pairs at the same point in the same minute",
        "tuned": "α and the inner residual for every error, on points of their own",
        "entrants": [f"{entrant.name}: {entrant.version}" for entrant in entrants.entrants],
        "methods": [F2CSA, IMPLICIT],
    }  # fmt: skip
