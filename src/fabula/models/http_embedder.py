"""Embedders that are servers: OpenAI's form of request, which many programs speak, and Ollama's.

Nothing is asked unless a person configured the address. Redirections are not followed: they would carry the key
elsewhere. Proxies of the environment are not used.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.models.embedding import direction

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH: Final = 64  # texts of one request
LARGEST_ANSWER: Final = 64 << 20  # bytes
LONGEST_TEXT: Final = 8_000  # characters; models take some 8,000 tokens at most, and cut or refuse what is longer
_SHOWN = 200  # characters of a server's own words in an error


class HttpEmbedder:
    """Embeds by a server. ``answers`` reads the vectors out of its answer to one batch, in order."""

    most_at_once = BATCH

    def __init__(self, provider: str, model: str, url: str, key: str = "", timeout: float = 10.0) -> None:
        """Check the address. Raises ``ERR_CONFIG`` for what is none, and for a key that would travel unencrypted."""
        self._provider, self._model, self._key, self._timeout = provider, model, key, timeout
        self._url = url.rstrip("/") + ("/api/embed" if provider == "ollama" else "/embeddings")
        if not model:
            raise FabulaError("ERR_CONFIG", f"embedding.provider is {provider}, and embedding.model names no model")
        scheme, host = _address(url)
        if scheme not in {"http", "https"} or not host:
            raise FabulaError("ERR_CONFIG", f"embedding.url is no address of a server: {url!r}")
        if key and scheme == "http" and not (host in {"localhost", "::1"} or host.startswith("127.")):
            raise FabulaError(
                "ERR_CONFIG", f"the key for {url} would travel unencrypted: use https, or a server on this machine"
            )

    @property
    def space(self) -> str:
        """The provider, the model and the server: two servers may call different models by one name."""
        return f"{self._provider}/{self._model}/{digest(self._url.encode())[:4].hex()}"

    def documents(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector for each text, by requests of :data:`BATCH` texts. Raises ``ERR_EMBEDDER``."""
        found: list[bytes] = []
        for start in range(0, len(texts), BATCH):
            found += self._asked([text[:LONGEST_TEXT] for text in texts[start : start + BATCH]])
        return found

    def query(self, text: str) -> bytes:
        """Return the vector of a query. Raises ``ERR_EMBEDDER``."""
        return self._asked([text[:LONGEST_TEXT]])[0]

    def _asked(self, texts: list[str]) -> list[bytes]:
        body = self._post({"model": self._model, "input": texts})
        try:
            if self._provider == "ollama":
                rows = body["embeddings"]
            else:
                rows = [one["embedding"] for one in sorted(body["data"], key=lambda one: int(one.get("index", 0)))]
            vectors = [direction([float(one) for one in row]) for row in rows]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._failed(f"its answer holds no vectors ({error})") from error
        if len(vectors) != len(texts) or len({len(one) for one in vectors if one}) > 1:
            raise self._failed(f"it answered {len(vectors)} vectors of uneven length or number for {len(texts)} texts")
        return vectors

    def _post(self, body: dict[str, Any]) -> Any:
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import Request

        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self._url, json.dumps(body).encode(), headers, method="POST")  # noqa: S310 - checked above
        try:
            with _opener().open(request, timeout=self._timeout) as answer:
                data = answer.read(LARGEST_ANSWER + 1)
        except HTTPError as error:
            with error:
                said = error.read(_SHOWN).decode("utf-8", "replace").strip()
            raise self._failed(f"it answered {error.code}: {said or error.reason}") from error
        except (OSError, HTTPException) as error:
            raise self._failed(str(getattr(error, "reason", error)) or type(error).__name__) from error
        if len(data) > LARGEST_ANSWER:
            raise self._failed(f"its answer is larger than {LARGEST_ANSWER} bytes")
        try:
            return json.loads(data)
        except ValueError as error:
            raise self._failed("its answer is no JSON") from error

    def _failed(self, why: str) -> FabulaError:
        why = why.replace(self._key, "…") if self._key else why
        return FabulaError(
            "ERR_EMBEDDER", f"the embedding server at {self._url} gave no vectors: {why}", "fabula config"
        )


def _address(url: str) -> tuple[str, str]:
    """Return scheme and host of an address, both "" when it is none."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or ""
    except ValueError:
        return "", ""


def _opener() -> Any:
    from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

    class NoRedirection(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    return build_opener(ProxyHandler({}), NoRedirection)
