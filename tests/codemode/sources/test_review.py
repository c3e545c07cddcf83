from __future__ import annotations

from codemode.sources.review import review
from codemode.testing import make_tool


def test_what_a_model_cannot_tell_apart_is_named() -> None:
    tools = [
        make_tool("api.pets.list_pets"),
        make_tool("api.pets.get_pet", summary="Get pet"),
        make_tool("api.pets.create_pet", summary="Store an animal in the shop"),
        make_tool("api.pets.add_pet", summary="Store an animal in the shop"),
        make_tool("api.pets.delete_pet", summary="Remove an animal that was sold"),
    ]
    assert list(review(tools)) == [
        ("api.pets.list_pets", "has no description: it is found by its name and parameters alone"),
        ("api.pets.get_pet", "is described by its own name only: 'Get pet'"),
        ("api.pets.create_pet", "has the same description as api.pets.add_pet"),
    ]
