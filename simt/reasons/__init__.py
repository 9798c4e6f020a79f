"""Why a metric is what it is: terms that add up exactly to it, by line and by cause."""

from simt.reasons.accesses import Accesses, access_patterns, accesses_of
from simt.reasons.explanation import DEFAULT, Explanation, explain
from simt.reasons.facts import Fact
from simt.reasons.rounds import Loop, rounds_of
from simt.reasons.terms import Term

__all__ = [
    "DEFAULT",
    "Accesses",
    "Explanation",
    "Fact",
    "Loop",
    "Term",
    "access_patterns",
    "accesses_of",
    "explain",
    "rounds_of",
]
