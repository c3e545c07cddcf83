"""What a key may ask of `codemode serve` in a second: over HTTP, many requests at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.integration.codemode.serving.served import serving

if TYPE_CHECKING:
    from pathlib import Path

KEYS = {"KEY_OF_ANN": "ann-has-this-key", "KEY_OF_BOB": "bob-has-this-one"}
ANN, BOB = ({"Authorization": f"Bearer {key}"} for key in KEYS.values())
SECTIONS = {
    "sources": {"shop": {"location": "python:tools"}},
    "server": {"keys": [{"env": name} for name in KEYS], "load": {"per_key_rate_per_s": 0.01}},
}


async def test_requests_beyond_the_rate_of_a_key_are_told_when_to_come_and_others_are_served(tmp_path: Path) -> None:
    async with serving(tmp_path, KEYS, **SECTIONS) as http:
        asked = [http.post("/v1/execute", json={"code": str(number)}, headers=ANN) for number in range(8)]
        answers = await asyncio.gather(*asked, http.post("/v1/search", json={"queries": ["order"]}, headers=ANN))
        assert sorted(answer.status_code for answer in answers) == [200] + [429] * 8
        for refused in (answer for answer in answers if answer.status_code == 429):
            assert refused.json()["code"] == "overloaded"
            assert 0 < int(refused.headers["Retry-After"]) == refused.json()["retry_after_s"] <= 100
        assert (await http.post("/v1/execute", json={"code": "1"}, headers=BOB)).json()["value"] == 1
        assert (await http.get("/v1/executions", headers=ANN)).status_code == 200
