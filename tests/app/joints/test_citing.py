"""A citation is checked when it is made, and leads to its words for as long as anybody has not had them forgotten."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest

from fabula.app.joints.citing import QUOTE_CHARACTERS, cite, resolve
from fabula.app.record import forget as forgetting
from fabula.app.record.excise import ExciseRequest, excise
from fabula.app.record.forget import ForgetRequest
from fabula.app.record.prune import PruneRequest, prune
from fabula.kernel.citations import Citation
from fabula.kernel.errors import FabulaError
from fabula.record.vault.keepsakes import Keepsakes
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession

LONG_AGO = 1_770_000_000
SECRET = "ghp_" + "k3J9dLq0ZxV7bN2mTfR8yWcE5uHsA1gP4oIi"
QUOTE = "The clock is read twice for every request"


def talk() -> ClaudeSession:
    session = ClaudeSession("cited", cwd="/home/mira/code/harbor")
    session.prompt("Why is the limiter slow on Mondays?")
    session.reply(f"I looked.\n\n{QUOTE} that comes in.\nOnce is enough.")
    session.tool("Bash", {"command": "pytest -q tests/limiter"}, "the tide is out " * 80, detail={"file": "x" * 900})
    session.prompt("And on Tuesdays?")
    session.reply("Tuesdays are fine.")
    return session


class Cited:
    """A record with one session in it, at rest."""

    def __init__(self, folder: Path) -> None:
        self.home = RecordHome(folder)
        self.session = talk()
        self.path = self.home.save(self.session)
        os.utime(self.path, (LONG_AGO, LONG_AGO))
        self.home.scan()
        self.reply = str(self.session.records[1]["uuid"])

    def cite(self, quote: str = QUOTE, record: str = "") -> Citation:
        return cite(self.home.app, record or self.reply, quote)

    def again(self) -> RecordHome:
        """Go on as another process."""
        self.home.app.record.close()
        self.home.app = self.home.open()
        return self.home


@pytest.fixture
def cited(tmp_path: Path) -> Cited:
    return Cited(tmp_path)


def refusal(cited: Cited, quote: str, record: str = "") -> FabulaError:
    with pytest.raises(FabulaError) as caught:
        cited.cite(quote, record)
    assert caught.value.code == "ERR_QUOTE"
    return caught.value


# ── citing ───────────────────────────────────────────────────────────


def test_a_citation_names_the_bytes_the_words_and_where_they_come_from(cited: Cited) -> None:
    citation = cited.cite()
    line = cited.session.data().splitlines()[1]
    assert citation.digest == f"sha256:{sha256(line).hexdigest()}"
    assert (citation.record, citation.quote, citation.host) == (cited.reply, QUOTE, "claude")
    assert citation.session == cited.session.id
    assert citation.time is not None
    assert f"I looked.\n\n{QUOTE} that"[citation.start : citation.end] == QUOTE


def test_a_beginning_of_the_id_is_enough_and_the_whole_record_may_be_cited(cited: Cited) -> None:
    citation = cited.cite("", cited.reply[:13])
    assert (citation.record, citation.quote, citation.start, citation.end) == (cited.reply, "", 0, 0)
    assert resolve(cited.home.app, citation).after.startswith("I looked.")


def test_what_was_cited_is_remembered_in_the_vault(cited: Cited) -> None:
    citation = cited.cite()
    keepsakes = Keepsakes.open(cited.home.app.home.vault, cited.home.clock)
    (kept,) = keepsakes.citations(cited.reply)
    keepsakes.close()
    assert (f"sha256:{kept.digest.hex()}", kept.reader) == (citation.digest, "record cite")


@pytest.mark.parametrize("quote", ["pytest -q tests/limiter", "command: pytest"])
def test_a_call_is_quoted_as_it_is_read(cited: Cited, quote: str) -> None:
    call = next(str(r["uuid"]) for r in cited.session.records if "tests/limiter" in str(r))
    assert resolve(cited.home.app, cited.cite(quote, call)).state == "found"


@pytest.mark.parametrize(
    "wrong",
    ["the clock is read twice for every request", "The clock  is read twice for every request",
     "The clock is read two times for every request"],
)  # fmt: skip
def test_a_quote_that_is_not_verbatim_is_refused_and_the_nearest_passage_can_be_cited(cited: Cited, wrong: str) -> None:
    error = refusal(cited, wrong)
    assert "The clock is read twice for" in error.message
    (command,) = error.suggestions
    from shlex import split

    words = split(command)
    assert words[:4] == ["fabula", "record", "cite", cited.reply]
    assert cited.cite(words[5]).quote == words[5]


def test_a_quote_that_is_like_nothing_there_says_so(cited: Cited) -> None:
    error = refusal(cited, "entirely unrelated purple elephants marching")
    assert "nothing like this" in error.message
    assert error.suggestions == (f"fabula record block {cited.reply}",)


@pytest.mark.parametrize("quote", [" ", "\n\t", "x" * (QUOTE_CHARACTERS + 1)])
def test_blanks_and_whole_books_are_no_quotes(cited: Cited, quote: str) -> None:
    refusal(cited, quote)


def test_words_of_two_blocks_are_not_one_quote(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    session = ClaudeSession("blocks")
    session.prompt("go")
    session.reply("the second half", thought="the first half")
    home.save(session)
    reply = next(str(r["uuid"]) for r in session.records if "second half" in str(r))
    with pytest.raises(FabulaError):
        cite(home.app, reply, "half\n\nthe second")


def said(home: RecordHome, text: str) -> str:
    session = ClaudeSession("said")
    uid = session.prompt(text)
    home.save(session)
    return uid


@pytest.mark.parametrize(
    ("text", "quote", "word"),
    [
        ("my cat is <private>called Ottokar</private> and grey", "called Ottokar", "private"),
        ("my cat is <private>called Ottokar</private> and grey", "is <private>called", "private"),
        ("my cat is <private>called Ottokar, never closed", "Ottokar, never closed", "private"),
        (f"the token is {SECRET} and works", SECRET, "secret"),
        (f"the token is {SECRET} and works", f"is {SECRET[:20]}", "secret"),
        ('<historical_context session="s" thread="t" arcs="t">it was the clock</historical_context> ok',
         "it was the clock", "another thread"),
    ],
)  # fmt: skip
def test_private_text_secrets_and_quotes_of_quotes_are_refused(
    tmp_path: Path, text: str, quote: str, word: str
) -> None:
    home = RecordHome(tmp_path)
    uid = said(home, text)
    with pytest.raises(FabulaError) as caught:
        cite(home.app, uid, quote)
    assert caught.value.code == "ERR_QUOTE"
    assert word in caught.value.message
    assert SECRET not in caught.value.message


def test_a_refusal_never_shows_what_is_hidden(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    uid = said(
        home,
        f"the token of <private>Ottokar</private> is {SECRET} and it works on Mondays but on no other day of the week",
    )
    with pytest.raises(FabulaError) as caught:
        cite(home.app, uid, "it works on Mondays and on no other day in the week")
    whole = caught.value.message + " ".join(caught.value.suggestions)
    assert "works on Mondays" in whole
    assert "Ottokar" not in whole
    assert SECRET not in whole


def test_a_mark_that_stands_for_something_hidden_is_not_quoted(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    uid = said(home, "my cat is <private>Ottokar</private> and grey")
    with pytest.raises(FabulaError, match="mark"):
        cite(home.app, uid, "cat is [private] and")


def test_private_text_that_goes_on_behind_a_picture_is_not_quoted(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    session = ClaudeSession("picture")
    uid = session.prompt("look <private>at this", image=True)
    session.records[-1]["message"]["content"].append({"type": "text", "text": "my ocelot</private> and answer"})
    home.save(session)
    assert cite(home.app, uid, "and answer").quote == "and answer"
    with pytest.raises(FabulaError, match="private"):
        cite(home.app, uid, "my ocelot")


def test_of_words_that_are_said_twice_those_that_are_not_private_are_cited(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    text = "<private>a b c</private> then a b c at last"
    citation = cite(home.app, said(home, text), "a b c")
    assert citation.start == text.rindex("a b c")
    found = resolve(home.app, citation)
    assert (found.before, found.after) == ("[private] then ", " at last")


def test_an_unknown_record_is_not_cited(cited: Cited) -> None:
    with pytest.raises(FabulaError) as caught:
        cited.cite(QUOTE, "nosuchrecord")
    assert caught.value.code == "ERR_NOT_FOUND"


def test_nothing_is_cited_that_cannot_be_remembered(cited: Cited, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise FabulaError("ERR_READ_ONLY", "no")

    monkeypatch.setattr(Keepsakes, "hand_out", refuse)
    with pytest.raises(FabulaError) as caught:
        cited.cite()
    assert caught.value.code == "ERR_READ_ONLY"


# ── resolving ────────────────────────────────────────────────────────


def test_a_citation_gives_the_quote_with_its_surroundings(cited: Cited) -> None:
    citation = cited.cite()
    found = resolve(cited.home.app, citation)
    assert (found.state, found.kind, found.origin) == ("found", "reply", "live")
    assert (found.before, found.after) == ("I looked.\n\n", " that comes in.\nOnce is enough.")
    assert found.citation == citation


def test_record_digest_and_quote_are_enough(cited: Cited) -> None:
    citation = cited.cite()
    bare = Citation(citation.record, citation.digest, citation.quote)
    assert resolve(cited.home.app, bare).citation == citation


def test_it_resolves_after_the_transcript_was_deleted_and_the_map_made_anew(cited: Cited) -> None:
    citation = cited.cite()
    cited.path.unlink()
    home = cited.again()
    home.scan(rebuild=True)
    found = resolve(home.app, citation)
    assert (found.state, found.origin, found.citation) == ("found", "vault", citation)
    assert found.before + found.after == "I looked.\n\n that comes in.\nOnce is enough."


def test_it_resolves_after_pruning_also_what_was_pruned_away(cited: Cited) -> None:
    result = next(str(r["uuid"]) for r in cited.session.records if "tide is out" in str(r))
    citation = cited.cite("the tide is out the tide is out", result)
    done = prune(cited.home.app, PruneRequest(cited.session.id, apply=True))
    assert done.applied
    assert b"tide is out the tide" not in cited.path.read_bytes()
    for rebuild in (False, True):
        home = cited.again()
        home.scan(rebuild=rebuild)
        found = resolve(home.app, citation)
        assert (found.state, found.origin) == ("found", "vault")
        assert found.citation == citation


def test_what_was_pruned_away_can_still_be_cited(cited: Cited) -> None:
    result = next(str(r["uuid"]) for r in cited.session.records if "tide is out" in str(r))
    assert prune(cited.home.app, PruneRequest(cited.session.id, apply=True)).applied
    citation = cited.cite("the tide is out the tide is out", result)
    line = next(line for line in cited.session.data().splitlines() if b"tide is out" in line)
    assert citation.digest == f"sha256:{sha256(line).hexdigest()}"
    assert resolve(cited.again().app, citation).state == "found"


def test_an_encrypted_record_is_cited_and_resolved_alike(cited: Cited, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nacl")
    from fabula.app.vault import encrypt as encrypting
    from fabula.storage import keyring

    citation = cited.cite()
    monkeypatch.setattr(encrypting, "require_consent", lambda *_: None)
    keyring.forget_keys()
    key = cited.home.folder / "keys" / "key"
    assert encrypting.encrypt(cited.home.app, encrypting.EncryptRequest(apply=True, key_file=key)).applied
    home = cited.again()
    assert resolve(home.app, citation).state == "found"
    assert cited.cite() == citation


def test_it_resolves_after_its_thread_was_excised(cited: Cited) -> None:
    citation = cited.cite()
    assert excise(cited.home.app, ExciseRequest(cited.session.id, (first_thread(cited),), apply=True)).applied
    assert QUOTE.encode() not in cited.path.read_bytes()
    home = cited.again()
    home.scan(rebuild=True)
    found = resolve(home.app, citation)
    assert (found.state, found.origin, found.before) == ("found", "vault", "I looked.\n\n")


def first_thread(cited: Cited) -> str:
    from fabula.kernel.ids import unpack_id

    thread = cited.home.thread_of(cited.reply)
    return unpack_id(cited.home.rows("select uid from threads where id=?", thread)[0][0])


def forget(cited: Cited, *targets: str, **more: object) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forgetting, "require_consent", lambda *_: None)
        request = ForgetRequest(targets, apply=True, **more)  # type: ignore[arg-type]
        assert forgetting.forget(cited.home.app, request).applied


@pytest.mark.parametrize("how", ["session", "thread", "record", "pattern"])
def test_after_forgetting_it_says_when_and_shows_nothing(cited: Cited, how: str) -> None:
    citation = cited.cite()
    cited.home.clock.now += 5000  # type: ignore[attr-defined]
    when = cited.home.clock.now_ms()
    if how == "pattern":
        forget(cited, pattern="read twice")
    elif how == "record":
        forget(cited, cited.reply, record=True)
    else:
        forget(cited, cited.session.id if how == "session" else first_thread(cited))
    cited.home.clock.now += 5000  # type: ignore[attr-defined]
    home = cited.again()
    for rebuild in (False, True):
        home.scan(rebuild=rebuild)
        found = resolve(home.app, citation)
        assert (found.state, found.forgotten_at) == ("forgotten", when)
        assert found.before == found.after == ""
    with pytest.raises(FabulaError) as caught:
        cite(home.app, cited.reply, QUOTE)
    assert caught.value.code in {"ERR_FORGOTTEN", "ERR_NOT_FOUND"}


def test_forgetting_something_else_leaves_a_citation_alone(cited: Cited) -> None:
    citation = cited.cite()
    forget(cited, pattern="Tuesdays are fine")
    assert resolve(cited.again().app, citation).state == "found"


def test_another_record_never_had_it_and_other_bytes_are_not_it(cited: Cited, tmp_path: Path) -> None:
    citation = cited.cite()
    other = RecordHome(tmp_path / "other")
    other.save(ClaudeSession("elsewhere"))
    other.scan()
    assert resolve(other.app, citation).state == "missing"
    strange = Citation(citation.record, f"sha256:{'0' * 64}", QUOTE)
    assert resolve(cited.home.app, strange).note == "the record is here, with other bytes"
    wrong = Citation(citation.record, citation.digest, "never said")
    assert resolve(cited.home.app, wrong).state == "missing"
    with pytest.raises(FabulaError) as caught:
        resolve(cited.home.app, Citation(citation.record, "md5:1", QUOTE))
    assert caught.value.code == "ERR_USAGE"


def test_surroundings_hide_what_is_private_or_secret(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    uid = said(home, f"<private>Ottokar</private> says: the clock is late. Token {SECRET} works.")
    found = resolve(home.app, cite(home.app, uid, "the clock is late"))
    assert "Ottokar" not in found.before
    assert SECRET not in found.after
    assert found.before == "[private] says: "
