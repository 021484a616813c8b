"""Embedders: the static table without numpy, servers, and what happens when one is not there."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fabula
from fabula.kernel.errors import FabulaError
from fabula.models.choosing import EmbedderSettings, embedder_of
from fabula.models.embedding import Unavailable, direction
from fabula.models.http_embedder import BATCH, HttpEmbedder
from fabula.models.static_embedder import DIMENSIONS, StaticEmbedder
from fabula.models.transformer_embedder import TransformerEmbedder

TABLE = Path(fabula.__file__).parent / "data" / "embedding"


def cosine(left: bytes, right: bytes) -> float:
    one, other = memoryview(left).cast("b").tolist(), memoryview(right).cast("b").tolist()
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return float(product / (sum(a * a for a in one) * sum(b * b for b in other)) ** 0.5)


@pytest.fixture(scope="module")
def static() -> StaticEmbedder:
    return StaticEmbedder(TABLE)


# ── directions ──────────────────────────────────────────────────────
@given(st.lists(st.floats(-1e6, 1e6).filter(lambda one: abs(one) > 1e-3), min_size=1, max_size=64))
@settings(deadline=None)
def test_a_direction_in_signed_bytes_keeps_each_component_within_half_a_step(components: list[float]) -> None:
    found = memoryview(direction(components)).cast("b").tolist()
    largest = max(map(abs, components))
    assert all(abs(one / 127 - true / largest) <= 0.5 / 127 + 1e-9 for one, true in zip(found, components, strict=True))


def test_no_direction_is_empty_and_what_is_no_number_is_refused() -> None:
    assert direction([]) == direction([0.0, 0.0]) == b""
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite"):
            direction([1.0, wrong])


# ── the static table ────────────────────────────────────────────────
def test_whole_numbers_give_the_vectors_that_numpy_gives(static: StaticEmbedder) -> None:
    numpy = pytest.importorskip("numpy")
    from fabula.models.static_table import open_table

    table = open_table(TABLE)
    texts = ["restart the deploy service", "Zürich is cold", "x" * 50, "the " * 400, "how do pools drain? " * 60]
    for text in texts:
        exact = table.mean(table.pieces.ids(text, 512), head=False)
        ours = numpy.frombuffer(static.query(text), numpy.int8).astype(float)
        assert exact @ ours / numpy.linalg.norm(ours) > 0.999


def test_texts_that_mean_alike_are_closer_than_others_and_unknown_ones_have_no_vector(static: StaticEmbedder) -> None:
    asked, near, far = (
        static.query(text)
        for text in ("the database is slow", "queries of the postgres server take long", "a recipe for apple pie")
    )
    assert cosine(asked, near) > cosine(asked, far)
    assert len(asked) == DIMENSIONS
    assert static.documents(["", "\t", "\N{EGYPTIAN HIEROGLYPH A001}"]) == [b"", b"", b""]


def test_the_static_table_needs_no_numpy(static: StaticEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert StaticEmbedder(TABLE).query("drain the pool") == static.query("drain the pool")


def test_a_table_that_is_not_whole_is_a_named_reason(tmp_path: Path) -> None:
    missing = embedder_of(EmbedderSettings(), tmp_path / "nowhere")
    assert isinstance(missing, Unavailable)
    assert "missing" in missing.reason
    for name in ("rows.int8", "scales.float32", "vocabulary.txt"):
        (tmp_path / name).write_bytes((TABLE / name).read_bytes())
    (tmp_path / "rows.int8").write_bytes(b"\x01" * 256)
    assert isinstance(embedder_of(EmbedderSettings(), tmp_path), Unavailable)


def test_a_vocabulary_that_does_not_fit_the_rows_is_refused_when_it_is_needed(tmp_path: Path) -> None:
    (tmp_path / "rows.int8").write_bytes(b"\x01" * 512)
    (tmp_path / "scales.float32").write_bytes(b"\x00\x00\x80\x3f" * 2)
    (tmp_path / "vocabulary.txt").write_text("one", "utf-8")
    with pytest.raises(FabulaError) as refused:
        StaticEmbedder(tmp_path).query("one")
    assert refused.value.code == "ERR_EXTRA_MISSING"


# ── servers ─────────────────────────────────────────────────────────
@contextmanager
def server(answer: Callable[[dict[str, Any], Any], tuple[int, bytes]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Run a server of this test alone; ``answer`` takes a request's body and headers."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append({"path": self.path, "authorization": self.headers["Authorization"], **body})
            status, data = answer(body, self.headers)
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            if status == 302:
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    running = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_port}", asked
    finally:
        running.shutdown()
        thread.join()
        running.server_close()


def openai_form(body: dict[str, Any], _: Any) -> tuple[int, bytes]:
    data = [{"index": at, "embedding": [float(len(text)), 1.0]} for at, text in enumerate(body["input"])]
    return 200, json.dumps({"data": data[::-1]}).encode()


def ollama_form(body: dict[str, Any], _: Any) -> tuple[int, bytes]:
    return 200, json.dumps({"embeddings": [[float(len(text)), 1.0] for text in body["input"]]}).encode()


def test_servers_are_asked_in_batches_and_vectors_come_in_the_order_of_the_texts() -> None:
    texts = ["x" * (1 + number % 90) for number in range(BATCH + 3)]
    with server(openai_form) as (url, asked):
        chosen = embedder_of(EmbedderSettings("openai", "small", url, "secret-key"), TABLE)
        assert not isinstance(chosen, Unavailable)
        assert chosen.documents(texts) == [direction([float(len(text)), 1.0]) for text in texts]
        assert [len(one["input"]) for one in asked] == [BATCH, 3]
        assert {(one["path"], one["authorization"], one["model"]) for one in asked} == {
            ("/embeddings", "Bearer secret-key", "small")
        }


def test_ollama_is_asked_in_its_own_form_without_a_key() -> None:
    with server(ollama_form) as (url, asked):
        chosen = embedder_of(EmbedderSettings("ollama", "nomic", url), TABLE)
        assert not isinstance(chosen, Unavailable)
        assert chosen.query("four") == direction([4.0, 1.0])
        assert asked == [{"path": "/api/embed", "authorization": None, "model": "nomic", "input": ["four"]}]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b"the model secret-key is not loaded"), (302, b""), (200, b"no json"), (200, b"[]"), (200, b"{}"),
        (200, b'{"data": []}'), (200, b'{"data": [{"index": 0, "embedding": ["a"]}]}'),
        (200, b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}'), (200, b'{"data": [7]}'),
    ],
)  # fmt: skip
def test_whatever_a_server_answers_wrongly_is_one_clear_error_without_the_key(status: int, body: bytes) -> None:
    with server(lambda *_: (status, body)) as (url, asked):
        with pytest.raises(FabulaError) as refused:
            HttpEmbedder("openai", "small", url, "secret-key").query("x")
        assert refused.value.code == "ERR_EMBEDDER"
        assert url in refused.value.message
        assert "secret-key" not in refused.value.message
        assert len(asked) == 1


def test_a_server_that_is_not_there_or_silent_is_given_up() -> None:
    hangs = threading.Event()

    def silent(*_: object) -> tuple[int, bytes]:
        hangs.wait(5)
        return 200, b"{}"

    with server(silent) as (url, _):
        with pytest.raises(FabulaError, match="timed out"):
            HttpEmbedder("ollama", "nomic", url, timeout=0.05).query("x")
        hangs.set()
    with pytest.raises(FabulaError) as refused:
        HttpEmbedder("ollama", "nomic", url).query("x")
    assert refused.value.code == "ERR_EMBEDDER"


@pytest.mark.parametrize(
    "wrong",
    [
        EmbedderSettings("openai", ""),
        EmbedderSettings("openai", "small", "file:///etc/passwd"),
        EmbedderSettings("openai", "small", "http://example.org/v1", "key"),
        EmbedderSettings("openai", "small", "http://localhost.example.org/v1", "key"),
        EmbedderSettings("openai", "small", "http://127.0.0.1@example.org/v1", "key"),
        EmbedderSettings("magic", "small"),
        EmbedderSettings("sentence-transformers"),
        EmbedderSettings("off"),
    ],
)
def test_settings_that_cannot_work_are_said_and_nothing_is_asked(wrong: EmbedderSettings) -> None:
    chosen = embedder_of(wrong, TABLE)
    assert isinstance(chosen, Unavailable)
    assert chosen.reason


def test_each_provider_model_and_server_has_a_space_of_its_own(static: StaticEmbedder) -> None:
    spaces = [
        static.space,
        TransformerEmbedder("mini").space,
        *(HttpEmbedder(provider, model, f"http://localhost:{port}").space
          for provider in ("openai", "ollama") for model in ("a", "b") for port in (1, 2)),
    ]  # fmt: skip
    assert len(set(spaces)) == len(spaces)


# ── a network on this machine ───────────────────────────────────────
def test_sentence_transformers_are_imported_when_a_text_comes_and_their_queries_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sentence_transformers.py").write_text(
        "class SentenceTransformer:\n"
        "    def __init__(self, name):\n"
        "        if name == 'absent':\n"
        "            raise OSError('no such model')\n"
        "    def encode_query(self, texts):\n"
        "        return [[1.0, 0.5] for _ in texts]\n"
        "    def encode(self, texts):\n"
        "        return [[1.0, -0.5] for _ in texts]\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    made = TransformerEmbedder("mini")
    assert "sentence_transformers" not in sys.modules
    assert made.query("x") == direction([1.0, 0.5])
    assert made.documents(["x", "y"]) == [direction([1.0, -0.5])] * 2
    with pytest.raises(FabulaError, match="no such model"):
        TransformerEmbedder("absent").query("x")
    monkeypatch.delitem(sys.modules, "sentence_transformers")


def test_sentence_transformers_that_are_not_installed_are_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(FabulaError) as refused:
        TransformerEmbedder("mini").query("x")
    assert refused.value.code == "ERR_EXTRA_MISSING"
    assert refused.value.suggestions == ("pip install sentence-transformers",)
