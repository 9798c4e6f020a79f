"""Why a metric is what it is: terms that add up exactly to it, by line and by cause."""

from simt.reasons.accesses import access_patterns
from simt.reasons.explanation import DEFAULT, Explanation, explain
from simt.reasons.terms import Term

__all__ = ["DEFAULT", "Explanation", "Term", "access_patterns", "explain"]
