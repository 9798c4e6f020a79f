"""Takes the host's part out of CUDA C, so that a compiler without a host compiler can read the rest.

A ``.cu`` file holds ``main`` and other functions of the host beside its kernels; NVRTC takes device code alone.  What
nvcc would give to the host compiler only is replaced by blanks, so that every line keeps its number:

* functions without ``__global__``, ``__device__`` or a macro that stands for one of these, unless ``constexpr``;
* other declarations that name something of ``std``.

This is a reader of declarations, not a parser: where it does not understand, it leaves the text alone, and the
compiler has the last word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""
      (?P<comment>//(?:[^\n\\]|\\.)*|/\*.*?\*/)
    | (?P<directive>^[ \t]*\#(?:/\*.*?\*/|[^\n\\]|\\.)*)
    | (?P<text>(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<number>\d(?:[\w.]|'\w)*)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<mark_of_code>[^\s\w])
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_ANNOTATIONS = frozenset({"__global__", "__device__", "__constant__", "__shared__", "__managed__", "__grid_constant__"})
_DEFINE = re.compile(r"\s*#\s*define\s+(\w+)(.*)", re.DOTALL)
_CONSTANT = {"constexpr", "consteval"}
_WITH_PARENTHESES = {"__align__", "alignas", "__attribute__", "__declspec", "decltype"}
_ACCESS = {"public", "private", "protected"}
_PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Token:
    """A piece of the source: its text and where it starts."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where the next character is."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class DeviceCode:
    """The device's part of a source.  ``templates``: the names of its kernels that are templates."""

    text: str
    templates: tuple[str, ...]


def device_code(source: str) -> DeviceCode:
    """*source* with the host's part blanked, line for line."""
    reader = _Reader(source)
    reader.read()
    text = source
    for start, end in reader.of_host:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return DeviceCode(text, tuple(dict.fromkeys(reader.templates)))


def tokens(source: str) -> Iterator[Token]:
    """The pieces of a source, without white space and comments."""
    for match in _TOKEN.finditer(source):
        kind = match.lastgroup or ""
        if match["text"] is not None:
            kind = "text"
        if kind != "comment":
            yield Token(kind, match[0], match.start())


@dataclass
class _Declaration:
    """What is known of a declaration while it is read."""

    tokens: list[Token] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    name: str = ""
    """The word before the first parentheses."""
    has_parentheses: bool = False
    has_initialiser: bool = False
    is_initialising: bool = False
    """In the list of members between ``:`` and the body of a constructor."""

    @property
    def first(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def opens_namespace(self) -> bool:
        """Whether ``{`` opens a scope of declarations: a namespace or extern "C"."""
        if "namespace" in self.words[:2]:
            return True
        return self.first == "extern" and not self.has_parentheses and self.tokens[-1].kind == "text"

    @property
    def opens_class(self) -> bool:
        """Whether ``{`` opens the members of a class."""
        is_class = bool({"struct", "class", "union"} & set(self.words)) and "enum" not in self.words
        return is_class and not self.has_parentheses and not self.has_initialiser

    @property
    def opens_body(self) -> bool:
        """Whether ``{`` opens the body of a function."""
        if "operator" in self.words:
            return True
        return self.has_parentheses and not self.has_initialiser


class _Reader:
    """Reads the declarations of a source one by one."""

    def __init__(self, source: str) -> None:
        self.tokens = list(tokens(source))
        self.at = 0
        self.of_host: list[tuple[int, int]] = []
        self.templates: list[str] = []
        self.annotations = set(_ANNOTATIONS)

    def read(self) -> None:
        declaration = _Declaration()
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.kind == "directive":
                self._directive(token.text)
                continue
            if token.text == "}":  # the end of a namespace or a class
                declaration = _Declaration()
                continue
            declaration.tokens.append(token)
            if token.text == ";":
                self._ended(declaration)
                declaration = _Declaration()
            elif token.text == "{":
                if self._opened(declaration):
                    declaration = _Declaration()
            elif self._continued(declaration, token):
                declaration = _Declaration()

    def _continued(self, declaration: _Declaration, token: Token) -> bool:
        """Take a token of a declaration; whether a new one begins after it."""
        if token.kind == "word":
            declaration.words.append(token.text)
            if token.text == "template":
                self._skip_angles()
        elif token.text in "([" and token.kind == "mark_of_code":
            before = declaration.words[-1] if declaration.words else ""
            self._skip_pair(token.text)
            if token.text == "(" and before not in _WITH_PARENTHESES:
                if not declaration.has_parentheses:
                    declaration.name = before
                declaration.has_parentheses = True
        elif token.text == "=":
            declaration.has_initialiser = True
        elif token.text == ":" and declaration.words and declaration.words[-1] in _ACCESS and not self._is_scope():
            return len(declaration.words) == 1
        elif token.text == ":" and declaration.has_parentheses and not self._is_scope():
            declaration.is_initialising = True
        return False

    def _is_scope(self) -> bool:
        """Whether the colon just read is one of ``::``."""
        neighbours = [self.tokens[k] for k in (self.at - 2, self.at) if 0 <= k < len(self.tokens)]
        here = self.tokens[self.at - 1]
        return any(each.text == ":" and abs(each.start - here.start) == 1 for each in neighbours)

    def _opened(self, declaration: _Declaration) -> bool:
        """After ``{``: whether a new declaration begins, inside of it or behind its end."""
        before = declaration.tokens[-2] if len(declaration.tokens) > 1 else None
        if declaration.opens_namespace or declaration.opens_class:
            return True
        self._skip_pair("{")
        if declaration.is_initialising and before is not None and before.kind == "word":
            return False  # member{value} of a constructor
        if not declaration.opens_body:
            return False  # an initialiser, an enumeration
        words = set(declaration.words)
        if words & self.annotations:
            if "__global__" in words and "template" in words:
                self.templates.append(self._kernel_name(declaration))
        elif not words & _CONSTANT:
            self._leave_out(declaration)
        return True

    def _ended(self, declaration: _Declaration) -> None:
        words = declaration.words
        if "std" in words and not self.annotations & set(words) and words[:2] != ["using", "namespace"]:
            self._leave_out(declaration)

    def _leave_out(self, declaration: _Declaration) -> None:
        if self.at <= len(self.tokens):
            self.of_host.append((declaration.tokens[0].start, self.tokens[self.at - 1].end))

    @staticmethod
    def _kernel_name(declaration: _Declaration) -> str:
        """The name of a kernel; launch bounds, which have parentheses, may come before it."""
        if declaration.name != "__launch_bounds__":
            return declaration.name
        words = [word for word in declaration.words if word != "__launch_bounds__"]
        return words[-1]

    def _directive(self, text: str) -> None:
        match = _DEFINE.match(text)
        if match and self.annotations & set(re.findall(r"\w+", match[2])):
            self.annotations.add(match[1])

    def _skip_pair(self, opening: str) -> None:
        """Go behind the end of what *opening*, just read, opens."""
        closing, depth = _PAIRS[opening], 1
        while depth and self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "mark_of_code":
                depth += (token.text == opening) - (token.text == closing)
            self.at += 1

    def _skip_angles(self) -> None:
        """Go behind the parameters of a template."""
        if self.at >= len(self.tokens) or self.tokens[self.at].text != "<":
            return
        depth = 0
        while self.at < len(self.tokens):
            text = self.tokens[self.at].text
            self.at += 1
            if text in ("(", "["):
                self._skip_pair(text)
            depth += (text == "<") - (text == ">")
            if depth == 0:
                return
