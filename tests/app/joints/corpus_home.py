"""A home with a record and a memory in it."""

from __future__ import annotations

from pathlib import Path

from fabula.app.joints.citing_memory import citations_for
from fabula.app.memory.access import MemoryAccess
from fabula.memory.store import writing
from fabula.memory.store.scaffold import init_corpus
from fabula.memory.store.values import NewMemory, Provenance
from fabula.testing.record_home import RecordHome


class CorpusHome(RecordHome):
    """A record's home that has a corpus of memories as well."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.made = init_corpus(self.memory.root, self.app.environment, self.clock)

    @property
    def memory(self) -> MemoryAccess:
        """The corpus, as the application of now has it."""
        return self.app.memory

    def close(self) -> None:
        """End what serves this home: git's processes among it."""
        self.app.memory.close()
        self.app.record.close()

    def again(self) -> CorpusHome:
        """Go on as another process."""
        self.close()
        self.app = self.open()
        return self

    def remember(self, title: str, claim: str, session: str = "", cites: tuple[tuple[str, str], ...] = ()) -> str:
        """Write a memory as the verb does; return its path."""
        cited = citations_for(self.app, cites)
        new = NewMemory(title, "semantic", claim=claim, cites=cited, provenance=Provenance(session=session))
        path = writing.write(self.memory.store(), new).path
        self.memory.state().wrote([path], session)
        return path
