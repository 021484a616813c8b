"""Words that say nothing about what is looked for: dropped from a query as long as other words remain."""

from __future__ import annotations

STOP_WORDS = frozenset(
    "a about after again all also am an and any anything are as at be because been before being but by can cannot "
    "could did do does doing don during each either else ever every few for from get gets getting give given go "
    "goes going got had has have having he her here hers him his how however i if in into is isn it its itself "
    "just let like ll lot made make makes many may maybe me might mine more most much must my need neither no nor "
    "not of off often oh on once one only onto or other our ours out over own please quite rather re really s "
    "said same say says she should since so some someone something soon still such t tell than that the their "
    "theirs them then there these they thing things this those though through to together too toward under until "
    "up upon us very via want wants was wasn way we well were what whatever when where whether which while who "
    "whom whose why will with within without won would yes yet you your yours".split()
)


def is_stop_word(word: str) -> bool:
    """Say whether a word of a query carries no meaning by itself; its case and punctuation do not matter."""
    core = word.strip(".,;:!?\"'()[]{}…“”‘’").lower()
    return core in STOP_WORDS or core.replace("’", "'").partition("'")[0] in STOP_WORDS
