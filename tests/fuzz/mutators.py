"""Ways to spoil an input: bytes, lines of text, numbers, trees of JSON.

All randomness comes from the ``random`` that is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

NUMBERS = (
    0, 1, 2, 5, 6, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 99, 127, 128, 253, 254, 255, 256, 257, 1023, 1024, 4000,
    65535, 65536, 200_000_000, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30,
)  # fmt: skip
"""Numbers at and beyond the ends of the ranges of registers, barriers, sizes and integers."""


def several(random: Random, most: int) -> range:
    """One or a few times, fewer more often."""
    return range(min(1 + int(random.expovariate(0.8)), most))


def spoil_bytes(random: Random, data: bytes, places: Sequence[range] = ()) -> bytes:
    """Change, cut, insert or repeat a few bytes; ``places``: ranges that are hit as often as one another."""
    changed = bytearray(data)
    for _ in several(random, 4):
        if not changed:
            break
        place = random.choice(places) if places else range(len(changed))
        at = min(random.choice(place) if place else 0, len(changed) - 1)
        way = random.random()
        if way < 0.25:
            changed[at] ^= 1 << random.randrange(8)
        elif way < 0.45:
            changed[at] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
        elif way < 0.8:
            size = random.choice((2, 4, 8))
            at -= at % size
            value = random.choice((*NUMBERS, len(data), random.getrandbits(64)))
            changed[at : at + size] = (value % 2 ** (8 * size)).to_bytes(size, "little")
        elif way < 0.85:
            del changed[at:]
        elif way < 0.9:
            del changed[at : at + random.choice((1, 4, 8, 16, 64))]
        elif way < 0.95:
            changed[at:at] = random.randbytes(random.choice((1, 4, 16)))
        else:
            other = random.randrange(len(changed))
            changed[at : at + 16] = changed[other : other + 16]
    return bytes(changed)


def spoil_lines(random: Random, text: str) -> str:
    """Change a few lines or characters of a text."""
    lines = text.split("\n")
    for _ in several(random, 4):
        at = random.randrange(len(lines))
        way = random.random()
        if way < 0.15:
            lines[at : at + random.choice((1, 1, 2, 8))] = []
        elif way < 0.25:
            lines.insert(at, random.choice(lines) if lines else "")
        elif way < 0.3:
            del lines[at:]
        elif way < 0.5 and lines:
            words = re.split(r"(\W+)", lines[at])
            words[random.randrange(len(words))] = random.choice(re.split(r"(\W+)", random.choice(lines)))
            lines[at] = "".join(words)
        elif lines:
            line = lines[at]
            column = random.randrange(len(line) + 1)
            new = random.choice(
                ("", "\0", "é", "0", ",", "]", "[", '"', ";", "-", ".", "\x85", "P", "R", "{", "}", "\ufeff")
            )
            lines[at] = line[:column] + new + line[column + random.randrange(3) :]
        if not lines:
            lines = [""]
    return "\n".join(lines)


def spoil_numbers(random: Random, text: str, pattern: re.Pattern[str], number: Callable[[str], str]) -> str:
    """Replace what *pattern* finds, in one to a few places, by what *number* makes of it."""
    found = list(pattern.finditer(text))
    for match in sorted(random.sample(found, min(len(several(random, 6)), len(found))), key=lambda each: -each.start()):
        text = text[: match.start()] + number(match[0]) + text[match.end() :]
    return text


def spoil_tree(random: Random, tree: Any) -> Any:
    """Change a few values, names or items of nested dicts and lists, in place."""
    for _ in several(random, 3):
        holder, key = _somewhere(random, tree)
        if holder is None:
            return _odd(random, tree)
        way = random.random()
        if way < 0.7:
            holder[key] = _odd(random, holder[key])
        elif way < 0.85:
            del holder[key]
        elif isinstance(holder, dict):
            holder[random.choice(("", "lines", "é", str(key) + "x"))] = holder.pop(key)
        else:
            holder.insert(key, _odd(random, holder[key]))
    return tree


def _somewhere(random: Random, tree: Any) -> tuple[Any, Any]:
    """A dict or list within *tree* and a key of it, (None, None) if it is neither; upper levels more often."""
    holder, key = None, None
    while isinstance(tree, (dict, list)) and tree and (holder is None or random.random() < 0.7):
        holder, key = tree, random.choice(list(tree)) if isinstance(tree, dict) else random.randrange(len(tree))
        tree = holder[key]
    return holder, key


def _odd(random: Random, value: Any) -> Any:
    choices: list[Any] = [
        None, True, -1, 0, 0.5, -0.0, float("nan"), float("inf"), 1e308, "", "x", "nan", "0x10", "\x1b[31m", "[bold]",
        "é" * 300, [], [[]], {}, {"value": 1}, [value], {"a": value}, *random.sample(NUMBERS, 3),
    ]  # fmt: skip
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        choices += [-value, value + 1, value * 2**40, str(value)]
    return random.choice(choices)
