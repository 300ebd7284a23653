"""The picture of one run of ``f2csa solve``: F and the mean answer against oracle calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from f2csa_ref.solver.trace import Block


def draw(blocks: Sequence[Block], path: Path) -> None:
    """Write the picture; the same trace gives the same bytes.

    Args:
        blocks: All blocks of a run.
        path: File to write, its ending says the format.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "f2csa", "font.size": 9}):
        figure = Figure(figsize=(7, 3), layout="constrained")
        FigureCanvasAgg(figure)
        left, right = figure.subplots(1, 2)
        calls = [block.calls for block in blocks]
        values = [block.F for block in blocks]
        if all(value is not None for value in values):
            left.plot(calls, [float(value) for value in values if value is not None], lw=1.2)
        left.set(xlabel="oracle calls", title="F at the block means")
        right.plot(calls, [block.grad_norm for block in blocks], lw=1.2)
        right.set(xlabel="oracle calls", yscale="log", title="length of the mean answer")
        for axes in (left, right):
            axes.grid(alpha=0.3)
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, metadata=metadata)
