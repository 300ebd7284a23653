"""The report as JUnit XML: a suite a claim, a case a result; only what differs from the record fails."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from spec.claims import Statement, load_claims
from verify.report import wording
from verify.report.findings.assumed_laws import beside
from verify.report.model import ReportData, Result

_SKIPPED = ("INCONCLUSIVE", "VACUOUS", "NOT_APPLICABLE")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""


def render_junit(report: ReportData) -> str:
    """The report for CI systems.

    A result that is not the verdict on record is a failure and a fault is an error. An expected refutation passes:
    it is what the record says. Results without a decision and claims without a check are skipped, with the reason, and
    so is a refutation that the user expects.
    """
    root = ElementTree.Element("testsuites", name="f2csa")
    suites: dict[str, ElementTree.Element] = {}
    statements = dict(entry for claim in load_claims().values() for entry in claim.statements())
    for result in report.results:
        claim = result.claim.split("/")[0]
        case = _case(_suite(root, suites, claim), f"{result.claim} [{result.reading}] {result.instance}", claim)
        if excuse := report.excuse(result):
            # What the test runners call an expected failure.
            message = _clean(f"expected failure: {excuse}: {result.sentence}")
            ElementTree.SubElement(case, "skipped", type="xfail", message=message)
        else:
            _judge(case, result, statements.get(result.claim))
    for row in report.summary:
        if row.status in (wording.NOT_CHECKED, wording.LEFT_OPEN):
            claim = row.claim.split("/")[0]
            case = _case(_suite(root, suites, claim), row.claim, claim)
            why = f": {row.sentence}" if row.status == wording.LEFT_OPEN else ""
            ElementTree.SubElement(case, "skipped", message=_clean(wording.word(row.status) + why))
    excused = {result.key for result in report.excused}
    told = tuple(f"{r.where}: " for r in report.results if r.expected is False and r.key not in excused)
    untold = [line for line in report.findings if not line.startswith(told)] if told else list(report.findings)
    if untold:
        # Findings without a result of their own, such as a drifted constant or lost evidence, must not vanish.
        name = "agrees with the numbers on record" if told else "agrees with the verdicts on record"
        case = _case(_suite(root, suites, "record"), name, "record")
        failure = ElementTree.SubElement(case, "failure", message=_clean(untold[0]))
        failure.text = _clean("\n".join(untold))
    if report.nothing_compared:
        case = _case(_suite(root, suites, "run"), "compared something", "run")
        ElementTree.SubElement(case, "error", message="nothing that was asked applies to the subject")
    if report.nothing_holds:
        case = _case(_suite(root, suites, "run"), "a repaired statement about a solver holds", "run")
        ElementTree.SubElement(case, "failure", message="no repaired statement about a solver holds for this subject")
    if not report.complete:
        case = _case(_suite(root, suites, "run"), "ran to its end", "run")
        ElementTree.SubElement(case, "error", message="the run was interrupted; its report is incomplete")
    for element in (*suites.values(), root):
        _count(element)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _judge(case: ElementTree.Element, result: Result, statement: Statement | None) -> None:
    status = wording.status_of(result)
    told = wording.told(status, statement, result.reading)
    if result.fault is not None or result.verdict is None:
        error = ElementTree.SubElement(case, "error", message=_clean(result.fault or "no verdict"))
        error.text = _clean(result.reproduce)
    elif result.expected is False:
        failure = ElementTree.SubElement(
            case, "failure", type=status, message=_clean(f"{told}, which is not the verdict on record")
        )
        failure.text = _clean(f"{result.sentence}\n{result.reproduce}")
    elif status in _SKIPPED:
        ElementTree.SubElement(case, "skipped", message=_clean(f"{told}: {result.sentence} {beside(result)}".strip()))
    else:
        output = ElementTree.SubElement(case, "system-out")
        output.text = _clean(f"{told}: {result.sentence}\n{beside(result)}".strip())


def _suite(root: ElementTree.Element, suites: dict[str, ElementTree.Element], name: str) -> ElementTree.Element:
    if name not in suites:
        suites[name] = ElementTree.SubElement(root, "testsuite", name=_clean(name))
    return suites[name]


def _case(suite: ElementTree.Element, name: str, classname: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", name=_clean(name), classname=_clean(classname))


def _count(element: ElementTree.Element) -> None:
    cases = element.findall(".//testcase")
    element.set("tests", str(len(cases)))
    for plural, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(plural, str(sum(case.find(kind) is not None for case in cases)))


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
