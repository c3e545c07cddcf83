"""The service in process, called by operationId; each answer is checked against the document."""

from __future__ import annotations

import copy
import shutil
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from api_specs.gym.app import create_app
from api_specs.gym.document import Document, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    import httpx2

TOKEN = "a-token"


class Gym:
    """`gym("freeze_membership", clientId=5)`; `expect` is the status, by default the one that is documented."""

    def __init__(self, database: Path) -> None:
        self.http = TestClient(create_app(database, token=TOKEN), headers={"Authorization": f"Bearer {TOKEN}"})

    def __call__(self, name: str, /, *, expect: int | None = None, **arguments: Any) -> Any:
        operation = load().operations[name]
        response = self.request(name, **arguments)
        wanted = expect or operation.status
        assert response.status_code == wanted, f"{name}: {response.status_code} {response.text}"
        if wanted >= 400:
            assert response.headers["content-type"] == "application/problem+json"
            assert mistakes({"$ref": "#/components/schemas/Problem"}, response.json()) == []
            return response.json()
        if operation.answer is None:
            return response.content
        assert mistakes(operation.answer, response.json()) == [], name
        return response.json()

    def request(self, name: str, /, **arguments: Any) -> httpx2.Response:
        """The request that the document describes: arguments in path and query by their place, others in the body."""
        operation = load().operations[name]
        places = {parameter.name: parameter.place for parameter in operation.parameters}
        path = operation.path.format(**arguments)
        query = {key: _text(value) for key, value in arguments.items() if places.get(key) == "query"}
        body = {key: value for key, value in arguments.items() if key not in places}
        return self.http.request(operation.method, path, params=query, json=body if operation.body else None)

    def seen(self, name: str, /, **arguments: Any) -> tuple[int, bytes]:
        """Status and bytes of an answer, to compare with another."""
        response = self.request(name, **arguments)
        return response.status_code, response.content


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with the seeded data, to be copied."""
    path = tmp_path_factory.mktemp("gym") / "seeded.sqlite"
    create_app(path, token=TOKEN)
    return path


@pytest.fixture(scope="session")
def unchanged(seeded: Path) -> Iterator[Gym]:
    """The seeded gym, for tests that only read."""
    gym = Gym(seeded)
    with gym.http:
        yield gym


@pytest.fixture
def gym(new_gym: Callable[[], AbstractContextManager[Gym]]) -> Iterator[Gym]:
    """A seeded gym of one's own, for tests that write."""
    with new_gym() as gym:
        yield gym


@pytest.fixture
def new_gym(seeded: Path, tmp_path: Path) -> Callable[[], AbstractContextManager[Gym]]:
    """Open a seeded gym, for tests that need several."""
    numbers = count()

    @contextmanager
    def opened() -> Iterator[Gym]:
        gym = Gym(shutil.copy(seeded, tmp_path / f"gym-{next(numbers)}.sqlite"))
        with gym.http:
            yield gym

    return opened


def mistakes(schema: dict[str, Any], value: Any) -> list[tuple[str, str]]:
    """Where an answer is not as documented; fields that are not documented are mistakes too."""
    return _STRICT.mistakes(schema, value)


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(item) for key, item in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        closed.setdefault("additionalProperties", False)
    return closed


def _text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


_STRICT = Document(_closed(copy.deepcopy(load().contents)))
