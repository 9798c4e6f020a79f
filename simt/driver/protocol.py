"""What the libraries in a program and the server say to each other: one table, from which C's structures follow.

A request is its number and the size of what follows (two u32), then its fields and bytes without a form; the reply
CUDA's error code and the size (i32, u32), then fields and bytes likewise.  ``note`` has no reply.  Both sides run on
one computer: numbers are in its byte order, without gaps.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import cache, cached_property

ATTRIBUTES = 192
"""Device attributes that are sent: numbers of ``CUdevice_attribute`` from 0."""

TABLE = f"""
hello      u32 process -> u64 base, u64 size, u64 memory, u32 timed, i32 attributes[{ATTRIBUTES}], u8 name[256]
load       -> u32 module
unload     u32 module ->
function   u32 module -> u32 function, u32 threads, u32 shared, u32 constant, u32 local, u32 registers, u32 architecture, u32 parameters
functions  u32 module -> u32 count
variable   u32 module -> u64 address, u64 size
allocate   u64 size, u32 kind -> u64 address
free       u64 address ->
range      u64 address -> u64 address, u64 size, u32 kind
launch     u32 function, u32 grid[3], u32 block[3], u32 shared, u32 stream, u32 cooperative -> f64 seconds, u32 sticky, u32 printed
limit      u32 which, u64 value ->
occupancy  u32 function, u32 threads, u64 dynamic -> u32 blocks
link       u32 registers, u32 level ->
image      u64 address, u64 pitch, u64 width, u64 height, u64 depth, u32 layered, u32 cube, u32 format, u32 channels, u32 surface, u32 filter, u32 normalized, u32 read, u32 seamless, u32 mode[3], f64 border[4] -> u64 handle
drop       u64 handle ->
reset      ->
profile    u32 stream ->
refused    ->
goodbye    ->
note       ->
"""  # noqa: E501  # a call a line
"""Name, fields of the request, fields of the reply."""

_C = {"u8": ("B", "unsigned char"), "u32": ("I", "uint32_t"), "i32": ("i", "int32_t"), "u64": ("Q", "uint64_t")} | {
    "f64": ("d", "double")
}
HEAD = struct.Struct("=II")
"""Number and size of a request."""
REPLY = struct.Struct("=iI")
"""CUDA's error code and size of a reply."""

DEVICE, HOST, MANAGED, MODULE = range(4)
"""Kinds of memory."""
KINDS = ("DEVICE", "HOST", "MANAGED", "MODULE")


@dataclass(frozen=True)
class Field:
    """*count* numbers of a type of C (0: a single one)."""

    type: str
    name: str
    count: int


@dataclass(frozen=True)
class Message:
    """A request and its reply."""

    number: int
    name: str
    request: tuple[Field, ...]
    reply: tuple[Field, ...]

    @cached_property
    def form(self) -> struct.Struct:
        """The request's fields."""
        return _form(self.request)

    @cached_property
    def answer(self) -> struct.Struct:
        """The reply's fields."""
        return _form(self.reply)


def _form(fields: tuple[Field, ...]) -> struct.Struct:
    return struct.Struct("=" + "".join(f"{field.count or ''}{_C[field.type][0]}" for field in fields))


def _fields(text: str) -> tuple[Field, ...]:
    found = re.findall(r"(\w+) (\w+)(?:\[(\d+)\])?", text)
    return tuple(Field(kind, name, int(count or 0)) for kind, name, count in found)


@cache
def messages() -> tuple[Message, ...]:
    """All requests, in the order of their numbers, which begin at 1."""
    found = []
    for number, line in enumerate(TABLE.strip().splitlines(), 1):
        name, _, rest = line.partition(" ")
        request, _, reply = rest.partition("->")
        found.append(Message(number, name, _fields(request), _fields(reply)))
    return tuple(found)


def header() -> str:
    """The same in C."""
    lines = ["// Made by simt/driver/protocol.py.", "#pragma once", "#include <stdint.h>"]
    lines.append(f"enum {{ {', '.join(KINDS)} }};")
    lines.append(f"enum {{ N_ATTRIBUTES = {ATTRIBUTES} }};")
    lines.append("enum { " + ", ".join(f"OP_{m.name.upper()} = {m.number}" for m in messages()) + " };")
    for message in messages():
        for what, fields in (("request", message.request), ("reply", message.reply)):
            if fields:
                members = " ".join(
                    f"{_C[field.type][1]} {field.name}{f'[{field.count}]' if field.count else ''};" for field in fields
                )
                lines.append(f"struct __attribute__((packed)) {message.name}_{what} {{ {members} }};")
    return "\n".join(lines) + "\n"
