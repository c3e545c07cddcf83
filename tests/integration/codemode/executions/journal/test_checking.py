"""The check of a whole journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.executions.journal.checking import check
from codemode.executions.types.records import JournalEntry
from tests.integration.codemode.executions.journal.conftest import new
from tests.integration.codemode.executions.journal.edits import edited
from tests.integration.codemode.executions.journal.rows import question

if TYPE_CHECKING:
    from codemode.executions.journal.base import StoredJournal


async def test_every_execution_is_checked_and_what_was_edited_is_named(journal: StoredJournal) -> None:
    for n in range(205):
        lease = await journal.create(new(f"ex_{n}"))
        await journal.append(lease, [JournalEntry("printed", data={"text": "a"})])
        if n % 2:
            await journal.finish(lease, "completed", {})
        else:
            await journal.pause(lease, [question(f"ap_{n}", execution=f"ex_{n}")], {})
    whole = await check(journal)
    assert (whole.executions, whole.is_whole, whole.structure, whole.damaged) == (205, True, (), {})
    async with edited(journal) as edit:
        await edit(
            "UPDATE entries SET content = replace(content, 'a', 'b')"
            " WHERE place >> 32 = (SELECT number FROM executions WHERE id = 'ex_3')"
        )
        await edit("UPDATE questions SET digest = 'other' WHERE id = 'ap_8'")
        await edit("UPDATE contents SET given = replace(given, '\"1\"', '\"2\"') WHERE execution = 'ex_200'")
    found = await check(journal)
    assert (found.executions, found.is_whole) == (205, False)
    assert sorted(found.damaged) == ["ex_200", "ex_3", "ex_8"]
