"""The same program or call twice, on both stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.errors import ApprovalRefused, ProgramWaiting
from codemode.executions.types.records import Decision
from codemode.features.cards.table import LikeCalls
from tests.integration.codemode.executions.journal.conftest import new
from tests.integration.codemode.executions.journal.rows import question

if TYPE_CHECKING:
    from tests.integration.codemode.executions.journal.conftest import Store


async def test_a_request_that_waits_is_not_begun_again_until_it_has_expired(store: Store) -> None:
    journal = await store.server()
    lease = await journal.create(new("ex_1", request_digest="d"))
    await journal.create(new("ex_2", request_digest="d"))  # the first one does not wait yet
    await journal.pause(lease, [question("ap_1", execution="ex_1")], {})
    with pytest.raises(ProgramWaiting, match="already waits for a person, as ex_1 with ap_1"):
        await journal.create(new("ex_3", request_digest="d"))
    for other in ({"request_digest": "e"}, {"owner": "bob", "request_digest": "d"}, {}):
        await journal.create(new(f"ex_{len(await journal.list()) + 3}", **other))
    await journal.create(new("ex_9", request_digest="d", request_key="k"))
    late = await store.server(expire_s=0)
    await late.create(new("ex_10", request_digest="d"))


async def test_twins_are_named_and_the_second_approval_is_refused(store: Store) -> None:
    journal = await store.server()
    leases = [await journal.create(new(f"ex_{n}", request_digest="d")) for n in (1, 2)]
    for lease, n in zip(leases, (1, 2), strict=True):
        await journal.pause(lease, [question(f"ap_{n}", execution=f"ex_{n}")], {})
    one, other = await journal.pending()
    assert await LikeCalls(journal).twins(one) == (other.id,)
    assert await LikeCalls(journal).twins(other) == (one.id,)
    await journal.decide([Decision(one.id, one.digest, "approved", "eve")])
    assert await LikeCalls(journal).twins(other) == ()
    with pytest.raises(ApprovalRefused, match=f"the same call of the same program was approved as {one.id}"):
        await journal.decide([Decision(other.id, other.digest, "approved", "eve")])
    await journal.decide([Decision(other.id, other.digest, "rejected", "eve")])
