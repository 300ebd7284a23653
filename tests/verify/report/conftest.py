"""A made-up report that shows every verdict, every kind of evidence and every oddity at least once."""

from __future__ import annotations

import math

import pytest

from spec.claims import Claim
from verify.evidence.model import ClosedForm, ComparisonEvidence, Counterexample, Point, PremiseEvidence, RateEvidence
from verify.report.model import Result
from verify.report.report_files import Report
from verify.report.rows.summary_row import SummaryRow
from verify.verdict import Verdict

TOY = {
    "kind": "quadratic",
    "f": {"y": ["1/3"]},
    "g": {"yy": [[1]]},
    "constraints": {"A": [[1]], "B": [[1]], "b": [0]},
}
FORMS = {
    0: ClosedForm(text="|−α²/(1 + α²)| = α²/(1 + α²)", latex=r"|-x| = \frac{\alpha^{2}}{1 + \alpha^{2}}",
                  whole=True, values=((0.1, 0.0099),), measured=True),
    1: ClosedForm(text="√180962α²·(1 + 653350α²/1447697) + … <long> " + "+ 1000000α² " * 4, latex=r"\dots",
                  whole=False, values=((0.1, 0.0099),), measured=False),
}  # fmt: skip
ALPHAS = tuple(10 ** (-0.5 - 0.25 * index) for index in range(9))


def _assertion(text: str, power: str | None) -> dict:
    exponents = {} if power is None else {"alpha": power}
    return {
        "text": text,
        "latex": rf"\lVert \mathbb{{E}}\,\hat{{\nabla}} F(x) - \nabla F(x) \rVert \le C \, \alpha^{{{power or 0}}}",
        "bound": {"quantity": "norm of the bias", "exponents": exponents},
    }


def _statement(name: str, title: str, power: str | None, **more: object) -> dict:
    return {
        "id": name,
        "title": title,
        "location": f'Lemma "{title}", proof & <appendix>',
        "statement": "The estimator's mean stays within a constant times alpha of the true hypergradient.",
        "latex": r"\lVert \mathbb{E}\,\hat{\nabla} F(x) - \nabla F(x) \rVert \le C_{\mathrm{bias}}\, \alpha",
        "as_written": _assertion("Of order alpha for every admissible problem.", power),
        "repaired": _assertion("Of order alpha where strict complementarity holds.", power),
        "refuted_by": "an exponent below one",
        "about": "subject",
    } | more


@pytest.fixture(scope="session")
def claims() -> dict[str, Claim]:
    premises = [
        {"id": "strict-complementarity", "text": "No active row has a zero multiplier.",
         "formula": "all(lam_star[active] > 0)"},
        {"id": "bounded", "text": "The lower-level gradient is bounded.", "readings": ["as-written"],
         "no_formula": "a supremum"},
        {"id": "hessian-lipschitz", "text": "The Hessian of g is Lipschitz.", "readings": ["repaired"],
         "taken_from": ["solution-error"]},
    ]  # fmt: skip
    steps = [
        _statement("T1", "Error of the penalty minimiser", "3", role="proof", rests_on=["solution-error"]),
        _statement("T3", "Error at the exact penalty minimiser", "1", role="statement", choices=["dual_term"]),
        _statement("ramp", "Switching of the weights", "1"),
    ]
    bias = _statement(
        "bias-bound", "Bias of the hypergradient", "1", kind="lemma", label="lemma:bias_bound", steps=steps,
        premises=premises, choices=["dual_term", "ramp_width"], regime="0 < α ≤ 1/2", rests_on=["solution-error"],
    )  # fmt: skip
    solution = _statement("solution-error", "Distance of the penalty minimiser", "1", kind="lemma")
    rate = _statement("variance-bound", "Variance", None, kind="lemma")
    outer = _statement("goldstein-convergence", "Convergence of the outer loop", None, kind="theorem")
    context = _statement("related-rates", "Rates of related methods", None, kind="context")
    parts = (solution, bias, rate, outer, context)
    return {part["id"]: Claim.model_validate(part) for part in parts}


def sweep(exponent: float, *, scale: float = 1.0, floor: float | None = None, **more: object) -> RateEvidence:
    points = tuple(
        Point(
            at=alpha,
            measured=scale * alpha**exponent * (1 + alpha / 3),
            uncertainty=0.3 * scale * alpha**exponent if index == 4 else 0.0,
            usable=floor is None or alpha >= floor,
        )
        for index, alpha in enumerate(ALPHAS)
    )
    return RateEvidence(
        quantity="norm of the bias",
        variable="alpha",
        points=points,
        exponent=exponent,
        interval=(exponent - 0.004, exponent + 0.003),
        local_exponents=(exponent + 0.1, exponent + 0.02, exponent),
        floor=floor,
        **more,
    )


@pytest.fixture(scope="session")
def report() -> Report:
    return make_report()


def make_report(*, instances: tuple[str, ...] = ("toy1", "toy2", "crossing-rows", "a-zero")) -> Report:
    results: list[Result] = []

    def add(claim: str, reading: str, instance: str, verdict: Verdict | None, sentence: str, **more: object) -> None:
        command = f"f2csa verify {claim} --reading {reading} --instance {instance} --seed 0"
        results.append(
            Result(
                claim=claim, reading=reading, instance=instance, verdict=verdict, sentence=sentence,
                reproduce=command, seconds=0.25, **more,
            )
        )  # fmt: skip

    example = Counterexample(
        problem=TOY, x=["1"], values={"alpha": 0.1, "estimate": 100.990099, "exact": "1", "λ*": 1.0},
        note="The frozen term adds α₁Aᵀλ* = 100.",
    )  # fmt: skip
    broken = PremiseEvidence(premise="strict-complementarity", holds=False, finding="row 2 is active with λ* = 0")
    met = PremiseEvidence(premise="strict-complementarity", holds=True, finding="the smallest λ* is 1")
    never = PremiseEvidence(
        premise="bounded", holds=False, satisfiable=False, finding="strong convexity forces growth <&> without bound"
    )
    for index, instance in enumerate(instances):
        floor = 0.01 if index == 1 else None
        add(
            "bias-bound", "as-written", instance, Verdict.REFUTED if index != 3 else Verdict.SUPPORTED,
            f"The bias grows like α^-2.00 on {instance}; claimed is at least α^1.", claimed="O(α)", measured=-2.0,
            interval=(-2.004, -1.997), rung="numeric", counterexample=example if index != 3 else None, expected=True,
            evidence=(never, broken if index == 2 else met, sweep(-2.0, scale=1.0 + index, floor=floor)),
        )  # fmt: skip
        add(
            "bias-bound", "repaired", instance, Verdict.SUPPORTED, "The bias falls like α^2.00.", claimed="O(α)",
            measured=2.0, interval=(1.996, 2.003), loose_by=1.0, rung="symbolic", expected=index != 0,
            evidence=(met, sweep(2.0, scale=0.1, floor=floor, closed_form=FORMS.get(index)),
                      ComparisonEvidence(quantity="bias at α = 0.1", measured=0.990099, relation="==",
                                         predicted=0.99009900990099, tolerance=1e-6, context={"alpha": 0.1},
                                         rung="certified", role="support")),
        )  # fmt: skip
        add("bias-bound", "only:dual_term", instance, Verdict.REFUTED, "The frozen term alone breaks it.",
            evidence=(sweep(-2.0),), measured=-2.0, interval=(-2.0, -2.0), claimed="O(α)", rung="numeric")  # fmt: skip
        add("bias-bound", "only:ramp_width", instance, Verdict.INCONCLUSIVE, "Too few points above the floor.",
            evidence=(sweep(0.4, floor=0.1, settled=False),), rung="numeric")  # fmt: skip
        add("bias-bound/T1", "as-written", instance, Verdict.REFUTED, "T1 is α^-1.00 in the worst direction.",
            evidence=(sweep(-1.0),), measured=-1.0, interval=(-1.01, -0.98), claimed="O(α³)", rung="numeric",
            counterexample=example)  # fmt: skip
        add("bias-bound/T1", "repaired", instance, Verdict.SUPPORTED, "T1 is α^1.00.", evidence=(sweep(1.0),),
            measured=1.0, interval=(0.99, 1.02), claimed="O(α)", rung="numeric")  # fmt: skip
        zero = RateEvidence(
            quantity="T3", variable="alpha", points=tuple(Point(at=alpha, measured=0.0) for alpha in ALPHAS),
            exponent=math.inf, interval=(math.inf, math.inf), rung="certified",
        )  # fmt: skip
        add("bias-bound/T3", "repaired", instance, Verdict.SUPPORTED, "T3 vanishes identically.", evidence=(zero,),
            measured=math.inf, interval=(math.inf, math.inf), claimed="O(α)", rung="certified")  # fmt: skip
        add("bias-bound/T3", "as-written", instance, Verdict.VACUOUS, "No problem meets the hypotheses.",
            evidence=(never,))  # fmt: skip
    add("solution-error", "repaired", "toy1", Verdict.NOT_APPLICABLE, "The subject offers no penalty_minimiser.")
    add("solution-error", "as-written", "toy1", None, "", fault="TimeoutError: no answer within 10 s <lower_level>")
    sampled = ComparisonEvidence(
        quantity="variance of one sample", measured=199.4, relation="<=", predicted=0.01, tolerance=1.2,
        context={"alpha": 0.1, "draws": "independent"}, rung="statistical", error_rate=1e-9,
    )  # fmt: skip
    add("variance-bound", "as-written", "toy1", Verdict.REFUTED, "One sample has variance 199, claimed at most 0.01.",
        evidence=(sampled,), measured=199.4, claimed="≤ 0.01", rung="statistical",
        error_rates={"false_refutation": 1e-9, "false_support": 1e-3})  # fmt: skip
    return Report(
        environment={"python": "3.11.7", "numpy": "2.1.0", "platform": "Linux", "f2csa": "0.1.0"},
        seed=20240,
        profile="ci",
        subject="reference",
        results=tuple(results),
        summary=_summary(results),
        seconds=41.7,
        findings=("bias-bound [repaired] on toy1: SUPPORTED, on record INCONCLUSIVE",),
    )


def _summary(results: list[Result]) -> tuple[SummaryRow, ...]:
    rows: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        rows.setdefault((result.claim, result.reading), []).append(result)
    made = []
    for (claim, reading), found in rows.items():
        counts: dict[str, int] = {}
        for result in found:
            name = "FAULT" if result.verdict is None else str(result.verdict)
            counts[name] = counts.get(name, 0) + 1
        first = found[0]
        made.append(
            SummaryRow(
                claim=claim, reading=reading, status=first.verdict or "FAULT", sentence=first.sentence,
                instances=counts, deciding=first.instance,
            )
        )  # fmt: skip
    unchecked = ("bias-bound/ramp", "goldstein-convergence", "related-rates")
    made += [SummaryRow(claim=name, reading="", status="NOT_CHECKED", sentence="") for name in unchecked]
    return tuple(made)
