"""Templates: every value is escaped, and its invisible characters are shown as escapes."""

from __future__ import annotations

import json
import math
import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from codemode.text.times import SECOND_US, microseconds_of, rfc3339
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Seconds within which something happens now.
_NOW_S = 10

#: Amounts from here on have no decimals.
_WHOLE = 1_000

#: An id breaks after these.
_JOINTS = re.compile(r"(?<=[._])")

_ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<(td|th)\b([^>]*)>")
_BLANK = re.compile(r"(<td\b[^>]*>)\s+(</td>)")


class _Environment(Environment):
    """Templates read `one.values` as the member `values` of JSON data, if it has one, not as the method of `dict`."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """See `jinja2.Environment`."""
        return obj[attribute] if isinstance(obj, dict) and attribute in obj else super().getattr(obj, attribute)


class Templates:
    """The templates of the console, in `templates/`."""

    def __init__(self) -> None:
        self._environment = _Environment(
            loader=PackageLoader("codemode.serving.console"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_shown,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters |= {
            "visible": visible,
            "time": time_element,
            "ago": ago_element,
            "json": json_text,
            "compact": compact_json,
            "breakable": breakable,
            "duration": duration,
            "decimal": decimal,
            "headed": headed,
        }

    def render(self, template: str, context: dict[str, Any]) -> str:
        """Return a page or a part of one. Raises jinja2.UndefinedError for a missing value."""
        return self._environment.get_template(template).render(context)


def _shown(value: Any) -> Any:
    """Return a value as it is inserted. Markup of the templates themselves stays as it is."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def time_element(moment: float | str) -> Markup:
    """Return a `time` element for microseconds since 1970, or for an RFC 3339 time."""
    exact = moment if isinstance(moment, str) else rfc3339(moment)
    try:
        known = datetime.fromtimestamp(microseconds_of(exact) / 1_000_000, UTC)
    except ValueError:
        return Markup("{}").format(visible(exact))
    return Markup('<time datetime="{}">{:%Y-%m-%d %H:%M:%S} UTC</time>').format(exact, known)


def ago_element(moment: float | str) -> Markup:
    """Return a `time` element that says how long ago a time was, and the time itself when one points at it."""
    exact = moment if isinstance(moment, str) else rfc3339(moment)
    try:
        past_s = time.time() - microseconds_of(exact) / SECOND_US
    except ValueError:
        return Markup("{}").format(visible(exact))
    text = _ago(past_s) if past_s >= 0 else f"in {duration(-past_s)}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact, text)


def _ago(past_s: float) -> str:
    return "just now" if past_s < _NOW_S else f"{duration(past_s)} ago"


def duration(seconds: float) -> str:
    """Return a duration in its largest unit: `0.4 s`, `12 s`, `3 min`, `5 h`, `2 days`."""
    if seconds < _NOW_S:
        return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
    for most, per, unit in ((60, 1, "s"), (3_600, 60, "min"), (172_800, 3_600, "h")):
        if seconds < most:
            return f"{seconds / per:.0f} {unit}"
    return f"{seconds / 86_400:.0f} days"


def decimal(number: float) -> str:
    """Return a number to read: `1,204`, `3.50`, `0.0042`. Two digits tell small amounts apart."""
    if isinstance(number, int) or number == 0 or abs(number) >= _WHOLE:
        return f"{number:,.0f}"
    places = 2 if abs(number) >= 1 else 1 - math.floor(math.log10(abs(number)))
    return f"{number:,.{max(2, places)}f}"


def breakable(text: str) -> Markup:
    """Return an id that may break after each `.` and `_`."""
    return Markup("").join(Markup("{}").format(visible(part)) + Markup("<wbr>") for part in _JOINTS.split(text) if part)


class Headed(NamedTuple):
    """The rows of a table, whose cells name their columns, and the numbers of the columns that hold numbers."""

    body: Markup
    numbers: frozenset[int]


def headed(body: Markup, columns: Sequence[str]) -> Headed:
    """Return the rows of a table with the head of its column on each cell. Rows that span columns stay as they are."""
    numbers: set[int] = set()

    def row(found: re.Match[str]) -> str:
        place = iter(range(len(columns)))

        def cell(opened: re.Match[str]) -> str:
            at = next(place, None)
            if at is None or "colspan" in opened[2]:
                return opened[0]
            if 'class="number"' in opened[2]:
                numbers.add(at)
            return Markup('<{}{} data-head="{}">').format(opened[1], Markup(opened[2]), columns[at])  # noqa: S704

        return _CELL.sub(cell, found[0])

    text = _BLANK.sub(r"\1\2", _ROW.sub(row, str(body)))
    return Headed(Markup(text), frozenset(numbers))  # noqa: S704 -- it was markup, and heads are escaped


def json_text(value: Any) -> str:
    """Return JSON data as indented text."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def compact_json(value: Any) -> str:
    """Return JSON data in one line."""
    return json.dumps(value, ensure_ascii=False)
