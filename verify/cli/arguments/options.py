"""What each command takes: a data class a command, read by typer as it stands and handed to the command as it is.

Nothing heavy is imported here, so that every command's help is instant.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from typer import Argument, Option

from verify.cli.arguments import completion

Text: TypeAlias = str | None
Texts: TypeAlias = list[str] | None
File: TypeAlias = Path | None

Problem: TypeAlias = Annotated[str, Argument(help="A problem file, '-' for standard input, or atlas:NAME.")]
Point: TypeAlias = Annotated[str | None, Option(help="Upper-level point: numbers separated by commas or spaces.")]
NamedReading: TypeAlias = Annotated[str, Option(help="as-written or repaired.", autocompletion=completion.readings)]
Choices: TypeAlias = Annotated[Texts, Option(help="FIELD=VALUE: change one choice of the reading; repeatable.")]
Instances: TypeAlias = Annotated[
    Texts, Option(help="Only these: of the atlas, drawn:FAMILY:SEED, FILE.toml.", autocompletion=completion.instances)
]
Seed: TypeAlias = Annotated[int, Option(help="Seed of all randomness, >= 0.")]
AnySeed: TypeAlias = Annotated[int | None, Option(help="Seed of all randomness, >= 0.")]
Jobs: TypeAlias = Annotated[int | None, Option(help="Worker processes; default one per core.")]
Executor: TypeAlias = Annotated[
    Text, Option(help="dask://HOST:PORT or package.module:factory: workers elsewhere (docs/scaling.md).")
]
TimeLimit: TypeAlias = Annotated[
    float | None, Option(help="Seconds a stage call of the subject may take; default 30 for a command, 120 in Python.")
]
Causes: TypeAlias = Annotated[float, Option(help="Seconds to look for what is off after a finding; 0 for none.")]
Traced: TypeAlias = Annotated[
    bool,
    Option("--trace", help="Then look for the line of Python source that makes a stage wrong, too (20 s at most)."),
]
Claimed: TypeAlias = Annotated[
    Texts, Argument(help="Claims or proof steps; all if none.", autocompletion=completion.claims)
]
InProcess: TypeAlias = Annotated[
    bool,
    Option("--in-process", help="Import a Python subject where it is judged, as a debugger needs; nobody trusts it."),
]
NoSettings: TypeAlias = Annotated[
    bool, Option("--no-settings", help="Leave f2csa.toml, or [tool.f2csa] in pyproject.toml, unread.")
]
Annotations: TypeAlias = Annotated[
    Text, Option(help="github (the default in GitHub Actions): workflow commands for faults and findings; or none.")
]
Sarif: TypeAlias = Annotated[File, Option(help="Write faults and findings to this file, as SARIF 2.1.0.")]
Table: TypeAlias = Annotated[
    bool, Option("--table", "-v", "--verbose", help="Print a row for each statement instead of the headline.")
]
AsJson: TypeAlias = Annotated[bool, Option("--json", help="Machine-readable output.")]


@dataclass(frozen=True)
class Verify:
    """Run checks and write the report."""

    claims: Annotated[
        Texts,
        Argument(help="Claims or proof steps, e.g. bias-bound/T3; all if none.", autocompletion=completion.claims),
    ] = None
    out: Annotated[Path, Option(help="Folder for the report's files and store.sqlite.")] = Path("report")
    profile: Annotated[
        Text,
        Option(help="smoke (says what it leaves out), ci (the default) or full.", autocompletion=completion.profiles),
    ] = None
    reading: Annotated[
        Texts, Option(help="as-written, repaired, only:…, choose:… or keep:…; repeatable; default both, each isolated.")
    ] = None
    instance: Instances = None
    subject: Annotated[
        Text, Option(help="reference (the default), package.module:Attribute, or command:COMMAND LINE.")
    ] = None
    seed: AnySeed = None
    effort: Annotated[
        int | None, Option(help="Factor on all sample sizes, 1, 4, 16, ...; with --resume only where undecided.")
    ] = None
    noise: Annotated[
        Text, Option(help="Noise within which samples support: gaussian, kurtosis<=K, bounded<=B or second-moment.")
    ] = None
    draws: Annotated[
        int | None, Option(help="Problems drawn of each family, asked besides the atlas; full: 1000, else 0.")
    ] = None
    skips_file: Annotated[File, Option(help="What is not to be asked: on each line NAME  # REASON.")] = None
    xfails_file: Annotated[File, Option(help="What is expected to be refuted: on each line NAME  # REASON.")] = None
    jobs: Jobs = None
    executor: Executor = None
    time_limit: TimeLimit = None
    causes: Causes = 60.0
    trace: Traced = False
    in_process: InProcess = False
    resume: Annotated[
        bool, Option("--resume", help="Go on from undecided results, and from those of a subject not all known.")
    ] = False
    fresh: Annotated[bool, Option("--fresh", help="Run everything anew, whatever results --out keeps.")] = False
    shard: Annotated[Text, Option(help="I/K: run one of K shares of the results; f2csa merge joins them.")] = None
    baseline: Annotated[File, Option(help="Verdicts to compare with: a report.json or a recorded baseline.")] = None
    exitfirst: Annotated[
        bool,
        Option("--exitfirst", "-x", help="Stop at the first fault, finding or repaired statement that is refuted."),
    ] = False
    record_to: Annotated[File, Option(help="File to write the verdicts found to, as a new record.")] = None
    old_record_to: Annotated[File, Option("--record", hidden=True)] = None
    force: Annotated[bool, Option("--force", help="Let --record-to overwrite a file that is no record.")] = False
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print findings, faults and the closing line alone.")] = False
    table: Table = False
    no_settings: NoSettings = False
    annotations: Annotations = None
    sarif: Sarif = None
    as_json: Annotated[bool, Option("--json", help="Print report.json instead.")] = False


@dataclass(frozen=True)
class Claims:
    """List the paper's claims, or explain one."""

    claim: Annotated[
        str | None,
        Argument(help="A claim or step to explain; all are listed if none.", autocompletion=completion.claims),
    ] = None
    assertions: Annotated[
        bool, Option("--assertions", help="What the paper asserts, in order, and the statements that cover it.")
    ] = False
    as_json: AsJson = False


@dataclass(frozen=True)
class Solve:
    """Run Algorithms 1 and 2, or a rival; the result is JSON, the way there a trace."""

    problem: Annotated[str, Argument(help="A problem file, '-', atlas:NAME, or python:package.module:objectives.")]
    method: Annotated[
        Text, Option(help="f2csa (the default), ssigd, dsblo, dsblo-2 (option II), pigd, parent or zeroth-order.")
    ] = None
    oracle: Annotated[
        Text,
        Option(
            help="Of f2csa: plain (Algorithm 1's page, the default), fast, or first-order (fast, no factorisation)."
        ),
    ] = None
    x: Annotated[Text, Option(help="Start: numbers separated by commas or spaces; default 0.")] = None
    alpha: Annotated[Text, Option(help="Of f2csa, parent, pigd: the oracle's accuracy, > 0; default 0.1.")] = None
    error: Annotated[Text, Option(help="Of f2csa: certified bound of each answer's error; chooses alpha, N_g.")] = None
    level: Annotated[Text, Option(help="Of --error, with noise: probability of each bound; default 0.95.")] = None
    assume: Annotated[Texts, Option(help="Of --error: L_y=, f_xy=, g_xy=, variance= or holder=H,S, believed.")] = None
    radius: Annotated[Text, Option(help="Radius of the Goldstein ball, units of x, > 0; default 0.1.")] = None
    schedule: Annotated[Text, Option(help="budget (the default), repaired or paper.")] = None
    epsilon: Annotated[Text, Option(help="Target stationarity, for repaired, paper and dsblo.")] = None
    calls: Annotated[int | None, Option(help="Oracle calls, for budget; default 10000.")] = None
    lipschitz: Annotated[Text, Option(help="L_F; estimated if not given.")] = None
    gap: Annotated[Text, Option(help="F(x_0) - inf F; estimated if not given.")] = None
    bias: Annotated[Text, Option(help="Bound on the oracle's bias; estimated if not given.")] = None
    variance: Annotated[Text, Option(help="Bound on its variance; estimated if not given.")] = None
    block_length: Annotated[int | None, Option(help="M, instead of the schedule's; D = radius / M.")] = None
    blocks: Annotated[int | None, Option(help="K, instead of the schedule's.")] = None
    eta: Annotated[
        float | None, Option(help="Of f2csa, parent, zeroth-order: step size, instead of the schedule's.")
    ] = None
    step_size: Annotated[Text, Option(help="Of ssigd (β), dsblo (1/γ₂), pigd (η); else derived.")] = None
    decay: Annotated[Text, Option(help="Of ssigd's steps: constant, square-root or harmonic.")] = None
    momentum: Annotated[Text, Option(help="β of dsblo; else derived.")] = None
    perturbation: Annotated[Text, Option(help="Scale of q in ssigd and dsblo; default 1e-4.")] = None
    smoothing: Annotated[Text, Option(help="Radius of the sphere of zeroth-order; else derived.")] = None
    linear_algebra: Annotated[
        Text, Option(help="Of implicit gradients: naive, standard, best (the default) or cg.")
    ] = None
    reading: Annotated[Text, Option(help="Of f2csa: as-written or repaired (the default).")] = None
    choose: Annotated[Texts, Option(help="Of f2csa: FIELD=VALUE, change one choice of the reading; repeatable.")] = None
    samples: Annotated[
        int | None, Option(help="Of f2csa, ssigd, dsblo-2: N_g, gradient samples averaged in each call; default 1.")
    ] = None
    output: Annotated[
        Text, Option(help="uniform (the paper's random block, the default) or smallest (shortest mean answer).")
    ] = None
    project_onto: Annotated[
        Texts, Option(help="LOW,HIGH of X, once or once for each component: project x onto it; default free steps.")
    ] = None
    seed: Annotated[int | None, Option(help="Seed of all randomness, >= 0; default 0.")] = None
    trace: Annotated[Path, Option(help="JSON-lines file to write.")] = Path("trace.jsonl")
    resume: Annotated[bool, Option("--resume", help="Go on from the trace of an interrupted run.")] = False
    max_calls: Annotated[int, Option(help="Refuse schedules with more oracle calls than this.")] = 1_000_000
    plot: Annotated[File, Option(help="Picture of the trace to write, .svg or .png.")] = None


@dataclass(frozen=True)
class Orders:
    """Whether the orders the proofs assert follow from the bounds they rest on."""

    claim: Annotated[
        str | None,
        Argument(help="A claim or step; where each proof first breaks if none.", autocompletion=completion.claims),
    ] = None
    atlas: Annotated[
        bool, Option("--atlas", help="Hold every inequality against numbers on the atlas; exit 1 where one is false.")
    ] = False
    reading: Annotated[str | None, Option(help="as-written or repaired; both if not given.")] = None
    as_json: Annotated[bool, Option("--json", help="Every inference, machine-readable.")] = False


@dataclass(frozen=True)
class Refute:
    """The smallest problem that breaks a claim, with a derivation to follow by hand."""

    claim: Annotated[
        str | None,
        Argument(
            help="A claim or step, e.g. bias-bound/T3; those with a search are listed if none.",
            autocompletion=completion.claims,
        ),
    ] = None
    reading: Annotated[
        str, Option(help="as-written, repaired, or choose:FIELD=VALUE,... where the search can express it.")
    ] = "as-written"
    out: Annotated[File, Option(help="Write the problem file here.")] = None
    weight: Annotated[int, Option(help="Largest sum of integers of the one-dimensional problems tried.")] = 5
    tries: Annotated[int, Option(help="Larger problems tried where none of those serves.")] = 40
    seed: Annotated[int, Option(help="Seed of the larger ones, >= 0.")] = 0
    as_json: AsJson = False


@dataclass(frozen=True)
class Calibrate:
    """Whether the statistical decisions keep their promised error rates and power."""

    budget: Annotated[float, Option(help="Probability of any false refutation in one run to hold to.")] = 1e-2
    runs: Annotated[int, Option(help="Runs on right subjects, and as many on barely wrong ones.")] = 2000
    law_runs: Annotated[int, Option(help="Runs on noise of other laws, a third of a second each.")] = 200
    seeds: Annotated[
        int, Option(help="Run the sampled statements at so many seeds instead, and count verdicts not on record.")
    ] = 0
    record: Annotated[File, Option(help="With --seeds: where they are kept, and gone on from.")] = None
    out: Annotated[File, Option(help="Markdown file for the table, with laws at a tenth of the error as well.")] = None
    seed: Seed = 0
    jobs: Jobs = None
    as_json: AsJson = False


@dataclass(frozen=True)
class Gate:
    """Whether each statement about a solver can fail: for a wrong one, a null one, and half an order stronger."""

    claims: Claimed = None
    out: Annotated[File, Option(help="Markdown file for the table.")] = None
    seed: Seed = 0
    jobs: Jobs = None
    as_json: AsJson = False


@dataclass(frozen=True)
class Prove:
    """Have Coq check the theorems that ship, and hold what it says against the record."""

    names: Annotated[Texts, Argument(help="Theorems, or the claims and steps they settle; all if none.")] = None
    kernel: Annotated[bool, Option("--kernel", help="Check the compiled files with coqchk, too (a minute).")] = False
    record: Annotated[bool, Option("--record", help="Write what Coq says as the new record.")] = False
    certificates: Annotated[File, Option(help="Instead, put the certificates of a report to the kernel.")] = None
    limit: Annotated[int | None, Option(help="With --certificates: at most so many, spread over the report.")] = None
    out: Annotated[File, Option(help="With --certificates: write their Coq terms into this folder.")] = None
    as_json: AsJson = False


@dataclass(frozen=True)
class Recheck:
    """Decide every verdict of a report again, from its evidence and certificates."""

    report: Annotated[Path, Argument(help="A report.json, or the folder it lies in.")] = Path("report")
    as_json: AsJson = False


@dataclass(frozen=True)
class BadgeOptions:
    """A badge of a report's verdicts: a picture, and JSON for a shields endpoint."""

    report: Annotated[Path, Argument(help="A report.json, or the folder it lies in.")] = Path("report")
    out: Annotated[File, Option(help="Folder for badge.svg, badge.json; default the report's.")] = None
    label: Annotated[str, Option(help="Left half of the badge.")] = "F2CSA"


@dataclass(frozen=True)
class Vectors:
    """Stage-level test vectors with exact answers, for implementations in any language."""

    out: Annotated[File, Option(help="Write the vectors and their manifest into this folder.")] = None
    listing: Annotated[bool, Option("--list", help="Print id, stage, strata and flags, a vector a line.")] = False
    check: Annotated[File, Option(help="Check hashes, form and ids of vectors in a folder.")] = None


@dataclass(frozen=True)
class Schema:
    """JSON Schemas of every file this program reads or writes."""

    name: Annotated[str | None, Argument(help="One schema; all if none.")] = None
    out: Annotated[File, Option(help="Write one file a schema into this folder.")] = None


@dataclass(frozen=True)
class RecordOptions:
    """Keep verdicts, exponents, constants and counts of a run, with their intervals."""

    claims: Claimed = None
    out: Annotated[Path, Option(help="File to write; a baseline there is replaced.")] = Path("f2csa-baseline.json")
    source: Annotated[File, Option("--from", help="Record this report.json instead of running anything.")] = None
    force: Annotated[bool, Option("--force", help="Overwrite a file that is no baseline, too.")] = False
    subject: Annotated[str | None, Option(help="As for verify; default reference.")] = None
    profile: Annotated[str | None, Option(help="smoke, ci or full; default ci.")] = None
    reading: Annotated[Texts, Option(help="As for verify; repeatable.")] = None
    instance: Instances = None
    seed: AnySeed = None
    effort: Annotated[int | None, Option(help="Factor on all sample sizes, 1, 4, 16, ...")] = None
    jobs: Jobs = None
    executor: Executor = None
    time_limit: TimeLimit = None
    in_process: InProcess = False
    no_settings: NoSettings = False


@dataclass(frozen=True)
class Compare:
    """Find what got worse since a baseline; what got better is reported and fails nothing."""

    file: Annotated[Path, Argument(help="A baseline, a report.json, or a record of verdicts.")]
    claims: Annotated[Texts, Argument(help="Only these claims or proof steps.")] = None
    source: Annotated[File, Option("--with", help="Compare this report.json; default a run of what is recorded.")] = (
        None
    )
    out: Annotated[File, Option(help="Also write the report, with what was found, here.")] = None
    comment: Annotated[File, Option(help="Write what moved to this file, as Markdown for a pull request.")] = None
    annotations: Annotations = None
    subject: Annotated[str | None, Option(help="Run this one instead of the recorded one.")] = None
    profile: Annotated[str | None, Option(help="Run this profile instead of the recorded one.")] = None
    reading: Annotated[Texts, Option(help="Only these readings; repeatable.")] = None
    instance: Instances = None
    seed: Annotated[int | None, Option(help="Run this seed instead of the recorded one.")] = None
    effort: Annotated[int | None, Option(help="Run with this factor instead of the recorded one.")] = None
    jobs: Jobs = None
    executor: Executor = None
    time_limit: TimeLimit = None
    causes: Causes = 60.0
    trace: Traced = False
    in_process: InProcess = False
    no_settings: NoSettings = False
    as_json: AsJson = False
