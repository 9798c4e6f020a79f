"""LLVM's text, written line by line."""

from __future__ import annotations

from simt.machine.compiled.context import HELPERS, Helper

LANES = 8
"""Lanes that an instruction computes at once: a register of AVX-512 holds 8 slots; where they are narrower LLVM takes
several."""


class Text:
    """The lines of one function, what it declares, and the modules that it is linked with."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.linked: dict[str, str] = {}
        """Functions of one lane that are called, not widened: their modules by name."""
        self.block = ""
        self.active = "%active"
        """The value of the active lanes, in this block."""
        self._names = 0
        self._places: dict[tuple[str, int | str], str] = {}
        """Addresses that the block has worked out."""

    def name(self) -> str:
        """A new name of a value."""
        self._names += 1
        return f"%v{self._names}"

    def new_label(self, stem: str) -> str:
        """A new name of a block."""
        self._names += 1
        return f"{stem}{self._names}"

    def line(self, text: str) -> None:
        """Append an instruction."""
        self.lines.append("  " + text)

    def value(self, text: str) -> str:
        """Append an instruction with a result; its name."""
        name = self.name()
        self.line(f"{name} = {text}")
        return name

    def label(self, name: str) -> None:
        """Begin a block."""
        self.lines.append(f"{name}:")
        self.block = name
        self._places.clear()

    def fork(self, condition: str, yes: str, no: str) -> None:
        """Go on at one of two blocks."""
        self.line(f"br i1 {condition}, label %{yes}, label %{no}")

    def declare(self, text: str) -> None:
        """Declare a function of LLVM's."""
        self.declared.add(text)

    def at(self, base: str, index: int | str) -> str:
        """Address of element *index* of 64-bit slots."""
        if index == 0:
            return base
        if (base, index) not in self._places:
            self._places[base, index] = self.value(f"getelementptr i64, ptr {base}, i64 {index}")
        return self._places[base, index]

    def take_back(self, lines: int, block: str) -> None:
        """Drop all lines but the first *lines*, the last of which are of *block*."""
        del self.lines[lines:]
        self.block = block
        self._places.clear()

    def load(self, base: str, index: int | str) -> str:
        """A slot."""
        return self.value(f"load i64, ptr {self.at(base, index)}, align 8")

    def pointer(self, base: str, index: int | str) -> str:
        """A slot that is an address."""
        return self.value(f"load ptr, ptr {self.at(base, index)}, align 8")

    def call(self, helper: Helper, context: str, *arguments: str) -> str:
        """Call a function whose address the context has; arguments without a type are slots."""
        function = self.pointer(context, HELPERS[helper])
        given = ", ".join(argument if " " in argument else f"i64 {argument}" for argument in arguments)
        return self.value(f"call i64 {function}({given})")

    def spread(self, value: str, lanes: int) -> str:
        """A slot's value in all of so many lanes."""
        kind = f"<{lanes} x i64>"
        one = self.value(f"insertelement {kind} poison, i64 {value}, i64 0")
        return self.value(f"shufflevector {kind} {one}, {kind} poison, <{lanes} x i32> zeroinitializer")

    def store(self, value: str, base: str, index: int | str) -> None:
        """Set a slot."""
        self.line(f"store i64 {value}, ptr {self.at(base, index)}, align 8")

    def blend(self, value: str, place: str, lanes: int, mask: str) -> None:
        """Set those of so many slots at an address that a mask of bits names.

        The others are read and written again, in one store: of a masked store, which LLVM would make of this were it
        not volatile, processors forward nothing to the loads behind it.
        """
        slots = f"<{lanes} x i64>"
        old = self.value(f"load {slots}, ptr {place}, align 8")
        new = self.value(f"select <{lanes} x i1> {mask}, {slots} {value}, {slots} {old}")
        self.line(f"store volatile {slots} {new}, ptr {place}, align 8")

    def add(self, base: str, index: int | str, value: str) -> None:
        """Add to a slot."""
        self.store(self.value(f"add i64 {self.load(base, index)}, {value}"), base, index)


def splat(value: int | str, lanes: int, kind: str = "i64") -> str:
    """The constant in so many lanes."""
    return "<" + ", ".join([f"{kind} {value}"] * lanes) + ">"
