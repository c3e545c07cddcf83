"""Response models that are derived from the records which they describe, so that a field is declared once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic import AwareDatetime, BaseModel, Field, create_model

from codemode.executions.types.json_form import form_of, is_time

if TYPE_CHECKING:
    from collections.abc import Callable

M = TypeVar("M", bound=BaseModel)

#: A time in UTC with milliseconds (RFC 3339).
Time = Annotated[AwareDatetime, Field(examples=["2026-11-25T09:30:00.125Z"])]

#: A line of a docstring that describes fields, with the lines that continue it: "- `name`, `other`: text".
_DESCRIBED = re.compile(r"^- ((?:`\w+`(?:, )?)+): (.+(?:\n  .+)*)", re.MULTILINE)

_models: dict[Any, type[BaseModel]] = {}


def of_record(kind: type) -> Callable[[type[M]], type[M]]:
    """Give a model all fields of the JSON form of a record. They are required, since a record has all of its fields.

    Fields that the model declares itself replace those of the record. Records in the record are described by their own
    models, which stand before this one. Descriptions come from the list of fields in the record's docstring.
    """

    def derived(model: type[M]) -> type[M]:
        form, texts, own = form_of(kind), _descriptions(kind), get_type_hints(model, include_extras=True)
        fields: dict[str, Any] = {}
        for name, json_name in form.names:
            hint = own.get(json_name) or (Time | None if is_time(name) else _described(form.types[name]))
            fields[json_name] = (hint, Field(description=texts.get(name)))
        made = create_model(model.__name__, __doc__=model.__doc__, __module__=model.__module__, **fields)
        _models[kind] = made
        return cast("type[M]", made)

    return derived


def _described(hint: Any) -> Any:
    """Return the JSON type of a field: lists for tuples, dictionaries for mappings, models for records."""
    if hint in _models:
        return _models[hint]
    origin, inner = get_origin(hint), tuple(map(_described, get_args(hint)))
    if origin is tuple:
        return list.__class_getitem__(inner[0])
    if origin is Mapping:
        return dict.__class_getitem__(inner)
    if origin in (Union, UnionType):
        return Union[inner]  # noqa: UP007 -- of a tuple
    return hint


def _descriptions(kind: type) -> dict[str, str]:
    """Return what the docstring of a record says of each field."""
    texts: dict[str, str] = {}
    for names, text in _DESCRIBED.findall(inspect.getdoc(kind) or ""):
        sentence = " ".join(text.split())
        texts |= dict.fromkeys(re.findall(r"`(\w+)`", names), sentence[0].upper() + sentence[1:])
    return texts
