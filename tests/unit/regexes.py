"""Every regular expression of the product, with the methods that it is used with, and strings that are hard for it."""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from itertools import product
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("codemode", "sandbox")

#: Parts that meet no text of others while they serve: the guest reads its own program, within its own limits.
OUTSIDE = ("codemode.bench.", "codemode.testing.", "sandbox.guest.")

#: Functions of `re`, and methods of patterns.
FUNCTIONS = frozenset(("compile", "search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split"))
METHODS = FUNCTIONS - {"compile"}
ANCHORED = frozenset(("match", "fullmatch"))


#: What a module holds that makes expressions or uses them.
_MENTION = re.compile(rf"\.(?:{'|'.join(sorted(FUNCTIONS))})\b")

#: What expressions in nested collections are used with; for others the names that they are assigned to say so.
IN_COLLECTIONS = {
    "codemode.gateway.policy": frozenset(("match",)),
    "sandbox.monty.endings": frozenset(("fullmatch",)),
}


class Regex(NamedTuple):
    """One expression in the source: its place, pattern, and the methods that it is used with."""

    place: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]

    @property
    def is_anchored(self) -> bool:
        """Whether it is tried at the beginning of a text only."""
        return self.methods <= ANCHORED


def modules() -> dict[str, Path]:
    """Return the files of the product by module name."""
    found = {}
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def methods_by_name(trees: dict[str, ast.Module]) -> dict[tuple[str, str], set[str]]:
    """Return the methods that are taken of each name: `WORD.findall`, `map(_WORD.sub, …)`. See `_scope`."""
    used: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                used[_scope(module, _name_of(node.value))].add(node.attr)
    return used


def _scope(module: str, name: str) -> tuple[str, str]:
    """Return what a name is known by. A private name belongs to its module, another one to all modules together."""
    return (module if name.startswith("_") else "", name)


def names_of(tree: ast.Module) -> dict[ast.Call, set[str]]:
    """Return the names that each call's value is assigned to, alone or within a collection."""
    assigned: dict[ast.Call, set[str]] = defaultdict(set)
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        if not targets:
            continue
        parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
        names = {_name_of(part) for part in parts}
        direct = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        for call in direct:
            if isinstance(call, ast.Call):
                assigned[call] |= names
    return assigned


def _name_of(node: ast.expr) -> str:
    """Return the name of a variable or attribute, "" for other expressions."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def evaluated(node: ast.expr, module: str, locals_: dict[str, Any]) -> Any:
    """Return the value of an expression in a module. Raises NameError if it needs local variables."""
    namespace = vars(importlib.import_module(module))
    return eval(compile(ast.Expression(node), module, "eval"), namespace, locals_)  # noqa: S307


def regexes(samples: dict[tuple[str, str], dict[str, Any]]) -> tuple[list[Regex], list[str]]:
    """Return all expressions, and those that need local variables which `samples` does not name."""
    texts = {name: file.read_text() for name, file in modules().items() if not name.startswith(OUTSIDE)}
    trees = {name: ast.parse(text) for name, text in texts.items() if _MENTION.search(text)}
    used = methods_by_name(trees)
    found, unknown = [], []
    for module, tree in trees.items():
        assigned = names_of(tree)
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and _is_of_re(node.func)):
                continue
            assert isinstance(node.func, ast.Attribute)
            function, text = node.func.attr, ast.unparse(node.args[0])
            place = f"{module}:{node.lineno}"
            flags = next((word.value for word in node.keywords if word.arg == "flags"), None)
            if function == "compile" and len(node.args) > 1:
                flags = node.args[1]
            locals_ = samples.get((module, text), {})
            try:
                pattern = evaluated(node.args[0], module, locals_)
                given = evaluated(flags, module, locals_) if flags is not None else 0
            except NameError:
                unknown.append(f"{module}: {text}")
                continue
            methods = {function}
            if function == "compile":
                names = assigned.get(node, set())
                methods = (
                    set().union(*(used[_scope(module, name)] for name in names))
                    if names
                    else set(IN_COLLECTIONS.get(module, METHODS))
                )
            found.append(Regex(place, re.compile(pattern, given), frozenset(methods or METHODS)))
    return found, unknown


def _is_of_re(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
        and function.attr in FUNCTIONS
    )


# --- strings that are hard -----------------------------------------------------------------------------------------

_CATEGORIES = {
    codes.CATEGORY_DIGIT: "7",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_NOT_WORD: "-",
}
_USUAL = "a7 -.,\n\"'{[(<=A"


def _of_set(items: list[Any]) -> str:
    """Return a character of a class."""
    if items[0][0] is codes.NEGATE:
        inside = re.compile("[" + "".join(_shown(item) for item in items[1:]) + "]")
        return next((sign for sign in "a" + _USUAL + "é#" if not inside.match(sign)), "\x01")
    kind, value = items[0]
    if kind is codes.LITERAL:
        return chr(value)
    if kind is codes.RANGE:
        return chr(value[0])
    return _CATEGORIES.get(value, "a")


def _shown(item: Any) -> str:
    kind, value = item
    if kind is codes.LITERAL:
        return re.escape(chr(value))
    if kind is codes.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return {
        codes.CATEGORY_DIGIT: r"\d",
        codes.CATEGORY_NOT_DIGIT: r"\D",
        codes.CATEGORY_SPACE: r"\s",
        codes.CATEGORY_NOT_SPACE: r"\S",
        codes.CATEGORY_WORD: r"\w",
        codes.CATEGORY_NOT_WORD: r"\W",
    }[value]


class Samples:
    """Texts that an expression and its parts match: `atoms` are characters, `bodies` what it repeats."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self.atoms: dict[str, None] = {}
        self.bodies: dict[tuple[str, str], None] = {}  # what precedes it, and what is repeated
        self._groups: dict[int, str] = {}
        text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
        is_bytes = isinstance(pattern.pattern, bytes)
        self.whole = self._of(parser.parse(text, pattern.flags & ~re.UNICODE if is_bytes else pattern.flags), "")

    def _of(self, parts: Any, before: str) -> str:
        text = ""
        for kind, value in parts:
            text += self._one(kind, value, before + text)
        return text

    def _one(self, kind: Any, value: Any, before: str) -> str:
        read = {
            codes.LITERAL: lambda: self._atom(chr(value)),
            codes.NOT_LITERAL: lambda: self._atom("b" if chr(value) == "a" else "a"),
            codes.ANY: lambda: self._atom("a"),
            codes.IN: lambda: self._of_class(value),
            codes.BRANCH: lambda: max((self._of(branch, before) for branch in value[1]), key=len),
            codes.SUBPATTERN: lambda: self._of_group(value, before),
            codes.ATOMIC_GROUP: lambda: self._of(value, before),
            codes.ASSERT: lambda: self._of(value[1], before)[:0],
            codes.ASSERT_NOT: lambda: self._of(value[1], before)[:0],
            codes.GROUPREF: lambda: self._groups.get(value, ""),
            codes.AT: lambda: "",
        }
        if kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            return self._of_repeat(*value, before)
        return read[kind]()

    def _of_class(self, items: Any) -> str:
        for item in items:
            if item[0] is not codes.NEGATE:
                self._atom(_of_set([item]))
        return self._atom(_of_set(items))

    def _of_group(self, value: Any, before: str) -> str:
        text = self._of(value[3], before)
        if value[0] is not None:
            self._groups[value[0]] = text
        return text

    def _of_repeat(self, least: int, most: int, inner: Any, before: str) -> str:
        body = self._of(inner, before)
        if most > 1 and body:
            self.bodies[before, body] = None
        if least > 2:  # almost enough of them
            self.bodies[before, body * (least - 1) + ("-" if body != "-" else "a")] = None
        return body * max(1 if most else 0, least)

    def _atom(self, sign: str) -> str:
        self.atoms[sign] = None
        return sign


def hard_strings(pattern: re.Pattern[Any], length: int) -> list[tuple[str, str, str]]:
    """Return what to repeat up to a length, with what comes before and after it."""
    samples = Samples(pattern)
    atoms = list(samples.atoms)[:16]
    bodies = list(samples.bodies)
    pumps: dict[tuple[str, str], None] = {}
    for before, body in bodies:
        pumps[before, body] = None
        pumps["", before + body] = None
        pumps["", body] = None
    for one in (*atoms, *_USUAL):
        pumps["", one] = None
    for pair in product(atoms[:6], repeat=2):
        pumps["", "".join(pair)] = None
    for (_, first), (_, second) in product(bodies[:4], repeat=2):
        pumps["", first * 20 + second] = None
    if samples.whole:
        pumps["", samples.whole] = None
        pumps["", samples.whole[:-1]] = None
    ends = ("", "\x00")
    return [(before, body, end) for (before, body) in pumps if 0 < len(body) <= length for end in ends]


def text_of(pattern: re.Pattern[Any], parts: tuple[str, str, str], length: int) -> Any:
    """Return a hard string of about this length, of the expression's type."""
    before, body, end = parts
    text = before + body * max(1, (length - len(before)) // len(body)) + end
    return text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")
