"""What the settings keep of superseded generations, and which may go by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.record.vault.retention import Rules, may_go

if TYPE_CHECKING:
    from fabula.app.config import Config
    from fabula.record.vault.retention import Going
    from fabula.record.vault.vault import Vault


def rules_of(config: Config) -> Rules:
    """Return the rules that the settings give."""
    return Rules(
        generations=config["record.keep_generations"],
        days=config["record.keep_days"],
        budget=config["record.vault_budget_mb"] * 1_000_000,
    )


def in_words(rules: Rules) -> str:
    """Say what the rules keep."""
    if not rules:
        return "every generation of every file is kept"
    kept = [f"the newest {rules.generations} of each file"] if rules.generations else []
    kept += [f"what was superseded within {rules.days} days"] if rules.days else []
    kept += [f"everything while the vault is within {rules.budget / 1e6:,.0f} MB"] if rules.budget else []
    return f"kept of superseded generations: {', '.join(kept)}; never goes the last full copy of anything"


def going_by(rules: Rules, vault: Vault, now_ms: int) -> tuple[Going, ...]:
    """Return the generations of a vault that may go. Raises ``ERR_VAULT_DAMAGED``."""
    if not rules:
        return ()
    from fabula.record.rewriting.links import link_of
    from fabula.record.vault.reading import Reading
    from fabula.record.vault.retiring import sealed_generations

    journal = vault.journal
    newest = [source.generations[-1] for source in vault.sources() if source.generations]
    undone_to = [link.base for generation in newest if (link := link_of(journal, generation)) is not None]
    reading = Reading(vault.folder, journal)
    try:
        return may_go(sealed_generations(journal, reading, undone_to), rules, now_ms, vault.stats().stored_bytes)
    finally:
        reading.close()
