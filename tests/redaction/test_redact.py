"""Secrets leave text before it is shown; nothing else does."""

from __future__ import annotations

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.redaction.redact import find, redact
from fabula.redaction.rules import rule_book

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def noise(length: int, alphabet: str = LETTERS, seed: int = 7) -> str:
    """Text as random as a key; made here so that no test file holds a key."""
    return "".join(random.Random(seed * 1000 + length).choices(alphabet, k=length))


HEX = "0123456789abcdef"
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join(noise(64, seed=n) for n in range(6))
    + "\n-----END RSA PRIVATE KEY-----"
)
JWT = f"eyJ{noise(30)}.eyJ{noise(40)}.{noise(43)}"

SECRETS = [
    ("aws", "AKIA" + noise(16, UPPER)),
    ("aws secret", f'aws_secret_access_key = "{noise(40)}"'),
    ("github", "ghp_" + noise(36)),
    ("github fine-grained", "github_pat_" + noise(82)),
    ("gitlab", "glpat-" + noise(20)),
    ("slack bot", f"xoxb-{noise(12, '0123456789')}-{noise(12, '0123456789')}-{noise(24)}"),
    ("slack hook", f"https://hooks.slack.com/services/T{noise(10, UPPER)}/B{noise(10, UPPER)}/{noise(24)}"),
    ("stripe", "sk_live_" + noise(24)),
    ("google", "AIza" + noise(35)),
    ("google oauth", "GOCSPX-" + noise(28)),
    ("anthropic", "sk-ant-api03-" + noise(93) + "AA"),
    ("anthropic short", "sk-ant-oat01-" + noise(40)),
    ("openai", "sk-proj-" + noise(74) + "T3BlbkFJ" + noise(74, seed=2)),
    ("openai short", "sk-proj-" + noise(48)),
    ("npm", "npm_" + noise(36)),
    ("npmrc", "//npm.example.com/:_authToken=" + noise(36)),
    ("pypi", "pypi-AgEIcHlwaS5vcmc" + noise(80)),
    ("hugging face", "hf_" + noise(34, LETTERS[:52])),
    ("jwt", JWT),
    ("sendgrid", "SG." + noise(22) + "." + noise(43)),
    ("twilio", "SK" + noise(32, HEX)),
    ("docker", "dckr_pat_" + noise(27)),
    ("digital ocean", "dop_v1_" + noise(64, HEX)),
    ("age", "AGE-SECRET-KEY-1" + noise(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")),
    ("pem", PEM),
    ("pem in json", PEM.replace("\n", "\\n")),
    ("connection string", "postgresql://shop:" + noise(14) + "@db.internal:5432/shop"),
    ("redis", "redis://:" + noise(20) + "@cache:6379/0"),
    ("bearer", "Authorization: Bearer " + noise(40)),
    ("curl user", f"curl -u ann:{noise(12)} https://shop.example/api"),
    ("curl header", f"curl -H 'Authorization: Bearer {noise(30)}' https://shop.example"),
    ("generic key", f'"api_key": "{noise(40)}"'),
    ("password", 'password = "S3cr!t-P4ss_word9"'),
    ("environment", "export SHOP_API_TOKEN=" + noise(24)),
    ("datadog", "datadog_api_key: " + noise(40, HEX)),
    ("azure storage", "AccountKey=" + noise(86) + "=="),
]


@pytest.mark.parametrize(("name", "text"), SECRETS, ids=[name for name, _ in SECRETS])
@pytest.mark.parametrize("around", ["{}", "before {} after", 'line\n{}\nline "x"', "x = '{}';"])
def test_a_secret_is_replaced_and_the_text_around_it_stays(name: str, text: str, around: str) -> None:
    whole = around.format(text)
    out = redact(whole)
    assert "[redacted: " in out
    longest = max((whole[found.start : found.end] for found in find(whole)), key=len)
    assert longest not in out
    assert len(longest) >= 8
    before, after = around.split("{}")
    assert out.startswith(before)
    assert out.endswith(after)


def test_the_mark_names_the_rule() -> None:
    assert redact("key ghp_" + noise(36)) == "key [redacted: github-pat]"
    assert redact(f"postgres://bob:{noise(12)}@db/x") == "postgres://bob:[redacted: url-password]@db/x"


HARMLESS = [
    "commit 3f2a9c41d7e8b6a5c4d3e2f1a0b9c8d7e6f5a4b3",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "cache_key = 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "session 0198d0f3-5c55-7d2e-9b60-2f6b1a7c9d3e",
    "token_id: 0198d0f3-5c55-7d2e-9b60-2f6b1a7c9d3e",
    "toolu_01A2b3C4d5E6f7G8h9J0kLmN and msg_01XyZ9a8b7c6d5e4f3g2h1",
    "AKIAIOSFODNN7EXAMPLE",
    "api_key = os.environ['SHOP_API_KEY']",
    "api_key: ${SHOP_API_KEY}",
    "password = 'changeme'",
    "password: str = field(default='')",
    "postgres://postgres:postgres@localhost:5432/test",
    "https://user:password@host.example/path",
    "redis://cache:6379/0 and http://localhost:8080/a?b=c",
    "def get_access_token(client_id: str, scope: str) -> Token:",
    "const tokens = estimate_tokens(text); // about 12345 tokens",
    "ssh://git@shop.example:22/ann/shop.git",
    "src/components/session_pagination_1649.tsx:120:14",
    "2026-01-13T16:00:23.581Z [INFO] request_id=req_8f3 took 120ms",
    "import { createToken } from './auth/token-service-v2';",
    "Bearer tokens are sent in the Authorization header.",
    "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 60).decode(),
    "integrity sha512-" + base64.b64encode(bytes(range(64))).decode(),
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "the secret of the key is a token of the password",
    "",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_several_secrets_in_one_text_are_each_replaced() -> None:
    text = " and ".join(text for _, text in SECRETS[:8])
    assert redact(text).count("[redacted: ") == 8


@given(st.lists(st.one_of(st.sampled_from([text for _, text in SECRETS]), st.text(max_size=30)), max_size=4))
def test_redacting_twice_changes_nothing_more(parts: list[str]) -> None:
    once = redact(" ".join(parts))
    assert redact(once) == once


@given(st.text(max_size=300))
def test_text_outside_the_findings_is_kept_to_the_character(text: str) -> None:
    findings = find(text)
    position, kept = 0, ""
    for found in findings:
        assert position <= found.start < found.end <= len(text)
        kept += text[position : found.start] + f"[redacted: {found.rule}]"
        position = found.end
    assert redact(text) == kept + text[position:]


def test_letters_that_grow_when_lowered_move_nothing() -> None:
    assert redact("İ" * 20 + " ghp_" + noise(36)) == "İ" * 20 + " [redacted: github-pat]"


def test_a_mark_of_an_earlier_redaction_is_left_alone() -> None:
    text = 'secret_key = "[redacted: 1password-secret-key]"'
    assert redact(text) == text


def test_every_rule_compiles_and_has_keywords() -> None:
    book = rule_book()
    assert len(book.rules) > 240
    assert len({rule.id for rule in book.rules}) == len(book.rules)
    for rule in book.rules:
        assert rule.keywords
        assert rule.expression.pattern
        assert rule.allowed


@pytest.mark.parametrize(
    "text",
    [
        "curl " * 2_000,
        "curl -u " * 2_000,
        "password=" * 2_000,
        "http://a:" * 2_000,
        "-----BEGIN PRIVATE KEY-----\n" * 500,
        ("token_1" * 1_100 + " ") * 3,
        ("key=" * 2_000 + " ") * 3,
        "\n" * 20_000,
        "aws_secret=" * 2_000,
    ],
)
def test_text_made_to_be_slow_ends(text: str) -> None:
    assert len(find(text)) < len(text)  # minutes and hours when a rule runs wild


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9])
def test_a_private_key_whose_end_was_cut_off_goes_as_well(kept: float) -> None:
    for text in (PEM, PEM.replace("\n", " "), PEM.replace("\n", "\\n")):
        cut = text[: int(len(text) * kept)]
        assert redact(f"use {cut}") == "use [redacted: private-key-begun]"


def test_talk_about_private_keys_stays() -> None:
    text = "A file that begins with -----BEGIN RSA PRIVATE KEY----- and then has lines of letters is a key."
    assert redact(text) == text
