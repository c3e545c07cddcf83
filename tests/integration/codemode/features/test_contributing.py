"""The feature that CONTRIBUTING.md shows works as it is printed there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from codemode import CodeMode, tool
from codemode.features.all import FEATURES
from codemode.settings import Settings

PAGE = Path(__file__).parents[4] / "CONTRIBUTING.md"

sent: list[int] = []


@tool(effect="write")
def note(number: int) -> int:
    """Note a number."""
    sent.append(number)
    return number


@tool(effect="read")
def count() -> int:
    """Count the notes."""
    return len(sent)


async def test_the_feature_of_the_page_refuses_the_third_write(tmp_path: Path) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 -- the page is ours
    settings = Settings.model_validate({"state_folder": tmp_path, "journal": {"enabled": True}})
    functions = {"notes": [note, count]}
    program = "for n in range(3):\n    notes.note(number=n)\n    notes.count()"
    sent.clear()
    async with CodeMode(settings, functions, features=(*FEATURES, names["WRITE_LIMIT"])) as service:
        outcome = await service.execute(program)
        again = await service.execute("notes.note(number=7)")
    assert sent == [0, 1, 7]
    assert outcome.status == "failed"
    assert [call.state for call in outcome.calls] == ["committed", "read", "committed", "read", "denied"]
    assert "a program may write 2 times" in outcome.calls[-1].error
    assert again.ok
