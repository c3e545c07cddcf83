"""The mode `off` over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest

from codemode import CodeMode
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@pytest.mark.parametrize("is_enforced", [True, False])
async def test_a_role_whose_mode_is_off_gets_no_tools(tmp_path: Path, is_enforced: bool) -> None:
    settings = Settings.model_validate(
        {
            "policy": {"roles": ["guest"]},
            "modes": [{"roles": "guest", "mode": "off", "enforced": is_enforced}],
            "state_folder": tmp_path / "state",
            "cache_folder": tmp_path / "cache",
        }
    )
    keys = {"guest-key": Caller("guest", "guest"), "other-key": Caller("other")}
    async with CodeMode.from_settings(settings, functions={"shop": [add]}) as service:
        app = create_app(service, Callers(keys, KeyFile(tmp_path / "keys.json"), roles=("default", "guest")))
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:

            async def status(path: str, key: str, **headers: str) -> int:
                bodies = {"search": {"queries": ["add"]}, "execute": {"code": "1"}, "menu": {"message": "add"}}
                own = {"Authorization": f"Bearer {key}", **headers}
                answer = await client.post(path, json=bodies[path[4:]], headers=own)
                if answer.status_code == 403:
                    assert answer.json()["code"] == "mode_rejected"
                return answer.status_code

            for path in ("/v1/search", "/v1/execute", "/v1/menu"):
                assert await status(path, "guest-key") == 403, path
                assert await status(path, "other-key") == 200, path
                asks = {"Codemode-Mode": "code"}
                assert await status(path, "guest-key", **asks) == (403 if is_enforced else 200), path
            listed = await client.get("/v1/executions", headers={"Authorization": "Bearer guest-key"})
            assert listed.status_code == 200


async def test_the_definitions_of_a_caller_have_the_form_of_the_models_api(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {
            "policy": {"roles": ["guest"], "rules": [{"tools": "shop.take", "roles": "guest", "decision": "deny"}]},
            "modes": [{"roles": "guest", "mode": "code", "enforced": True}],
            "state_folder": tmp_path / "state",
            "cache_folder": tmp_path / "cache",
        }
    )
    keys = {"guest-key": Caller("guest", "guest"), "other-key": Caller("other")}
    async with CodeMode.from_settings(settings, functions={"shop": {"add": add, "take": add}}) as service:
        app = create_app(service, Callers(keys, KeyFile(tmp_path / "keys.json"), roles=("default", "guest")))
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:

            async def definitions(key: str, **asked: str) -> httpx2.Response:
                own = {"Authorization": f"Bearer {key}"}
                return await client.get("/v1/definitions", params=asked, headers=own)

            found = (await definitions("other-key", form="anthropic")).json()
            assert found["mode"] == "code"
            assert [one["name"] for one in found["tools"]] == ["search", "execute"]
            assert "shop.take(*, a: int, b: int) -> int" in found["tools"][1]["description"]
            guest = (await definitions("guest-key")).json()
            assert "shop.add(" in guest["tools"][1]["function"]["description"]
            assert "shop.take(" not in str(guest)
            native = (await definitions("other-key", mode="native")).json()
            assert [one["function"]["name"] for one in native["tools"]] == ["shop-add", "shop-take"]
            assert (await definitions("guest-key", mode="native")).status_code == 403
            assert (await definitions("other-key", form="xml")).status_code == 422
