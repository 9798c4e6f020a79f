"""Why a metric is what it is: terms that add up exactly to it, by line and by cause."""

from simt.reasons.accesses import Accesses, access_patterns, accesses_of
from simt.reasons.explanation import DEFAULT, Explanation, explain
from simt.reasons.terms import Term

__all__ = ["DEFAULT", "Accesses", "Explanation", "Term", "access_patterns", "accesses_of", "explain"]
