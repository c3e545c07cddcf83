"""Tools as Python text that a model can call as printed, within a budget of tokens.

    gym.clients.get_clients_list(*, search: str | None = None, page: int = 1) -> ClientList  # Get clients list
    ClientList = {"items": list[Client], "total": int}

`one_liner` is one line, `signature` one line with all types, `stub` adds the definitions of the types it names, `full`
adds the documentation of every parameter. Where a document says nothing of the result, `observed` is the schema that
was learned from answers; the text says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.catalog.paging import paging_of
from codemode.catalog.prose import first_sentence, plain, shorten
from codemode.catalog.shapes import Direction, Shapes, literals
from codemode.catalog.tokens import estimate

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Parameter, Tool

#: What one tool may cost in a list, in a signature, with its types, and in full, in tokens.
LINE_TOKENS = 60
SIGNATURE_TOKENS = 220
STUB_TOKENS = 400
FULL_TOKENS = 1500


def one_liner(tool: Tool, *, budget_tokens: int = LINE_TOKENS, observed: Schema | None = None) -> str:
    """One line: required parameters with types, optional ones as far as the budget goes."""
    return signature(tool, budget_tokens=budget_tokens, observed=observed)


def signature(tool: Tool, *, budget_tokens: int = SIGNATURE_TOKENS, observed: Schema | None = None) -> str:
    """The signature in one line; what does not fit is said less precisely, required parameters always stay."""
    return _signature(tool, Shapes(naming=False), budget_tokens, observed=observed)


def stub(tool: Tool, *, budget_tokens: int = STUB_TOKENS, observed: Schema | None = None) -> str:
    """The signature, and the definitions of the types it names as far as the budget goes."""
    shapes = Shapes()
    head = _signature(tool, shapes, max(budget_tokens * 3 // 4, LINE_TOKENS), observed=observed)
    if paging_of(tool) is not None:
        head += "; .items(...) gives all pages"
    lines, _ = shapes.define(max(0, budget_tokens - estimate(head) - 4))
    return "\n".join([head, *lines]) if estimate("\n".join([head, *lines])) <= budget_tokens else head


def full(tool: Tool, *, budget_tokens: int = FULL_TOKENS, observed: Schema | None = None) -> str:
    """Everything known: signature, description, every parameter, the types, and which types had no room."""
    shapes = Shapes()
    head = _signature(tool, shapes, budget_tokens // 2, comment=False, observed=observed)
    lines = [head, *_about(tool)]
    for parameter in tool.parameters:
        line = _documented(parameter, shapes)
        if estimate("\n".join([*lines, line])) > budget_tokens * 2 // 3:
            lines.append(f"  ... {len(tool.parameters) - len(lines) + 1} more parameters")
            break
        lines.append(line)
    definitions, left = shapes.define(budget_tokens - estimate("\n".join(lines)) - 40)
    if left:
        shown = ", ".join(left[:10]) + (f" and {len(left) - 10} more" if len(left) > 10 else "")
        definitions.append(f"# not shown for space: {shown}")
    return "\n".join([*lines, *definitions])


def _signature(
    tool: Tool, shapes: Shapes, budget_tokens: int, *, comment: bool = True, observed: Schema | None = None
) -> str:
    returned = _returned(tool, shapes, observed)
    about = first_sentence(tool.summary or tool.description) if comment else ""
    if tool.returns is None and observed is not None:
        about = f"observed result; {about}" if about else "observed result"
    tail = f") -> {returned}" + (f"  # {about}" if about else "")
    required = [_argument(p, shapes) for p in tool.parameters if p.required]
    optional = [p for p in tool.parameters if not p.required]
    spent = estimate(f"{tool.id}(*, {', '.join(required)}{tail}")
    shown: list[str] = []
    for parameter in optional:
        text = _argument(parameter, shapes)
        cost = estimate(f", {text}")
        left = len(optional) - len(shown)
        if spent + cost > budget_tokens - (8 if left > 1 else 0):
            break
        spent += cost
        shown.append(text)
    arguments = ", ".join([*required, *shown])
    hidden = [parameter.name for parameter in optional[len(shown) :]]
    if hidden:
        left_out = f"+{len(hidden)} optional: {_listed(hidden)}"
        tail = f") -> {returned}  # {left_out}; {about}" if about else f") -> {returned}  # {left_out}"
    return f"{tool.id}({'*, ' if arguments else ''}{arguments}{tail}"


def _listed(names: list[str], budget_tokens: int = 20) -> str:
    """Names without types cost little, and are all that a program needs to use them."""
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
    if isinstance(default, (str, int, float, bool)) and len(str(default)) <= 40:
        return f"{parameter.name}: {text} = {_quoted(default)}"
    known = text == "Any" or text.endswith("None")
    return f"{parameter.name}: {text}{'' if known else ' | None'} = None"


def _returned(tool: Tool, shapes: Shapes, observed: Schema | None) -> str:
    returns = observed if tool.returns is None else tool.returns
    if returns is None:
        return "Any"
    shapes.direction = Direction.RESPONSE
    return shapes.text(returns, f"{tool.path.rpartition('.')[2]}_result")


def _name(tool: Tool) -> str:
    return tool.id.rpartition(".")[2]


def _about(tool: Tool) -> list[str]:
    lines = []
    summary = plain(tool.summary)
    description = shorten(plain(tool.description), 600)
    if summary and not description.startswith(summary):
        lines.append(f"  {summary}")
    if description:
        lines.append(f"  {description}")
    if tool.deprecated:
        lines.append("  Deprecated.")
    lines.append(f"  effect: {tool.effect}")
    if paging_of(tool) is not None:
        lines.append(f"  in pages: {_name(tool)}.items(...) gives the items of all of them, .pages(...) the answers")
    lines.extend(f"  example: {example}" for example in tool.examples[:2])
    return lines


def _documented(parameter: Parameter, shapes: Shapes) -> str:
    shapes.direction = Direction.REQUEST
    facts = [shapes.text(parameter.schema, parameter.name), "required" if parameter.required else "optional"]
    facts += [f"{label} {value}" for key, label in _BOUNDS if (value := parameter.schema.first(key)) is not None]
    values = literals(parameter.schema)
    if values is not None and len(values) > 12:
        facts.append("one of " + shorten(", ".join(str(value) for value in values), 200))
    about = shorten(plain(parameter.description or str(parameter.schema.first("description") or "")), 200)
    return f"  {parameter.name}: {', '.join(facts)}" + (f". {about}" if about else "")


_BOUNDS = (
    ("default", "default"),
    ("minimum", "at least"),
    ("maximum", "at most"),
    ("maxLength", "length at most"),
    ("pattern", "pattern"),
    ("format", "format"),
)


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) and '"' not in value and "\n" not in value else repr(value)
