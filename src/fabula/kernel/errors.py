"""The one error type of Fabula and the registry of its codes.

Codes are a public contract: append-only, listed by ``fabula manifest``, documented in docs/reference/codes.md.
An error says what was wrong, where, and the command that fixes it.
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit statuses of every command."""

    DONE = 0
    COULD_NOT = 1
    WRONG_CALL = 2
    GATE_SAID_NO = 3
    INTERRUPTED = 130


#: code -> (what it means, exit status)
CODES: dict[str, tuple[str, Exit]] = {
    "ERR_USAGE": ("The command line could not be understood.", Exit.WRONG_CALL),
    "ERR_CONFIG": ("A configuration file or value is not valid.", Exit.WRONG_CALL),
    "ERR_PATH": ("A path that was named does not exist or is not of the kind needed.", Exit.WRONG_CALL),
    "ERR_QUERY": ("A filter inside a query has a value that cannot be read.", Exit.WRONG_CALL),
    "ERR_NOT_FOUND": ("Nothing in the record has this id.", Exit.COULD_NOT),
    "ERR_AMBIGUOUS": ("More than one thing matches this id.", Exit.WRONG_CALL),
    "ERR_NO_RECORD": ("Nothing was recorded yet.", Exit.COULD_NOT),
    "ERR_STALE": ("The source changed and no sealed copy of these bytes exists.", Exit.COULD_NOT),
    "ERR_VAULT_DAMAGED": ("Sealed bytes do not match their digest.", Exit.COULD_NOT),
    "ERR_VAULT_FORMAT": ("The vault was written by a newer Fabula or is not a vault.", Exit.COULD_NOT),
    "ERR_LOCKED": ("Another Fabula process is writing and did not finish in time.", Exit.COULD_NOT),
    "ERR_READ_ONLY": ("A file or folder that must be written is read-only.", Exit.COULD_NOT),
    "ERR_DISK": ("The disk refused a write (full, quota, or an I/O error).", Exit.COULD_NOT),
    "ERR_DATABASE": ("A database of Fabula is damaged or not ours.", Exit.COULD_NOT),
    "ERR_EXTRA_MISSING": ("This needs an optional part of Fabula that is not installed.", Exit.COULD_NOT),
    "ERR_NOT_RECONSTRUCTIBLE": ("The contents of this version cannot be rebuilt from the record.", Exit.COULD_NOT),
    "ERR_CLIENT_MISSING": ("The agent's own program was not found.", Exit.COULD_NOT),
    "ERR_NOT_A_COPY": ("The folder is no copy of this vault, or has been written to since.", Exit.COULD_NOT),
    "ERR_DISABLED": ("Fabula is switched off here.", Exit.COULD_NOT),
    "ERR_LIVE": ("The session is in use: its agent may still write to it.", Exit.GATE_SAID_NO),
    "ERR_UNSEALED": ("Something that would be taken away has no sealed copy.", Exit.GATE_SAID_NO),
    "ERR_HOST": ("This cannot be done with the transcripts of this agent.", Exit.COULD_NOT),
    "ERR_CHAIN": ("The session would be left broken.", Exit.COULD_NOT),
    "ERR_CHANGED": ("The file is not what it was when it was read or written.", Exit.COULD_NOT),
    "ERR_CONSENT": ("Something is lost for good by this: a person at a terminal has to agree.", Exit.GATE_SAID_NO),
    "ERR_FORGOTTEN": ("These bytes were forgotten on purpose.", Exit.COULD_NOT),
    "ERR_IMPORT": ("What should be imported is damaged, or not in a form that is known.", Exit.COULD_NOT),
    "ERR_GIT": ("Git refused, or the repository is in a state in which this cannot be done.", Exit.COULD_NOT),
    "ERR_WRITE_CONFLICT": ("Something else is at this path, or it changed since it was read.", Exit.COULD_NOT),
    "ERR_DIRTY": ("A person's uncommitted change is at this path.", Exit.COULD_NOT),
    "ERR_MEMORY_FORMAT": ("A file or a text is no memory in the format that is kept.", Exit.COULD_NOT),
    "ERR_KEY": ("The record is encrypted, and its key is missing or another.", Exit.COULD_NOT),
    "ERR_QUOTE": ("The quote does not stand in the record, or must not be shown.", Exit.COULD_NOT),
    "ERR_EMBEDDER": ("The configured embedding model gave no vectors.", Exit.COULD_NOT),
    "ERR_NO_CORPUS": ("There is no memory here, or not one that is ours.", Exit.COULD_NOT),
    "ERR_FOREIGN": ("This folder belongs to something else: a memory is not made in it.", Exit.COULD_NOT),
    "ERR_NO_MEMORY": ("No memory is at this path.", Exit.COULD_NOT),
    "ERR_SECRET": ("This holds what looks like a secret: a person has to agree before it is kept.", Exit.GATE_SAID_NO),
    "ERR_INTERRUPTED": ("Interrupted.", Exit.INTERRUPTED),
    "ERR_INTERNAL": ("A defect in Fabula; nothing was left half-written.", Exit.COULD_NOT),
}


class FabulaError(Exception):
    """Something a person can act on.

    ``code`` is a key of :data:`CODES`; ``suggestions`` are commands (or plain advice) that clear the condition.
    """

    def __init__(self, code: str, message: str, *suggestions: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.suggestions = suggestions

    @property
    def exit(self) -> Exit:
        """The exit status that goes with the code."""
        return CODES[self.code][1]
