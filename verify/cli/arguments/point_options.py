"""What the commands on one problem and on the atlas take; as :mod:`verify.cli.arguments.options`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from typer import Argument, Option

from verify.cli.arguments import completion
from verify.cli.arguments.options import AsJson, Choices, NamedReading, Point, Problem, Texts


@dataclass(frozen=True)
class HypergradientOptions:
    """One oracle call: every stage's value, with the exact values beside."""

    problem: Problem
    x: Point = None
    alpha: Annotated[str, Option(help="Accuracy parameter, > 0.")] = "0.1"
    reading: NamedReading = "repaired"
    choose: Choices = None
    samples: Annotated[int, Option(help="N_g, gradient samples averaged.")] = 1
    seed: Annotated[int, Option(help="Seed of the noise, >= 0.")] = 0
    lam_width: Annotated[
        str | None, Option("--lam-width", help="ε_λ, width of the multipliers' ramp in line 4, > 0; default 0.1.")
    ] = None
    given: Annotated[Texts, Option(help="STAGE=NUMBERS: use this y_star, lam, rho or y_penalty; repeatable.")] = None
    certify: Annotated[bool, Option("--certify", help="Bound the estimate's error (docs/certificates.md).")] = False
    gradients_alone: Annotated[
        bool, Option("--gradients-alone", help="With --certify: factorise no second derivative for the bound.")
    ] = False
    level: Annotated[str, Option(help="Confidence of the bound where the problem is noisy, in (0, 1).")] = "0.95"
    as_table: Annotated[bool, Option("--table", help="With --certify: print the certificate's table alone.")] = False
    as_json: AsJson = False


@dataclass(frozen=True)
class Goldstein:
    """Bounds of dist(0, ∂_δF(x)): exact for n = 1, certified for n <= 4, an estimate from below beyond."""

    problem: Problem
    radius: Annotated[str, Option(help="Radius of the Goldstein ball, units of x, > 0.")]
    x: Point = None
    box: Annotated[
        Texts, Option(help="LOW,HIGH of X, once for all components or once each; adds its normal cone at x.")
    ] = None
    as_json: AsJson = False


@dataclass(frozen=True)
class Instances:
    """The atlas: every named instance with its sizes, its strata and its purpose."""

    names: Annotated[Texts, Argument(help="Only these; all if none.", autocompletion=completion.instances)] = None
    stratum: Annotated[
        Texts,
        Option(
            help="Only instances of this stratum; repeatable, all of them at once.", autocompletion=completion.strata
        ),
    ] = None
    as_json: AsJson = False
