"""Put the memory beside the program that its format comes from: the npm package memhtml, run as a program.

    python tests/e2e/beside_memhtml.py [--fabula PROGRAM] [--cache DIR] [--files N] [--seed N]

Files that are written and edited here must all be taken there, with equal hashes; files written there must read and
be canonical here; of mutated files both must say the same. A corpus that ``fabula`` made must be whole there, and one
bad file in it must be noticed; a corpus that was made there must open here and stay as it is. The last line is
``memhtml: N passed`` or ``memhtml: N of M failed``. Exit status 1 when a check failed or nothing could be installed.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from memhtml_program import Program, hashes, install
from run import cache_folder, installed_command
from whole_corpora import whole_corpora

from fabula.memory.format.document import write
from fabula.memory.format.edit import add_link, add_meta, remove_meta, set_meta
from fabula.memory.format.gate import render
from fabula.memory.format.reader import read
from fabula.memory.format.template import Draft, document_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "memory" / "format"))
from test_memory_reader_fuzz import mutated

AT = "2026-05-14T08:20:00Z"
#: Read otherwise by each: raw text that HTML cannot write again, and what the standard changed lately.
KNOWN = (b"<noscript", b"<plaintext", b"<select", b"<template")
INLINE = (
    "some words", "&lt;tag&gt; &amp; more", "caf\u00e9&nbsp;\u65e5\u672c", "<strong>s</strong>", "<em> e </em>",
    '<code data-lang="c++">a  b</code>', '<time datetime="2026-05-13">13 May</time>', '<data value="4">four</data>',
    '<a href="https://x.org/?a=1&amp;b=2">link</a>', '<q cite="https://x.org">said  so</q>', "<cite>work</cite>",
    "<!-- c -->", "<br>", "<dfn>term</dfn>",
)  # fmt: skip
BLOCKS = (
    "<p>{0} {1}</p>", "<ul><li>{0}<li>{1}</ul>", "<dl><dt>k<dd>{0}<dd>{1}</dl>", "<table><tr><td>{0}<td>{1}</table>",
    "<figure><pre>\n\n  {0}\n x</pre><figcaption>{1}</figcaption></figure>", "<aside>{0}</aside>{1}\u2003",
    "<details><summary>{0}</summary><p>{1}</p></details>", "<section>\n <p>{0}</p>\n {1}</section>",
)  # fmt: skip


def main() -> int:
    """Run every comparison. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fabula", default="")
    parser.add_argument("--cache", type=Path, default=cache_folder())
    parser.add_argument("--files", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    try:
        program = install(options.cache / "memhtml")
    except (OSError, subprocess.SubprocessError) as error:
        print(f"memhtml: FAILED (npm could not install it: {error})")
        return 1
    folder = Path(tempfile.mkdtemp(prefix="fabula-memhtml-"))
    try:
        there, chance = Program(program, folder), random.Random(options.seed)
        results = {
            "what is written here is taken there": written_here(there, folder / "ours", chance, options.files),
            "what is written there is read here": written_there(there, folder / "theirs", options.files),
            "of broken files both say the same": broken(there, folder / "broken", chance, options.files),
            **whole_corpora(there, options.fabula or installed_command(), folder / "corpora"),
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name, problems in results.items():
        print(f"{'FAILED' if problems else 'ok':7} {name}", *problems[:10], sep="\n        ")
    failed = sum(bool(problems) for problems in results.values())
    print(f"memhtml: {failed} of {len(results)} failed" if failed else f"memhtml: {len(results)} passed")
    return int(failed > 0)


def written_here(there: Program, root: Path, chance: random.Random, count: int) -> list[str]:
    """Write and edit files here and index them there, with one bad file among them."""
    ours = {}
    for number in range(count):
        data = edited(render(document_of(draft(chance, number))), chance)
        path = f"areas/inbox/{number}.html"
        put(root / path, data)
        ours[path] = read(data).content_hash
    put(root / "areas/inbox/bad.html", b"<article><p>no claim</p></article>")
    theirs, refused = there.index(root)
    wrong = [f"{path}: {theirs.get(path)} there, {ours.get(path)} here" for path in ours.keys() | theirs.keys()
             if ours.get(path) != theirs.get(path)]  # fmt: skip
    return wrong + ([] if refused == {"areas/inbox/bad.html"} else [f"refused there: {sorted(refused)}"])


def written_there(there: Program, root: Path, count: int) -> list[str]:
    """Let the program write a batch, and read its files here."""
    there.ask(root, "init")
    lines = [
        {"op": "write", "title": f"Title <{number}> \u00e9", "type": "semantic", "tag": ['a"b'], "entity": ["tool:x"],
         "body": f"Claim {number} & <b>. Then so.\n\n```\nSELECT {number};\n```\n\nEnd."} for number in range(count)
    ]  # fmt: skip
    batch = root.with_suffix(".jsonl")
    batch.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    there.ask(root, "apply", "--file", str(batch))
    wrong = []
    for path, digest in hashes(root).items():
        data = (root / path).read_bytes()
        reading = read(data)
        if reading.violations or reading.content_hash != digest or write(reading.document) != data:
            wrong.append(f"{path}: {[str(finding) for finding in reading.violations]}")
    return wrong if len(hashes(root)) == count else [*wrong, "files are missing"]


def broken(there: Program, root: Path, chance: random.Random, count: int) -> list[str]:
    """Index mutated files there, and compare the verdicts; what is known to differ is left out."""
    seen: set[str] = set()
    ours = {}
    for number in range(count):
        data = mutated(chance).replace(b"<mark>", b"<mark>%d " % number, 1)
        reading = read(data)
        is_known = data.count(b"<head>") > 1 or any(name in data for name in KNOWN)
        if is_known or reading.content_hash in seen:
            continue
        seen.add(reading.content_hash)
        path = f"areas/inbox/{number}.html"
        put(root / path, data)
        ours[path] = reading.content_hash if reading.is_memory else None
    put(root / ".gitattributes", b"* -text\n")
    theirs, _ = there.index(root)
    return [f"{path}: {theirs.get(path)} there, {digest} here" for path, digest in ours.items()
            if theirs.get(path) != digest]  # fmt: skip


def draft(chance: random.Random, number: int) -> Draft:
    """Make a memory out of prose or markup."""
    if number % 3 == 0:
        body = [
            "tail <i> & more",
            "```python\nimport os\n\nprint(1)\n```",
            "```\nSELECT a\nFROM b;\n```",
            "x\u00a0y\n\n z",
        ]
        chance.shuffle(body)
        return Draft(f"Prose {number} <&>", "procedural", AT, claim=f"Claim {number} \u2003", body=body)
    blocks = [chance.choice(BLOCKS).format(chance.choice(INLINE), chance.choice(INLINE)) for _ in range(4)]
    markup = f"<p><mark>Claim {number} {chance.choice(INLINE)}</mark> {chance.choice(INLINE)}</p>{''.join(blocks)}"
    kind = chance.choice(["semantic", "episodic", "task"])
    return Draft(f"Markup {number}", kind, AT, article_html=markup, reason='"so"', cites=["r1 sha256:00"], tags=["a"])


def edited(data: bytes, chance: random.Random) -> bytes:
    """Edit a head, in one file of five with other line ends."""
    data = data.replace(b"\n", b"\r\n") if chance.random() < 0.2 else data
    data = set_meta(data, chance.choice(["memhtml-author", "memhtml-turn", "fabula-origin"]), 'v "x" <\u00e9> & y')
    data = add_meta(data, chance.choice(["memhtml-tag", "memhtml-alias", "fabula-cite"]), "another")
    data = add_link(data, "from_session", "areas/inbox/session.html")
    return remove_meta(data, "memhtml-tag", "a") if chance.random() < 0.3 else data


def put(path: Path, data: bytes) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


if __name__ == "__main__":
    sys.exit(main())
