"""The first term of an explanation names the right cause with the right figure."""

from __future__ import annotations

import pytest

import simt
from tests.machine_view import needs_nvdisasm
from tests.reasons.questions import QUESTIONS, Question


@needs_nvdisasm
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_the_first_term_is_the_answer(question: Question) -> None:
    found = simt.explain(question.a(), question.b and question.b(), question.metric, patterns=question.patterns())
    first = found.terms[0]
    said = (float(first.value), tuple(place.number for _, place in first.places), first.cause)
    assert said == (question.value, question.lines, question.cause), str(found)
    for words in question.words:
        assert words in first.text
    shown = str(found).splitlines()
    assert max(map(len, shown)) <= 80
    assert f"{question.value:,.2f}".rstrip("0").rstrip(".") in shown[1]
