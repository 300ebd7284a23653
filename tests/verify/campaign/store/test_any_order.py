"""Runs, kills, corruption, full disks, shares and merges in any order: nothing finished is lost or done twice."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from spec import InvalidInputError
from tests.verify.campaign.store.tiny_runs import (
    CLAIMS,
    edit,
    full_disk,
    keys_of,
    killed_run,
    made,
    performer,
    rows,
    run,
    text,
    whole,
)  # fmt: skip
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.store.database import StoreError
from verify.campaign.store.kept_results import Store
from verify.campaign.store.merging import merge
from verify.campaign.store.shards import Shard
from verify.campaign.store.stored_report import fullest, report_of

claims = st.sampled_from([CLAIMS, CLAIMS[:1], CLAIMS[1:], ("solution-error/monotonicity",)])
stores = st.sampled_from(["a", "b"])
few = st.integers(0, 8)
writes = st.integers(0, 16)


class Campaigns(RuleBasedStateMachine):
    """Two stores; ``finished`` is what each must hold, ``asked`` whether the fullest run was of everything."""

    names: ClassVar = ("a", "b")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.finished: dict[str, set[str]] = {name: set() for name in self.names}
        self.everything = dict.fromkeys(self.names, False)

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.sqlite"

    @rule(name=stores, claims=claims)
    def run_to_the_end(self, name: str, claims: tuple[str, ...]) -> None:
        with performer() as fake:
            report = run(self.path(name), claims)
        assert text(report) == whole(claims)
        assert sorted(fake.performed) == sorted(keys_of(claims) - self.finished[name])
        self.finished[name] |= keys_of(claims)
        self.everything[name] |= claims == CLAIMS

    @rule(name=stores, claims=claims)
    def run_anew(self, name: str, claims: tuple[str, ...]) -> None:
        with performer() as fake:
            assert text(run(self.path(name), claims, fresh=True)) == whole(claims)
        assert set(fake.performed) == keys_of(claims)
        self.finished[name] |= keys_of(claims)
        self.everything[name] |= claims == CLAIMS

    @rule(name=stores, claims=claims, after=few)
    def interrupt(self, name: str, claims: tuple[str, ...], after: int) -> None:
        with performer() as fake:
            fake.ends = after
            report = run(self.path(name), claims)
        left = keys_of(claims) - self.finished[name]
        assert report.complete == (len(left) <= after)
        assert len(fake.performed) == min(after, len(left))
        self.finished[name] |= set(fake.performed)
        self.everything[name] |= claims == CLAIMS

    @rule(name=stores, claims=claims, after=few)
    def kill(self, name: str, claims: tuple[str, ...], after: int) -> None:
        left = keys_of(claims) - self.finished[name]
        code = killed_run(self.path(name), after, claims)
        assert (code == 0) == (len(left) <= after)
        with Store(self.path(name)) as store:
            there = {result.key for result in store.results(row.address for row in store.rows()).values()}
        assert self.finished[name] <= there
        assert len(there - self.finished[name]) == min(after, len(left))
        self.finished[name] = there
        self.everything[name] |= claims == CLAIMS

    @rule(name=stores, claims=claims, writes=writes)
    def fill_the_disk(self, name: str, claims: tuple[str, ...], writes: int) -> None:
        with full_disk(writes), performer() as fake:
            try:
                assert text(run(self.path(name), claims)) == whole(claims)
                finished = set(fake.performed)
                self.everything[name] |= claims == CLAIMS
            except (StoreError, InvalidInputError):
                finished = set(fake.performed[:-1])
                # With nothing to write but the plan, that alone is missing.
                self.everything[name] |= claims == CLAIMS and bool(fake.performed)
        self.finished[name] |= finished

    @rule(name=stores, number=st.integers(1, 3))
    def run_a_share(self, name: str, number: int) -> None:
        with performer() as fake:
            run(self.path(name), shard=Shard(number, 3))
        assert self.finished[name].isdisjoint(fake.performed)
        self.finished[name] |= set(fake.performed)
        self.everything[name] = True

    @rule(into=stores)
    def merge_with_the_other(self, into: str) -> None:
        other = next(name for name in self.names if name != into)
        if not self.path(other).exists():
            with pytest.raises(InvalidInputError):
                merge([self.path(other)], self.path(into))
            return
        merge([self.path(other)], self.path(into))
        self.finished[into] |= self.finished[other]
        self.everything[into] |= self.everything[other]

    @precondition(lambda self: any(self.finished.values()))
    @rule(data=st.data())
    def edit_a_result(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from([name for name in self.names if self.finished[name]]))
        row = data.draw(st.sampled_from(rows(self.path(name))))
        edit(self.path(name), row, result=row.result.replace('"verdict":"', '"verdict":"NOT_', 1))
        asked = row.asked
        key = "|".join(asked[part] for part in ("claim", "reading", "instance"))
        self.finished[name].discard(key)
        self.run_to_the_end(name, CLAIMS)

    @precondition(lambda self: any(self.finished.values()))
    @rule(data=st.data())
    def break_the_file_and_bring_it_back(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from([name for name in self.names if self.finished[name]]))
        content = self.path(name).read_bytes()
        broken = content[: data.draw(st.integers(1, len(content) - 1))]
        self.path(name).write_bytes(broken)
        with pytest.raises(InvalidInputError):
            run(self.path(name))
        assert self.path(name).read_bytes() == broken
        self.path(name).write_bytes(content)

    @rule(name=stores)
    def run_twice_at_once(self, name: str) -> None:
        with Store(self.path(name)), pytest.raises(InvalidInputError, match="in use"):
            run(self.path(name))

    @invariant()
    def a_store_reports_all_that_it_was_asked_for(self) -> None:
        for name in self.names:
            if self.everything[name] and self.finished[name] == set(made()):
                with Store(self.path(name), to_read=True) as store:
                    assert text(report_of(store, fullest(store), shipped_record())) == whole()

    @invariant()
    def nothing_is_left_behind(self) -> None:
        assert {path.name for path in self.folder.iterdir()} <= {"a.sqlite", "b.sqlite"}


TestCampaigns = Campaigns.TestCase
TestCampaigns.settings = settings(max_examples=6, stateful_step_count=14, deadline=None)
