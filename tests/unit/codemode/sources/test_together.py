"""Surfaces of several kinds in one program: GraphQL, AWS, a toolkit, a LangChain tool."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from langchain_core.tools import tool as langchain_tool
from moto.server import ThreadedMotoServer

from codemode import CodeMode
from codemode.settings import Settings
from tests.integration.codemode.sources.graphql_service import service
from tests.unit.codemode.sources.served import served

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PROGRAM = """
queue = aws.sqs.create_queue(QueueName="orders")["QueueUrl"]
for order in shop.queries.orders.items(first=3):
    aws.sqs.send_message(QueueUrl=queue, MessageBody=say.shout(text=order["buyer"]["name"]))
sent = aws.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["All"])["Attributes"]
first = aws.sqs.receive_message(QueueUrl=queue)["Messages"][0]["Body"]
sent["ApproximateNumberOfMessages"], first, gym.members.find(name="Ann")
"""

TOOLKIT = {
    "name": "members",
    "tasks": [{"name": "find", "parameters": {"type": "object", "properties": {"name": {"type": "string"}}}}],
}


@langchain_tool
def shout(text: str) -> str:
    """Shout a text."""
    return text.upper()


async def test_one_program_works_over_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "key").write_text("a-key-of-aws")
    (tmp_path / "members.json").write_text(json.dumps(TOOLKIT))
    (tmp_path / "members.py").write_text("def find(name): return [name]")
    key = {"file": str(tmp_path / "key")}
    credentials = [{"kind": "aws", "access_key_id": key, "secret_access_key": key}]
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    try:
        async with served(service()) as url:
            sources = {
                "shop": {"kind": "graphql", "location": f"{url}/api/graphql"},
                "aws": {"kind": "aws", "services": ["sqs"], "region": "eu-west-1", "credentials": credentials}
                | {"base_url": f"http://{host}:{port}"},
                "gym": {"location": str(tmp_path / "members.json"), "bind": str(tmp_path / "members.py")},
            }
            folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
            settings = Settings.model_validate({"sources": sources, **folders})
            async with CodeMode.from_settings(settings, functions={"say": [shout]}) as together:
                outcome = await together.execute(PROGRAM)
                assert outcome.value == ["7", "USER 1", ["Ann"]], outcome.failure
                assert {call.tool.partition(".")[0] for call in outcome.calls} == {"shop", "aws", "gym", "say"}
    finally:
        moto.stop()
