"""The secrets that settings refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from codemode.settings.secrets import SecretReference

if TYPE_CHECKING:
    from collections.abc import Iterator


def references(value: Any, place: str = "") -> Iterator[tuple[str, SecretReference]]:
    """Yield each reference to a secret with its dotted key, such as `sources.gym.credentials.0.token`."""
    if isinstance(value, SecretReference):
        yield place, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from references(getattr(value, name), f"{place}.{name}".lstrip("."))
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from references(member, f"{place}.{name}")
    elif isinstance(value, list | tuple):
        for number, member in enumerate(value):
            yield from references(member, f"{place}.{number}")
