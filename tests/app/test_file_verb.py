"""The verb ``record file`` on a whole record."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fabula.app.record.file import FileRequest, FileResult, file
from fabula.kernel.errors import FabulaError
from fabula.testing.record_home import RecordHome
from fabula.testing.rollouts import CodexRollout
from fabula.testing.transcripts import ClaudeSession

APP = "/home/mira/code/harbor/src/app.py"


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    return RecordHome(tmp_path / "home")


def begin(seed: str, cwd: str = "/home/mira/code/harbor") -> ClaudeSession:
    session = ClaudeSession(seed, cwd=cwd)
    session.prompt("change the app")
    return session


def write(session: ClaudeSession, content: str, path: str = APP) -> str:
    return session.tool("Write", {"file_path": path, "content": content}, f"File created successfully at: {path}")


def edit(session: ClaudeSession, old: str, new: str, path: str = APP, *, failed: bool = False) -> str:
    arguments = {"file_path": path, "old_string": old, "new_string": new}
    return session.tool("Edit", arguments, "String to replace not found" if failed else "updated", failed=failed)


def history(home: RecordHome, path: str = APP, **asked: object) -> FileResult:
    return file(home.app, FileRequest(path, all=True, **asked))  # type: ignore[arg-type]


def test_the_history_lists_every_change_with_its_turn(home: RecordHome) -> None:
    session = begin("one")
    write(session, "a = 1\n")
    session.tool("MultiEdit", {"file_path": APP, "edits": [{"old_string": "1", "new_string": "2"}]}, "updated")
    edit(session, "9", "8", failed=True)
    edit(session, "2", "3")
    write(session, "other\n", "/home/mira/code/harbor/src/myapp.py")
    home.save(session)
    result = history(home)
    assert [version.operation for version in result.versions] == ["write", "edit", "edit"]
    assert {version.fidelity for version in result.versions} == {"exact"}
    assert result.versions[-1].bytes == len("a = 3\n")
    assert {version.session for version in result.versions} == {session.id}
    assert result.versions[0].thread == session.prompt_id
    assert result.versions[0].read_on == f"fabula record thread {session.prompt_id}"


def test_a_lost_edit_is_told_and_a_write_recovers(home: RecordHome) -> None:
    session = begin("lost")
    write(session, "a = 1\n")
    edit(session, "not there", "x")
    write(session, "b = 1\n")
    home.save(session)
    result = history(home)
    assert [version.fidelity for version in result.versions] == ["exact", "partial", "exact"]
    assert result.versions[1].bytes is None
    assert history(home, show=3).content == "b = 1\n"
    with pytest.raises(FabulaError) as error:
        history(home, show=2)
    assert error.value.code == "ERR_NOT_RECONSTRUCTIBLE"
    with pytest.raises(FabulaError) as error:
        history(home, diff=("1", "2"))
    assert error.value.code == "ERR_NOT_RECONSTRUCTIBLE"
    assert "-a = 1\n+b = 1\n" in (history(home, diff=("1", "3")).diff or "")


@pytest.mark.parametrize("number", [0, 4, 99])
def test_a_version_that_is_not_there_is_an_error_that_says_which_are(home: RecordHome, number: int) -> None:
    session = begin("range")
    write(session, "1\n")
    edit(session, "1", "2")
    home.save(session)
    with pytest.raises(FabulaError) as error:
        history(home, show=number)
    assert error.value.code == "ERR_NOT_FOUND"
    assert "1 to 2" in error.value.message


def test_contents_at_a_time_are_those_of_the_last_change_before_it(home: RecordHome) -> None:
    session = begin("time")
    write(session, "1\n")
    session.clock.pause(hours=1)
    edit(session, "1", "2")
    home.save(session)
    first, last = (version.time or 0 for version in history(home).versions)
    assert history(home, at=first).content == "1\n"
    assert history(home, at=last - 1).content == "1\n"
    assert history(home, at=last).content == "2\n"
    with pytest.raises(FabulaError) as error:
        history(home, at=first - 1)
    assert error.value.code == "ERR_NOT_FOUND"


def test_sessions_and_agents_share_one_history(home: RecordHome) -> None:
    session = begin("claude-part")
    write(session, "a = 1\n")
    home.save(session)
    rollout = CodexRollout("codex-part", clock=session.clock)
    rollout.begin()
    rollout.prompt("make it two")
    patch = "*** Begin Patch\n*** Update File: src/app.py\n@@\n-a = 1\n+a = 2\n*** End Patch"
    rollout.patch(patch, "Success. Updated the following files:\nM src/app.py\n")
    rollout.shell("cat >> src/app.py <<'EOF'\nb = 3\nEOF", "")
    rollout.save(home.folder / ".codex")
    result = history(home)
    assert [(version.host, version.operation) for version in result.versions] == [
        ("claude", "write"), ("codex", "patch"), ("codex", "write")]  # fmt: skip
    assert history(home, show=3).content == "a = 2\nb = 3\n"


def test_a_backup_on_disk_shows_a_change_out_of_band(home: RecordHome) -> None:
    session = begin("backup")
    write(session, "a = 1\n")
    message = session.prompt("go on")
    session.snapshot(message, {APP: "0f00ba@v1"})
    edit(session, "7", "8")
    home.save(session)
    home.write(f"file-history/{session.id}/0f00ba@v1", b"a = 7\n")
    result = history(home)
    assert [(version.operation, version.fidelity) for version in result.versions] == [
        ("write", "exact"), ("snapshot", "exact"), ("edit", "exact")]  # fmt: skip
    assert history(home, show=3).content == "a = 8\n"


def test_the_history_outlives_the_transcript(home: RecordHome) -> None:
    session = begin("gone")
    write(session, "a = 1\n")
    path = home.save(session)
    assert history(home, show=1).content == "a = 1\n"
    path.unlink()
    home.app = home.open()
    assert history(home, show=1).content == "a = 1\n"


def test_a_name_that_can_mean_several_files_lists_them(home: RecordHome) -> None:
    session = begin("two")
    write(session, "1\n", "/home/mira/code/harbor/src/app.py")
    write(session, "2\n", "/home/mira/code/harbor/old/app.py")
    home.save(session)
    with pytest.raises(FabulaError) as error:
        history(home, "app.py")
    assert error.value.code == "ERR_AMBIGUOUS"
    for suggestion in error.value.suggestions:
        assert history(home, suggestion.removeprefix("fabula record file ")).versions
    assert history(home, "old/app.py", show=1).content == "2\n"


def test_an_unknown_file_is_an_error(home: RecordHome) -> None:
    session = begin("known")
    write(session, "1\n")
    home.save(session)
    with pytest.raises(FabulaError) as error:
        history(home, "nowhere.py")
    assert error.value.code == "ERR_NOT_FOUND"


def test_a_path_relative_to_here_needs_no_scope(home: RecordHome, tmp_path: Path) -> None:
    place = tmp_path / "work"
    place.mkdir()
    session = begin("here", cwd=str(place))
    write(session, "1\n", str(place / "a.py"))
    home.save(session)
    result = file(home.open(cwd=place), FileRequest("a.py", show=1))
    assert result.content == "1\n"


def test_another_repository_s_file_is_named_but_not_shown(home: RecordHome) -> None:
    session = begin("elsewhere")
    write(session, "1\n")
    home.save(session)
    with pytest.raises(FabulaError) as error:
        file(home.app, FileRequest("src/app.py"))
    assert error.value.code == "ERR_NOT_FOUND"
    assert "--all" in error.value.suggestions[0]


def test_secrets_leave_what_is_shown(home: RecordHome) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
    session = begin("secret")
    write(session, f"token = '{secret}'\n")
    edit(session, "token", "TOKEN")
    home.save(session)
    assert secret not in (history(home, show=1).content or "")
    assert secret not in (history(home, diff=("1", "2")).diff or "")
    assert history(home).versions[0].bytes == len(f"token = '{secret}'\n")


def test_bad_words_for_a_difference_are_wrong_calls(home: RecordHome) -> None:
    session = begin("words")
    write(session, "1\n")
    home.save(session)
    for words in (("1", "soon"), ("1",)):
        with pytest.raises(FabulaError) as error:
            history(home, diff=words)
        assert error.value.code == "ERR_USAGE"
    assert history(home, diff=("1", "2030-01-01")).diff == ""


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=Mira", "-c", "user.email=mira@example.invalid", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_worktrees_of_one_repository_share_a_history_but_not_a_state(home: RecordHome, tmp_path: Path) -> None:
    main, other = tmp_path / "shop", tmp_path / "shop-hotfix"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "begin")
    git(main, "worktree", "add", "-q", str(other))
    first = begin("main tree", cwd=str(main))
    write(first, "a = 1\n", str(main / "src/app.py"))
    home.save(first)
    second = begin("other tree", cwd=str(other))
    second.clock.pause(hours=1)
    write(second, "a = 5\n", str(other / "src/app.py"))
    edit(second, "5", "6", str(other / "src/app.py"))
    home.save(second)
    result = history(home, "src/app.py")
    assert sorted(result.paths) == sorted([str(main / "src/app.py"), str(other / "src/app.py")])
    assert [version.path for version in result.versions].count(str(other / "src/app.py")) == 2
    assert history(home, "src/app.py", show=3).content == "a = 6\n"
    assert history(home, str(main / "src/app.py"), show=1).content == "a = 1\n"


def patched(seed: str, *texts: str) -> CodexRollout:
    rollout = CodexRollout(seed)
    rollout.begin()
    rollout.prompt("patch it")
    for text in texts:
        rollout.patch(f"*** Begin Patch\n{text}\n*** End Patch", "Success.")
    return rollout


def test_a_moved_file_keeps_its_contents(home: RecordHome) -> None:
    rollout = patched(
        "move",
        "*** Add File: src/old.py\n+a = 1\n+b = 2",
        "*** Update File: src/old.py\n*** Move to: src/new.py\n@@\n-a = 1\n+a = 9",
        "*** Update File: src/new.py\n*** Move to: src/newest.py",
    )
    rollout.save(home.folder / ".codex")
    result = history(home, "src/new.py")
    assert history(home, "src/new.py", show=1).content == "a = 9\nb = 2\n"
    assert "moved from" in result.versions[0].note
    assert [version.deleted for version in result.versions] == [False, True]
    assert history(home, "src/newest.py", show=1).content == "a = 9\nb = 2\n"
    assert [version.deleted for version in history(home, "src/old.py").versions] == [False, True]
    assert history(home, "src/old.py", show=2).content is None


def test_a_backup_that_repeats_an_earlier_snapshot_says_nothing_new(home: RecordHome) -> None:
    session = begin("update")
    write(session, "a = 1\n")
    message = session.prompt("go on")
    session.snapshot(message, {APP: "0f00ba@v1"})
    edit(session, "1", "2")
    session.snapshot(message, {APP: "0f00ba@v1", "/home/mira/code/harbor/b.py": "b0@v1"})
    update = session.records[-1]
    update["isSnapshotUpdate"] = True
    backups = update["snapshot"]["trackedFileBackups"]
    backups[APP]["backupTime"] = "2026-01-01T00:00:00.000Z"
    home.save(session)
    home.write(f"file-history/{session.id}/0f00ba@v1", b"a = 1\n")
    home.write(f"file-history/{session.id}/b0@v1", b"b\n")
    assert [version.operation for version in history(home).versions] == ["write", "edit"]
    assert history(home, "/home/mira/code/harbor/b.py", show=1).content == "b\n"


def test_a_backup_whose_bytes_are_gone_is_left_out(home: RecordHome) -> None:
    session = begin("no-bytes")
    write(session, "a = 1\n")
    session.snapshot(session.prompt("go on"), {APP: "0f00ba@v1"})
    home.save(session)
    assert [version.operation for version in history(home).versions] == ["write"]


def test_a_read_in_the_record_shows_what_changed_outside(home: RecordHome) -> None:
    session = begin("read")
    write(session, "a = 1\n")
    session.tool("Read", {"file_path": APP}, "     1\ta = 5\n     2\t")
    edit(session, "5", "6")
    session.calls(("Edit", {"file_path": APP, "old_string": "6", "new_string": "7"}))
    home.save(session)
    result = history(home)
    assert [(version.operation, version.fidelity) for version in result.versions] == [
        ("write", "exact"), ("read", "exact"), ("edit", "exact"), ("edit", "derived")]  # fmt: skip
    assert history(home, show=3).content == "a = 6\n"


def test_a_subagent_s_edits_belong_to_the_history(home: RecordHome) -> None:
    session = begin("parent")
    write(session, "a = 1\n")
    home.save(session)
    agent = ClaudeSession("agent", agent="a1b2c3", parent_session=session.id)
    agent.clock.pause(hours=1)
    agent.task("change it")
    edit(agent, "1", "2")
    home.save(agent)
    assert history(home, show=2).content == "a = 2\n"


def test_contents_and_differences_hide_private_text(home: RecordHome) -> None:
    session = begin("private")
    write(session, "a\n<private>\nmy street\n</private>\nb\n")
    edit(session, "b\n", "c\n")
    home.save(session)
    result = history(home, show=1, diff=("1", "2"))
    assert result.content == "a\n[private]\nb\n"
    assert result.diff is not None
    assert "my street" not in result.diff
