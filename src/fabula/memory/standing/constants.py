"""Every number by which the standing of a memory is judged, in one place.

Values are those of the memhtml format's own tools, so that both judge a corpus alike; what is ours says so.
"""

from __future__ import annotations

from typing import Final

# ── fixed point (decay, outcomes) ───────────────────────────────────
GRID: Final = 10_000  # parts of one
CONFIDENCE_ALPHA: Final = 0.1
CONFIDENCE_FLOOR: Final = 0.2
MATERIAL_CHANGE: Final = 0.005  # a smaller change of a confidence is not worth a word
OUTCOME_ALPHA: Final = 0.3

# ── reading and reinforcing ─────────────────────────────────────────
COOLDOWN_MS: Final = 900_000  # readings of one memory that follow sooner count as one
SIGNALS: Final = {"positive": 1.0, "negative": -1.0, "neutral": 0.0}

# ── retention ───────────────────────────────────────────────────────
KEEP_ABOVE: Final = 0.7
EVICT_UP_TO: Final = 0.3
ACCESSES_FULL: Final = 10
BRIDGES_FULL: Final = 5
SUPPORTS_FULL: Final = 5
WORDS_FULL: Final = 100
WORDS_FEW: Final = 10  # below them a memory says half as much
CONTRADICTIONS_FULL: Final = 3
SCORE_DIGITS: Final = 4
GRAPH_EDGES_LEAST: Final = 10  # ours: with fewer edges the graph says nothing of anyone
GRAPH_UNKNOWN: Final = 0.5  # ours: what the graph says then

# ── who may be evicted (ours) ───────────────────────────────────────
EVICT_AGE_DAYS: Final = 30
EVICT_NIGHTS: Final = 3  # in which the score was low, one after the other
EVICT_LEAST_CAP: Final = 5  # in one night, and at least as many as
EVICT_CAP_SHARE: Final = 0.01  # of the corpus

# ── reprieve ────────────────────────────────────────────────────────
REPRIEVE_FROM: Final = 0.5
REPRIEVES_MOST: Final = 3
REPRIEVE_DAYS: Final = 14
IMPORTANCE_LEAST: Final = 1
IMPORTANCE_MOST: Final = 10
FADING_PER_HOUR: Final = 0.01  # of the memory of a reading, in reprieve and salience

# ── ranking ─────────────────────────────────────────────────────────
RRF_K: Final = 60
MMR_LAMBDA: Final = 0.5
DISAGREEING_FACTOR: Final = 0.5  # what is left of the weaker of two that say the same but for a "not"
DISAGREEING_COSINE: Final = 0.9  # from which two say the same

# ── graph ───────────────────────────────────────────────────────────
PAGERANK_DAMPING: Final = 0.85
PAGERANK_ROUNDS: Final = 100
PAGERANK_TOLERANCE: Final = 1e-6  # of the sum of changes, per node
COMMUNITY_SWEEPS: Final = 100
COMMUNITY_LEAST: Final = 3
NEIGHBOUR_DEPTH: Final = 2

# ── near duplicates, neighbours, frames ─────────────────────────────
MERGE_ABOVE: Final = 0.92
MERGES_MOST: Final = 100
RELATED_FROM: Final = 0.85
RELATED_EACH: Final = 5
RELATED_MOST: Final = 2000
FRAME_LEAST_WORDS: Final = 3
FRAME_VALUE_MOST_WORDS: Final = 6
