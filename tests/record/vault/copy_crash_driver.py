"""Stop the copying of a vault at each of its write steps in turn.

    python copy_crash_driver.py FOLDER before|half|full

What is left must be the copy before or the copy after, whole and verified; the next run makes it the copy after.
Prints how many steps there were.
"""

from __future__ import annotations

import os
import shutil
import sys
import traceback
from pathlib import Path

from crash_driver import Stopper, small
from vault_builders import TickingClock, contents, open_vault, seal, transcript

from fabula.kernel.errors import FabulaError
from fabula.record.vault.copying import copy_vault
from fabula.record.vault.vault import Vault


def stopped_copy(vault: Path, target: Path, at: int, how: str) -> bool:
    child = os.fork()
    if child == 0:
        files = Stopper(at, how).install()
        try:
            copy_vault(vault, target, TickingClock())
        except FabulaError as error:
            os._exit(3 if error.code == "ERR_DISK" else 4)
        except BaseException:
            traceback.print_exc()
            os._exit(5)
        del files
        os._exit(0)
    _, status = os.waitpid(child, 0)
    stopped = os.WIFSIGNALED(status) if how != "full" else os.WEXITSTATUS(status) == 3
    assert stopped or status == 0, f"step {at} {how}: status {status}"
    return stopped


def held(target: Path) -> dict[tuple[str, int], bytes]:
    if not (target / "vault" / "journal.db").exists():
        return {}
    with open_vault(target / "vault", read_only=True) as vault:
        assert not [d for d in vault.verify() if d.problem != "the journal does not know this pack"]
        return contents(vault)


def rewrite_first_pack(vault: Vault) -> None:
    packs = vault.folder / "packs"
    shutil.move(packs / "records-000001.pack", packs / "records-000077.pack")
    vault.journal.change_index("update packs set id=77 where id=?", [(1,)])
    vault.journal.change_index("update frames set pack_id=77 where pack_id=?", [(1,)])


def main(work: Path, how: str) -> None:
    small()
    folder, begun, target = work / "vault", work / "begun", work / "target"
    with open_vault(folder) as vault:
        seal(vault, "/old", transcript(30, seed=1))
    copy_vault(folder, begun, TickingClock())
    with open_vault(folder) as vault:
        seal(vault, "/new", transcript(40, seed=2))
        rewrite_first_pack(vault)
        after = contents(vault)
    steps = 0
    for template in (None, begun) if how == "before" else (begun,):
        before = held(template) if template else {}
        at, stopped = 0, True
        while stopped:
            at += 1 if template else 3
            shutil.rmtree(target, ignore_errors=True)
            if template:
                shutil.copytree(template, target)
            stopped = stopped_copy(folder, target, at, how)
            assert held(target) in (before, after), f"step {at} {how}"
            copy_vault(folder, target, TickingClock())
            assert held(target) == after, f"step {at} {how}"
            assert not (target / "vault" / "packs" / "records-000001.pack").exists(), f"step {at} {how}: not erased"
        steps += at - 1
    print(steps)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
