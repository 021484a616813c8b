"""Any sequence of changes: nothing that was ever said is lost, and what is told agrees with what is there."""

from __future__ import annotations

import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from storecorpus import Corpus, claim, fsck

from fabula.kernel.errors import FabulaError
from fabula.memory.format.paths import is_indexed, original_path
from fabula.memory.format.reader import Reading, read
from fabula.memory.index.opening import open_index
from fabula.memory.links.edges import AuthoredEdge
from fabula.memory.links.succession import Succession
from fabula.memory.store.archiving import archive, unarchive
from fabula.memory.store.batch import apply
from fabula.memory.store.correcting import correct
from fabula.memory.store.guarding import Secrets
from fabula.memory.store.linking import link, unlink
from fabula.memory.store.store import Store
from fabula.memory.store.superseding import supersede
from fabula.memory.store.tasks import set_status
from fabula.memory.store.values import Batch, Correction, NewMemory, Pair
from fabula.memory.store.writing import write

VALUES = st.integers(1, 4)
REFUSALS = {"ERR_WRITE_CONFLICT", "ERR_USAGE", "ERR_NO_MEMORY", "ERR_PATH"}


class Histories(RuleBasedStateMachine):
    """A corpus with its real index, and what was said so far."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.corpus = Corpus(Path(self.folder.name))
        place = self.corpus.root, lambda: self.corpus.repo
        self.index = open_index(*place, self.corpus.clock, scratch=Path(self.folder.name) / "scratch")
        self.store = Store(self.corpus.repo, self.index, self.corpus.clock, Secrets())
        self.said: set[str] = set()
        self.commits = 1

    def teardown(self) -> None:
        assert fsck(self.corpus) == ""
        self.index.close()
        self.corpus.repo.close()
        self.folder.cleanup()

    def files(self) -> dict[str, Reading]:
        names = self.corpus.person.git("ls-files", "-z").split("\0")
        return {name: read(self.corpus.data(name)) for name in names if is_indexed(name)}

    def chosen(self, number: int, *, archived: bool = False) -> str:
        paths = sorted(path for path in self.files() if path.startswith("archive/") == archived)
        return paths[number % len(paths)] if paths else "areas/inbox/none.html"

    def changed(self, commit: str | None) -> None:
        self.commits += commit is not None
        assert commit is None or commit == self.corpus.head()

    @rule(title=st.sampled_from(["Pool", "pool!", "Size"]), value=VALUES, workspace=st.sampled_from([None, "a", "b"]))
    def writes(self, title: str, value: int, workspace: str | None) -> None:
        done = write(self.store, claim(title, f"The ceiling is {value}.", workspace=workspace))
        self.said.add(done.content_hash)
        self.changed(done.commit)

    @rule(values=st.lists(VALUES, min_size=1, max_size=3), last_wins=st.booleans())
    def applies(self, values: list[int], last_wins: bool) -> None:
        asked = [claim(f"B{value}", f"The ceiling is {value * 10}.") for value in values]
        done = apply(self.store, asked, Batch(last_wins=last_wins))
        self.said |= {one.content_hash for one in done.results if one.content_hash}
        self.changed(done.commit)

    @rule(which=st.integers(0, 20), value=VALUES)
    def corrects(self, which: int, value: int) -> None:
        try:
            done = correct(self.store, Correction(self.chosen(which), f"r{value}", claim=f"The ceiling is {value}."))
        except FabulaError as error:
            assert error.code in REFUSALS
            return
        self.said.add(done.content_hash)
        self.changed(done.commit)

    @rule(which=st.integers(0, 20), back=st.booleans())
    def archives_or_brings_back(self, which: int, back: bool) -> None:
        try:
            if back:
                self.changed(unarchive(self.store, self.chosen(which, archived=True)).commit)
            else:
                self.changed(archive(self.store, self.chosen(which), "old").commit)
        except FabulaError as error:
            assert error.code in REFUSALS

    @rule(one=st.integers(0, 20), other=st.integers(0, 20), takes=st.sampled_from(["link", "unlink", "supersede"]))
    def relates(self, one: int, other: int, takes: str) -> None:
        source, target = self.chosen(one), self.chosen(other)
        try:
            if takes == "supersede":
                self.changed(supersede(self.store, [Pair(source, target)]).commit)
            else:
                self.changed((link if takes == "link" else unlink)(self.store, source, "supports", target).commit)
        except FabulaError as error:
            assert error.code in REFUSALS

    @rule(value=VALUES)
    def notes_a_task(self, value: int) -> None:
        done = write(self.store, NewMemory(f"Do {value}", "task", claim="Do it."))
        self.said.add(done.content_hash)
        self.changed(done.commit)

    @rule(which=st.integers(0, 20), status=st.sampled_from(["doing", "done"]), archived=st.booleans())
    def moves_a_task(self, which: int, status: str, archived: bool) -> None:
        try:
            self.changed(set_status(self.store, self.chosen(which, archived=archived), status).commit)
        except FabulaError as error:
            assert error.code in REFUSALS

    @invariant()
    def nothing_is_lost(self) -> None:
        assert self.said <= {one.content_hash for one in self.files().values()}

    @invariant()
    def every_change_is_one_commit_and_the_tree_is_clean(self) -> None:
        assert self.corpus.commits() == self.commits
        assert self.corpus.is_clean()

    @invariant()
    def heads_and_paths_agree(self) -> None:
        for path, one in self.files().items():
            assert one.is_memory, (path, one.violations)
            is_archived = path.startswith("archive/")
            assert one.head.status == ("archived" if is_archived else "active")
            assert one.head.origin == (original_path(path) if is_archived else None)
            assert is_archived or one.head.superseded_by is None

    @invariant()
    def no_two_memories_in_use_state_one_fact(self) -> None:
        facts = [
            one.fact_hash
            for path, one in self.files().items()
            if not path.startswith("archive/") and one.head.type != "task"
        ]
        assert len(facts) == len(set(facts))

    @invariant()
    def nobody_supersedes_itself(self) -> None:
        edges = self.index.authored_edges(["supersedes"])
        assert all(type(edge) is AuthoredEdge for edge in edges)
        assert Succession(edges).cycles() == []

    @precondition(lambda self: self.commits % 3 == 0)
    @invariant()
    def the_index_is_as_one_made_anew(self) -> None:
        question = "select path, fact_hash, archived, valid_until, superseded_by from files order by path"
        before = list(self.index.connection.execute(question))
        self.index.rebuild()
        assert before == list(self.index.connection.execute(question))


def test_any_history_loses_nothing() -> None:
    # what must hold are the invariants above: the machine raises where one does not
    checks = list(HealthCheck)
    run_state_machine_as_test(
        Histories,
        settings=settings(max_examples=6, stateful_step_count=12, deadline=None, suppress_health_check=checks),
    )
