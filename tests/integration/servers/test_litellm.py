"""LiteLLM's proxy: OpenAPI 3.1 of a thousand operations, an API key that is a bearer token, wants of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.servers.running import program, running, value_of
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.servers.running import Running

KEY = "sk-a-long-key-for-tests-0123456789abcdef"

SETTINGS = f"""
model_list:
  - model_name: echo
    litellm_params: {{model: openai/echo, api_key: unused, mock_response: "said {{}}"}}
general_settings: {{master_key: {KEY}}}
"""


@pytest.fixture
def litellm(tmp_path: Path) -> Iterator[Running]:
    port = free_port()
    (tmp_path / "proxy.yaml").write_text(SETTINGS, encoding="utf-8")
    command = [program("litellm", "litellm"), "--config", "proxy.yaml", "--host", "127.0.0.1", "--port", str(port)]
    environment = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    headers = {"Authorization": f"Bearer {KEY}"}
    url = f"http://127.0.0.1:{port}"
    with running(
        command, url, tmp_path, ready="/health/liveliness", headers=headers, environment=environment, within_s=300
    ) as server:
        yield server


@pytest.mark.timeout(480)
async def test_models_are_listed_asked_counted_and_refused(litellm: Running, tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_text(KEY, encoding="utf-8")
    # Its document gives five headers one name, so that only the last can be asked for: send it with every call.
    credential = {"kind": "bearer", "token": {"file": str(secret)}, "scheme": "*"}
    async with litellm.codemode("proxy", "/openapi.json", base_url=litellm.url, credentials=[credential]) as service:
        assert len(service.catalog) > 500
        ids = {tool.key: tool.id for tool in service.catalog}
        made = f"""
models = [model["id"] for model in {ids["GET /v1/models"]}()["data"]]
tokens = {ids["POST /utils/token_counter"]}(model="echo", prompt="four words are here")["total_tokens"]
(models, tokens > 0)
"""
        assert await value_of(service, made) == [["echo"], True]
        failed = f"""
try:
    {ids["POST /key/generate"]}()
except Exception as error:
    result = error.status
result
"""
        assert await value_of(service, failed) >= 400
