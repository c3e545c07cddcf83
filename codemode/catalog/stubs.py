"""Render tools as Python signatures that a model can call as printed, within a token budget.

    gym.clients.get_clients_list(*, search: str | None = None, page: int = 1) -> ClientList  # Get clients list
    ClientList = {"items": list[Client], "total": int}

`bare` renders the name and the summary, `one_liner` one short line, `signature` one line with all types. `stub` renders
compact types with their definitions, restrictions of arguments and an example, `full` the documentation of every
parameter. For an undocumented result, `observed` is the schema learned from responses, and the text says so. Invisible
characters are escaped.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codemode.catalog import value_names
from codemode.catalog.example_calls import accepts_example
from codemode.catalog.observed import is_undocumented
from codemode.catalog.paging import paging_of
from codemode.catalog.restrictions import example_of
from codemode.catalog.shapes import MOST_LITERALS, Direction, Shapes, literals
from codemode.catalog.side_effects import side_effects
from codemode.catalog.tokens import estimate
from codemode.catalog.tool import Effect, Location
from codemode.text.prose import first_sentence, plain, shorten
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Parameter, Tool

#: The token budgets of one tool: in a list, as a signature, with its types, and in full.
LINE_TOKENS = 60
SIGNATURE_TOKENS = 220
STUB_TOKENS = 400
FULL_TOKENS = 1500

_CLOSING_TOKENS = 60  # tokens of `full` for the names of omitted types
_LONGEST_DEFAULT = 40  # characters
_MOST_NEEDED = 6  # optional parameters that are shown beyond a budget
_LONGEST_NAMES = 120  # characters of the named values of one parameter, beside a signature
_LONGEST_SUMMARY = 80  # characters, beside a name


def _no_name(_: str) -> bool:
    """Return that no optional parameter is needed more than others."""
    return False


def one_liner(
    tool: Tool,
    *,
    budget_tokens: int = LINE_TOKENS,
    observed: Schema | None = None,
    needed: Callable[[str], bool] = _no_name,
) -> str:
    """Render one line: required parameters with types, `needed` ones, and others within the budget."""
    return visible(_signature(tool, Shapes(naming=False), budget_tokens, observed=observed, needed=needed))


def bare(tool: Tool) -> str:
    """Render the name and the summary."""
    about = ["destructive"] if tool.effect is Effect.DESTRUCTIVE else []
    summary = first_sentence(tool.summary or tool.description, _LONGEST_SUMMARY)
    return visible(_with_comment(f"{tool.id}(...)", [*about, *([summary] if summary else [])]))


def signature(tool: Tool, *, budget_tokens: int = SIGNATURE_TOKENS, observed: Schema | None = None) -> str:
    """Render the signature in one line. Optional parameters beyond the budget are only named."""
    return visible(_signature(tool, Shapes(naming=False), budget_tokens, observed=observed))


def stub(
    tool: Tool,
    *,
    budget_tokens: int = STUB_TOKENS,
    observed: Schema | None = None,
    shapes: Shapes | None = None,
    head_tokens: int | None = None,
    pages: bool = False,
    needed: Callable[[str], bool] = _no_name,
) -> str:
    """Render the signature with compact types, one example, and type definitions within the budget.

    With `shapes`, the types of earlier stubs are not defined again. With `head_tokens` for the signature, the stub is
    brief: it has no example, and a remark on its pages only with `pages`. `needed` parameters are shown
    beyond the budget.
    """
    given = Shapes(compact=True) if shapes is None else shapes
    is_brief = head_tokens is not None
    wide = max(budget_tokens // 2, LINE_TOKENS)
    choices = ((wide, _needed_examples(tool)), (wide, ()), (LINE_TOKENS, ()))
    for tokens, examples in choices if head_tokens is None else ((head_tokens, ()),):
        tried = given.copy()
        head = _signature(
            tool, tried, tokens, notes=True, pages=pages or not is_brief, observed=observed, needed=needed
        )
        lines = [head, *(f"# example: {example}" for example in examples)]
        definitions, undefined = tried.define(budget_tokens - estimate("\n".join(lines)) - 4)
        if not undefined:
            break
    given.adopt(tried)
    return visible("\n".join([*lines, *definitions]))


def full(
    tool: Tool,
    *,
    budget_tokens: int = FULL_TOKENS,
    observed: Schema | None = None,
    needed: Callable[[str], bool] = _no_name,
) -> str:
    """Render everything: signature, description, parameters and types.

    If that is over the budget, render what `stub` does, and of the rest as much as fits.
    """
    whole = _everything(tool, observed)
    if estimate(whole) <= budget_tokens:
        return visible(whole)
    shapes, budget_tokens = Shapes(compact=True), max(budget_tokens - _CLOSING_TOKENS, budget_tokens // 2)
    lines = stub(tool, budget_tokens=budget_tokens, observed=observed, shapes=shapes, needed=needed).split("\n")
    shapes_of_lines = Shapes(compact=True, naming=False)
    details = [(line, "") for line in _documentation(tool)]
    details += [(_parameter_line(parameter, shapes_of_lines), parameter.name) for parameter in tool.parameters]
    room = budget_tokens - estimate("\n".join(lines))
    omitted = shapes.undefined
    for number, (line, _) in enumerate(details):
        room -= estimate(line) + 1
        if room < 0:
            omitted += [name for _, name in details[number:] if name]
            break
        lines.append(visible(line))
    return "\n".join([*lines, *_omitted(tool, omitted)])


def _everything(tool: Tool, observed: Schema | None) -> str:
    shapes = Shapes()
    head = _signature(tool, shapes, FULL_TOKENS, comment=False, observed=observed)
    lines = [head, *_documentation(tool), *(_parameter_line(parameter, shapes) for parameter in tool.parameters)]
    definitions, omitted = shapes.define(FULL_TOKENS)
    return "\n".join([*lines, *definitions, *_omitted(tool, omitted)])


def _omitted(tool: Tool, names: list[str]) -> list[str]:
    if not names:
        return []
    rest = _listed(names, _CLOSING_TOKENS // 3)
    return [f"# not shown for space: {rest}; describe('{tool.id}.{names[0]}') shows one"]


def part(tool: Tool, name: str, *, budget_tokens: int = FULL_TOKENS, observed: Schema | None = None) -> str | None:
    """Render one parameter with all its values, or one type with the types that it refers to. None if there is none."""
    parameter = next((one for one in tool.parameters if name in (one.name, one.wire_name)), None)
    shapes = Shapes(Direction.REQUEST)
    if parameter is not None:
        lines = [_parameter_line(parameter, shapes, most_characters=budget_tokens * 2).strip()]
        return visible("\n".join([*lines, *shapes.define(budget_tokens - estimate(lines[0]))[0]]))
    schema, direction = _type_named(tool, name, observed) or (None, Direction.REQUEST)
    if schema is None:
        return None
    shapes.direction = direction
    shapes.text(schema, name)
    return visible("\n".join(shapes.define(budget_tokens)[0]))


def type_names(tool: Tool, observed: Schema | None = None) -> tuple[str, ...]:
    """Return the names of the parameters and of the types of a tool."""
    shapes = _used_shapes(tool, observed)
    shapes.find("")
    return (*tool.parameter_names, *shapes.names)


def _type_named(tool: Tool, name: str, observed: Schema | None) -> tuple[Schema, Direction] | None:
    return _used_shapes(tool, observed).find(name)


def _used_shapes(tool: Tool, observed: Schema | None) -> Shapes:
    """Return shapes that have named the types of all parameters and of the result."""
    shapes = Shapes(Direction.REQUEST)
    for parameter in tool.parameters:
        shapes.text(parameter.schema, parameter.name)
    _returned(tool, shapes, observed)
    return shapes


def examples_of(tool: Tool) -> tuple[str, ...]:
    """Return the example calls of a tool that are valid, else one made of the examples in its parameter schemas."""
    declared = tuple(example for example in tool.examples if accepts_example(tool, example))
    if declared:
        return declared
    values = {parameter.name: example_of(parameter.schema) for parameter in tool.parameters if parameter.required}
    if not values or any(value is None for value in values.values()):
        return ()
    arguments = ", ".join(f"{name}={_literal(value)}" for name, value in values.items())
    call = f"{tool.id}({arguments})"
    return (call,) if estimate(arguments) <= LINE_TOKENS and accepts_example(tool, call) else ()


def _needed_examples(tool: Tool) -> tuple[str, ...]:
    """Return one example, unless it only repeats what compact types show of each argument."""
    if tool.examples or any(_is_open(parameter.schema) for parameter in tool.parameters if parameter.required):
        return examples_of(tool)[:1]
    return ()


def _is_open(schema: Schema) -> bool:
    """Whether the compact type of a schema says little about its values."""
    text = Shapes(Direction.REQUEST, compact=True).text(schema).removesuffix(" | None")
    return text == "Any" or text.startswith(("str", "dict", "list"))


def _signature(
    tool: Tool,
    shapes: Shapes,
    budget_tokens: int,
    *,
    comment: bool = True,
    notes: bool = False,
    pages: bool = False,
    observed: Schema | None = None,
    needed: Callable[[str], bool] = _no_name,
) -> str:
    required = [_argument(p, shapes) for p in tool.parameters if p.required]
    ending = f") -> {_returned(tool, shapes, observed)}"
    about = _remarks(tool, notes=notes, pages=pages, observed=observed) if comment else []
    optional = sorted((p for p in tool.parameters if not p.required), key=lambda p: not needed(p.name))
    least = min(sum(needed(p.name) for p in optional), _MOST_NEEDED)
    spent = estimate(_with_comment(f"{tool.id}(*, {', '.join(required)}{ending}", about))
    shown: list[str] = []
    for parameter in optional:
        text = _argument(parameter, shapes)
        spent += estimate(f", {text}")
        if spent > budget_tokens and len(shown) >= least:
            break
        shown.append(text)
    while True:
        arguments = ", ".join([*required, *shown])
        hidden = [parameter.name for parameter in optional[len(shown) :]]
        left_out = [f"+{len(hidden)} optional: {_listed(hidden)}"] if hidden else []
        text = _with_comment(f"{tool.id}({'*, ' if arguments else ''}{arguments}{ending}", [*left_out, *about])
        if len(shown) <= least or estimate(text) <= budget_tokens:
            return text
        shown.pop()  # the names of omitted parameters need room too


def _with_comment(text: str, remarks: list[str]) -> str:
    return f"{text}  # {'; '.join(remarks)}" if remarks else text


def _remarks(tool: Tool, *, notes: bool, pages: bool, observed: Schema | None) -> list[str]:
    """Return the comment of a signature: its effect and summary. `notes` adds side effects and binary data."""
    remarks = ["observed result"] if observed is not None and is_undocumented(tool) else []
    if tool.effect is Effect.DESTRUCTIVE:
        remarks.append("destructive")
    about = first_sentence(tool.summary or tool.description)
    remarks += [about] if about else []
    if notes:
        beside = side_effects(tool)
        remarks += [beside] if beside else []
        binary = [parameter.name for parameter in tool.parameters if parameter.schema.is_file()]
        remarks += [f"{_listed(binary)}: {_BINARY}"] if binary else []
        named = ((parameter.name, _values(parameter)) for parameter in tool.parameters)
        remarks += [f"{name}: {shorten(names, _LONGEST_NAMES)}" for name, names in named if names]
    leading = [name for name in tool.details.headers or {} if name in _LEADING]
    if notes and leading:
        remarks.append(f".response(...) gives status, headers ({_listed(leading)}) and value")
    if pages and paging_of(tool) is not None:
        remarks.append(f"{_name(tool)}.items(...) gives all pages")
    return remarks


def _values(parameter: Parameter) -> str:
    """Return the names of a parameter's values, or the values that its description alone lists."""
    listed = value_names.described_values(parameter.schema, parameter.description)
    return value_names.in_words(parameter.schema) or ", ".join(listed)


#: Headers that lead to what a call made, or say its version.
_LEADING = frozenset(("location", "etag", "operation-location", "azure-asyncoperation", "content-location"))

_IN_BODY = (Location.BODY, Location.BODY_FIELD)

_BINARY = 'text, {"$base64": ...}, or what a download gave'


def _listed(names: list[str], budget_tokens: int = 20) -> str:
    """Join as many names as the budget allows, but at least one. An ellipsis stands for the rest."""
    shown = names[:1]
    for name in names[1:]:
        if estimate(", ".join([*shown, name])) > budget_tokens:
            return ", ".join([*shown, "…"])
        shown.append(name)
    return ", ".join(shown)


def _argument(parameter: Parameter, shapes: Shapes) -> str:
    shapes.direction = Direction.REQUEST
    text = shapes.text(parameter.schema, parameter.name)
    if parameter.required:
        return f"{parameter.name}: {text}"
    default = parameter.schema.first("default")
    if isinstance(default, (str, int, float)) and len(str(default)) <= _LONGEST_DEFAULT:
        return f"{parameter.name}: {text} = {_literal(default)}"
    known = shapes.is_compact or text == "Any" or text.endswith("None")
    return f"{parameter.name}: {text}{'' if known else ' | None'} = None"


def _returned(tool: Tool, shapes: Shapes, observed: Schema | None) -> str:
    returns = observed if observed is not None and is_undocumented(tool) else tool.returns
    if returns is None:
        return "Any"
    shapes.direction = Direction.RESPONSE
    return shapes.text(returns, f"{tool.path.rpartition('.')[2]}_result")


def _name(tool: Tool) -> str:
    return tool.id.rpartition(".")[2]


def _documentation(tool: Tool) -> list[str]:
    lines = []
    summary = plain(tool.summary)
    description = shorten(plain(tool.description), 600)
    if summary and not description.startswith(summary):
        lines.append(f"  {summary}")
    if description:
        lines.append(f"  {description}")
    own_name = next((alias for alias in tool.aliases if not alias.isascii()), "")
    if own_name and own_name not in summary:
        lines.append(f"  named {shorten(own_name, 100)} by the service")
    if tool.deprecated:
        lines.append("  Deprecated.")
    lines.append(f"  effect: {tool.effect}")
    if tool.details.body_merges:
        lines.append("  merge patch: a member that is None in an object, or in body={...}, is removed")
    if tool.details.body is not None and not any(p.location in _IN_BODY for p in tool.parameters):
        lines.append("  body: the document declares none; body={...} is sent as JSON")
    if tool.details.headers:
        names = _listed([*tool.details.headers], 60)
        lines.append(f"  headers: {names}; {_name(tool)}.response(...) gives status, headers and value")
    if paging_of(tool) is not None:
        lines.append(f"  in pages: {_name(tool)}.items(..., limit=N) gives N items or all, .pages(...) the answers")
    lines.extend(f"  example: {shorten(example, 300)}" for example in examples_of(tool)[:2])
    return lines


def _parameter_line(parameter: Parameter, shapes: Shapes, *, most_characters: int = 200) -> str:
    shapes.direction = Direction.REQUEST
    facts = [shapes.text(parameter.schema, parameter.name), "required" if parameter.required else "optional"]
    facts += [f"{label} {value}" for key, label in _FACTS if (value := parameter.schema.first(key)) is not None]
    values = literals(parameter.schema)
    if values is not None and len(values) > MOST_LITERALS:
        facts.append("one of " + shorten(", ".join(str(value) for value in values), most_characters))
    named = value_names.in_words(parameter.schema)
    facts += [shorten(named, most_characters)] if named else []
    about = shorten(plain(parameter.description or str(parameter.schema.first("description") or "")), most_characters)
    return f"  {parameter.name}: {', '.join(facts)}" + (f". {about}" if about else "")


_FACTS = (
    ("default", "default"),
    ("minimum", "at least"),
    ("maximum", "at most"),
    ("maxLength", "length at most"),
    ("pattern", "pattern"),
    ("format", "format"),
)


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=not value.isprintable()) if isinstance(value, str) else repr(value)
