"""Options of a launch: the record, the keywords that type checkers know, and those of simt.launch are the same."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import get_type_hints

import pytest

import simt
from simt.calls.options import DeviceOptions, LaunchOptions, Options
from simt.check import LaunchError


def test_the_keywords_are_the_fields() -> None:
    assert get_type_hints(LaunchOptions) == get_type_hints(Options)
    assert get_type_hints(DeviceOptions).keys() ^ get_type_hints(LaunchOptions).keys() == {"device", "view"}


def test_launch_takes_the_fields_with_their_defaults() -> None:
    parameters = inspect.signature(simt.launch).parameters
    for field in fields(Options):
        assert parameters[field.name].default == field.default
        assert parameters[field.name].annotation == field.type
    assert [name for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY and name != "device"] == [
        field.name for field in fields(Options)
    ]


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(LaunchError, match="no option 'shared_byte'") as error:
        Options.of(shared_byte=3)
    assert "did you mean shared_bytes" in str(error.value)
