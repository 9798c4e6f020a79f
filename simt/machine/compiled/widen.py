"""From the code of one lane to that of several: LLVM's scalar instructions with vectors instead of scalars.

A function with branches is made one without: each block has a mask of the lanes that come to it, and where ways meet a
value is selected by the mask of the way.  All blocks are executed for all lanes, so nothing in them may have an effect
or fail: in lanes that do not come there divisors are 1, and constant arrays are not read; functions with loops, other
memory or calls are :class:`NotWide`.

Flags by which LLVM may take a result for undefined (``nsw``) are dropped: Numba sets them, but integers wrap here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from simt.disk_cache import digest
from simt.machine.compiled.text import Text, splat


class NotWide(Exception):
    """The function cannot be executed in vectors; the text says why."""


_FLAGS = re.compile(
    r"\b(?:nsw|nuw|nusw|exact|disjoint|nneg|samesign|inbounds|nnan|ninf|nsz|arcp|contract|afn|reassoc|fast"
    r"|tail|musttail|notail|noundef|zeroext|signext) "
)
_RANGE = re.compile(r"range\([^)]*\) ")
_TYPE = r"(?:i\d+|float|double|ptr)"
_NAME = r'%(?:[-\w.$]+|"[^"]*")'
_TABLE = re.compile(r"^(@[-\w.$]+) = [^\n]*?constant (\[[^\n]*?)(?:, align \d+)?$", re.MULTILINE)
_LABEL = re.compile(r'^([-\w.$]+|"[^"]*"):')
_ATTRIBUTES = re.compile(r"(?: (?:#\d+|!\w+(?: !\d+)?,?))+$|, ![\w.]+ !\d+")
_INTRINSICS = re.compile(
    r"llvm\.(?:abs|[su](?:min|max)|ct(?:pop|lz|tz)|bswap|bitreverse|fsh[lr]|[us](?:add|sub)\.sat"
    r"|fabs|sqrt|floor|ceil|trunc|rint|nearbyint|roundeven|copysign|fma|m(?:in|ax)num)"
)
"""Functions that LLVM has for vectors, too."""
_SAME = {"sqrt": "llvm.sqrt.f64", "sqrtf": "llvm.sqrt.f32"}
"""Functions of the C library that an intrinsic computes to the last bit."""
_POISONS = frozenset({"llvm.abs", "llvm.ctlz", "llvm.cttz"})
"""Those whose second argument says that some values need no result."""
_DIVISIONS = frozenset({"sdiv", "udiv", "srem", "urem"})

Edge = tuple[str, str]
Mask = str | None
"""The name of a mask of lanes, or None: all."""


@dataclass
class _Block:
    lines: list[str] = field(default_factory=list)
    phis: list[str] = field(default_factory=list)
    end: str = ""


class Scalar:
    """The function ``lane`` of a module's text: its parameters and its blocks in the order in which they run."""

    def __init__(self, module: str) -> None:
        match = re.search(r"^define [^\n]*@lane\(([^\n]*?)\)[^\n]*\{\n(.*?)^\}", module, re.DOTALL | re.MULTILINE)
        if match is None:
            raise NotWide("no function")
        self.parameters = re.findall(_NAME, match[1])
        self.tables = dict(_TABLE.findall(module))
        """Constant arrays: what they hold, by name."""
        self.blocks = self._parsed(match[2])
        self.order = self._ordered()

    def _parsed(self, body: str) -> dict[str, _Block]:
        body = re.sub(r"\[\n(.*?)\n\s*\]", lambda found: "[" + " ".join(found[1].split()) + "]", body, flags=re.DOTALL)
        blocks: dict[str, _Block] = {}
        block = blocks[""] = _Block()
        for raw in body.splitlines():
            line = _FLAGS.sub("", _RANGE.sub("", _ATTRIBUTES.sub("", raw.split(";")[0].rstrip())).strip())
            if not line:
                continue
            label = _LABEL.match(line)
            if label and (len(blocks) > 1 or block.lines or block.end):  # else it is the name of the first block
                block = blocks[label[1]] = _Block()
            elif label:
                continue
            elif " = phi " in line:
                block.phis.append(line)
            elif line.startswith(("br ", "ret ", "switch ", "unreachable")):
                block.end = line
            else:
                block.lines.append(line)
        return blocks

    def _ordered(self) -> list[str]:
        """Blocks, each after all from which it is reached."""
        done: list[str] = []
        open_: set[str] = set()

        def visit(label: str) -> None:
            if label in open_:
                raise NotWide("a loop")
            if label not in done:
                open_.add(label)
                for target in _targets(self.blocks[label].end):
                    visit(target)
                open_.discard(label)
                done.append(label)

        visit("")
        return done[::-1]


@cache
def scalar_of(module: str) -> Scalar:
    """The function of a module's text, taken apart once.  Raises NotWide."""
    return Scalar(module)


def _targets(end: str) -> list[str]:
    found: list[str] = re.findall(r'label %("[^"]*"|[-\w.$]+)', end)
    return found


_BITWISE = re.compile(rf"({_NAME}) = (and|or|xor) i64 (\S+), (\S+)")


def of_bits(scalar: Scalar, lanes: int, text: Text, arguments: list[str]) -> str:
    """Emit a function of masks, each the bits of *lanes* lanes: of vectors of bits.  Raises NotWide."""
    form = f"<{lanes} x i1>"
    names: dict[str, str] = dict(zip(scalar.parameters, arguments, strict=False))

    def operand(name: str) -> str:
        if name in names:
            return names[name]
        bits = int(name) & 0xFFFFFFFF
        if bits not in (0, 0xFFFFFFFF):
            raise NotWide(name)
        return splat("true" if bits else "false", lanes, "i1")

    if len(scalar.order) > 1:
        raise NotWide("branches")
    for line in scalar.blocks[""].lines:
        match = _BITWISE.fullmatch(line)
        if match is None:
            raise NotWide(line)
        names[match[1]] = text.value(f"{match[2]} {form} {operand(match[3])}, {operand(match[4])}")
    return operand(scalar.blocks[""].end.split()[-1])


class Widener:
    """Emits a scalar function for *lanes* lanes at once (1: as it is, but without branches)."""

    def __init__(self, scalar: Scalar, lanes: int, text: Text) -> None:
        self.scalar = scalar
        self.lanes = lanes
        self.text = text
        self.names: dict[str, str] = {}
        self.masks: dict[str, Mask] = {"": None}
        self.edges: dict[Edge, Mask] = {}

    def emit(self, arguments: list[str]) -> str:
        """Emit the function of these arguments, vectors of i64; the name of its result."""
        self.names.update(zip(self.scalar.parameters, arguments, strict=False))
        results: list[tuple[str, str]] = []
        for label in self.scalar.order:
            block = self.scalar.blocks[label]
            if label:
                self._meet(label)
            for phi in block.phis:
                self._phi(label, phi)
            for line in block.lines:
                self._instruction(line, self.masks[label])
            self._end(label, block.end, results)
        result = results[0][1]
        for label, value in results[1:]:
            result = self.text.value(
                f"select {self.type('i1')} {self.masks[label]}, {self.type('i64')} {value}, {self.type('i64')} {result}"
            )
        return result

    def type(self, scalar: str) -> str:
        """The type of so many."""
        return scalar if self.lanes == 1 else f"<{self.lanes} x {scalar}>"

    def operand(self, text: str, kind: str) -> str:
        """A value of a scalar type, as it is named here."""
        text = text.strip()
        if text.startswith("%"):
            return self.names[text]
        if text.startswith("@"):
            text = self._table(text)
        if self.lanes == 1 or text in ("poison", "undef", "zeroinitializer"):
            return text
        return "<" + ", ".join([f"{kind} {text}"] * self.lanes) + ">"

    def _both(self, mask: Mask, condition: str) -> str:
        """Lanes of *mask* in which a condition holds; elsewhere it may have no value."""
        if mask is None:
            return condition
        kind = self.type("i1")
        return self.text.value(f"select {kind} {mask}, {kind} {condition}, {kind} {self.operand('false', 'i1')}")

    def _not(self, condition: str) -> str:
        return self.text.value(f"xor {self.type('i1')} {condition}, {self.operand('true', 'i1')}")

    def _add_edge(self, source: str, target: str, mask: Mask) -> None:
        old = self.edges.get((source, target))
        if old is not None and mask is not None:
            mask = self.text.value(f"or {self.type('i1')} {old}, {mask}")
        self.edges[source, target] = mask

    def _meet(self, label: str) -> None:
        ways = [way for (_, target), way in self.edges.items() if target == label]
        mask = ways[0]
        for way in ways[1:]:
            mask = None if mask is None or way is None else self.text.value(f"or {self.type('i1')} {mask}, {way}")
        self.masks[label] = mask

    def _phi(self, label: str, line: str) -> None:
        match = re.fullmatch(rf"({_NAME}) = phi ({_TYPE}) (.*)", line)
        if match is None:
            raise NotWide(line)
        kind = self.type(match[2])
        result = ""
        for value, source in re.findall(r'\[ (.*?), %("[^"]*"|[-\w.$]+) \]', match[3]):
            source = "" if source not in self.scalar.blocks else source
            if (source, label) not in self.edges:
                continue
            way, here = self.edges[source, label], self.operand(value, match[2])
            if not result or way is None:
                result = here
            else:
                result = self.text.value(f"select {self.type('i1')} {way}, {kind} {here}, {kind} {result}")
        self.names[match[1]] = result

    def _end(self, label: str, line: str, results: list[tuple[str, str]]) -> None:
        mask = self.masks[label]
        targets = _targets(line)
        if match := re.fullmatch(r"ret i64 (\S+)", line):
            results.append((label, self.operand(match[1], "i64")))
        elif re.match(r"br label", line):
            self._add_edge(label, targets[0], mask)
        elif match := re.match(rf"br i1 ({_NAME}),", line):
            condition = self.names[match[1]]
            self._add_edge(label, targets[0], self._both(mask, condition))
            self._add_edge(label, targets[1], self._both(mask, self._not(condition)))
        elif match := re.match(rf"switch ({_TYPE}) ({_NAME}), label", line):
            self._switch(label, mask, match[1], match[2], line)
        elif line != "unreachable":
            raise NotWide(line)

    def _switch(self, label: str, mask: Mask, kind: str, name: str, line: str) -> None:
        value, others = self.names[name], ""
        for case, target in re.findall(rf'{kind} (-?\w+), label %("[^"]*"|[-\w.$]+)', line.split("[", 1)[1]):
            hit = self.text.value(f"icmp eq {self.type(kind)} {value}, {self.operand(case, kind)}")
            others = hit if not others else self.text.value(f"or {self.type('i1')} {others}, {hit}")
            self._add_edge(label, target, self._both(mask, hit))
        rest = self._not(others) if others else None
        self._add_edge(label, _targets(line)[0], mask if rest is None else self._both(mask, rest))

    def _instruction(self, line: str, mask: Mask) -> None:
        match = re.fullmatch(rf"({_NAME}) = (.*)", line)
        if match is None:
            raise NotWide(line)
        self.names[match[1]] = self.text.value(self._wide(match[2], mask))

    def _wide(self, text: str, mask: Mask) -> str:
        vector, operand = self.type, self.operand
        if m := re.fullmatch(r"getelementptr (i\d+), ptr (\S+), i64 (\S+)", text):
            return (
                f"getelementptr {m[1]}, {vector('ptr')} {operand(m[2], 'ptr')}, {vector('i64')} {operand(m[3], 'i64')}"
            )
        if m := re.fullmatch(rf"load ({_TYPE}), ptr (\S+), align (\d+)", text):
            return self._gather(m[1], operand(m[2], "ptr"), m[3], mask)
        if m := re.fullmatch(rf"call ({_TYPE}) @([\w.]+)\((.*)\)", text):
            return self._call(m[1], _SAME.get(m[2], m[2]), m[3])
        if m := re.fullmatch(rf"([if]cmp \w+) ({_TYPE}) (\S+), (\S+)", text):
            return f"{m[1]} {vector(m[2])} {operand(m[3], m[2])}, {operand(m[4], m[2])}"
        if m := re.fullmatch(rf"select i1 (\S+), ({_TYPE}) (\S+), {_TYPE} (\S+)", text):
            kind, first, second = vector(m[2]), operand(m[3], m[2]), operand(m[4], m[2])
            return f"select {vector('i1')} {operand(m[1], 'i1')}, {kind} {first}, {kind} {second}"
        if m := re.fullmatch(rf"([a-z]+) ({_TYPE}) (\S+) to ({_TYPE})", text):
            value = self._exact(operand(m[3], m[2]), m[2]) if m[1] in ("fptrunc", "fpext") else operand(m[3], m[2])
            return f"{m[1]} {vector(m[2])} {value} to {vector(m[4])}"
        if m := re.fullmatch(rf"(fneg|freeze) ({_TYPE}) (\S+)", text):
            return f"{m[1]} {vector(m[2])} {operand(m[3], m[2])}"
        if m := re.fullmatch(rf"([a-z]+) ({_TYPE}) (\S+), (\S+)", text):
            if m[1] == "frem":
                raise NotWide(text)
            first, second = self._exact(operand(m[3], m[2]), m[2]), self._exact(operand(m[4], m[2]), m[2])
            if m[1] in _DIVISIONS and mask is not None:
                kind = vector(m[2])
                second = self.text.value(f"select {vector('i1')} {mask}, {kind} {second}, {kind} {operand('1', m[2])}")
            return f"{m[1]} {vector(m[2])} {first}, {second}"
        raise NotWide(text)

    def _table(self, name: str) -> str:
        """A constant array of the function's module."""
        if name not in self.scalar.tables:
            raise NotWide(name)
        contents = self.scalar.tables[name]
        own = f"@table.{digest(contents)[:16]}"
        self.text.declare(f"{own} = internal constant {contents}, align 64")
        return own

    def _gather(self, kind: str, places: str, align: str, mask: Mask) -> str:
        """Elements of constant arrays, in lanes that come there."""
        if self.lanes == 1:
            raise NotWide("a load")
        form, several = self.type(kind), f"v{self.lanes}{kind}.v{self.lanes}p0"
        self.text.declare(
            f"declare {form} @llvm.masked.gather.{several}({self.type('ptr')}, i32, {self.type('i1')}, {form})"
        )
        lanes = mask or self.operand("true", "i1")
        return (
            f"call {form} @llvm.masked.gather.{several}({self.type('ptr')} {places}, i32 {align}, "
            f"{self.type('i1')} {lanes}, {form} zeroinitializer)"
        )

    def _exact(self, value: str, kind: str) -> str:
        """An operand of which LLVM does not know where it comes from, if it is a float.

        Else it would leave out operations that change nothing but a NaN (x + -0 makes it quiet), as IEEE lets it.
        """
        if kind not in ("float", "double"):
            return value
        form, name = self.type(kind), {"float": "f32", "double": "f64"}[kind]
        fence = f"@llvm.arithmetic.fence.{name if self.lanes == 1 else f'v{self.lanes}{name}'}"
        self.text.declare(f"declare {form} {fence}({form})")
        return self.text.value(f"call {form} {fence}({form} {value})")

    def _call(self, kind: str, name: str, arguments: str) -> str:
        base = re.sub(r"\.(?:[if]\d+|i\d+)$", "", name)
        if _INTRINSICS.fullmatch(base) is None:
            raise NotWide(name)
        given, kinds = [], []
        for n, argument in enumerate(arguments.split(", ")):
            match = re.fullmatch(rf"({_TYPE}) (\S+)", argument)
            if match is None:
                raise NotWide(argument)
            if n == 1 and base in _POISONS:
                given.append("i1 false")
                kinds.append("i1")
            else:
                given.append(f"{self.type(match[1])} {self._exact(self.operand(match[2], match[1]), match[1])}")
                kinds.append(self.type(match[1]))
        full = name if self.lanes == 1 else f"{base}.v{self.lanes}{name[len(base) + 1 :]}"
        self.text.declare(f"declare {self.type(kind)} @{full}({', '.join(kinds)})")
        return f"call {self.type(kind)} @{full}({', '.join(given)})"
