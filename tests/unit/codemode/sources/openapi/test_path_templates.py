"""Placeholders are read in every form that routers write."""

from __future__ import annotations

import pytest

from codemode.sources.openapi.path_templates import path_template


@pytest.mark.parametrize(
    ("path", "declared", "text", "expanded"),
    [
        ("/a/{id}", (), "/a/{id}", ()),
        ("/a/{filter[x]}", (), "/a/{filter[x]}", ()),
        ("/a/{id:int}", (), "/a/{id}", ()),  # ASP.NET, Starlette
        ("/a/{id?}", (), "/a/{id}", ()),
        ("/a/{id=5}", (), "/a/{id}", ()),
        ("/a/{id:[0-9]{3}}/b", (), "/a/{id}/b", ()),  # JAX-RS, chi
        ("/a/{int:pk}", (), "/a/{pk}", ()),  # Django
        ("/a/{uuid:image_id}", ("image_id",), "/a/{image_id}", ()),  # BlackSheep
        ("/a/{id:uuid}", ("id",), "/a/{id}", ()),
        ("/k/{**path}", ("path",), "/k/{path}", ("path",)),
        ("/k/{*slug}", (), "/k/{slug}", ("slug",)),
        ("/f/{proxy+}", ("proxy",), "/f/{proxy}", ("proxy",)),  # AWS
        ("/f/{+path}", (), "/f/{path}", ("path",)),  # RFC 6570
        ("/f/{rest:path}", (), "/f/{rest}", ("rest",)),
        ("/f/{path:rest}", ("rest",), "/f/{rest}", ("rest",)),
        ("/f/{rest:.*}", (), "/f/{rest}", ("rest",)),
        ("/v1/{name=projects/*}:run", ("name",), "/v1/{name}:run", ("name",)),  # gRPC transcoding
    ],
)
def test_a_placeholder_has_its_plain_name(
    path: str, declared: tuple[str, ...], text: str, expanded: tuple[str, ...]
) -> None:
    template = path_template(path, declared)
    assert template.text == text
    assert template.expanded == frozenset(expanded)
