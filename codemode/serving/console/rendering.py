"""Templates: every value is escaped, and its invisible characters are shown as escapes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from codemode.text.times import microseconds_of, rfc3339
from codemode.text.visible import visible


class Templates:
    """The templates of the console, in `templates/`."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=PackageLoader("codemode.serving.console"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_shown,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters |= {"visible": visible, "time": time_element, "json": json_text}

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


def json_text(value: Any) -> str:
    """Return JSON data as indented text."""
    return json.dumps(value, ensure_ascii=False, indent=2)
