"""The tasks of the gym: a plausible wrong program for each, which its judge must reject."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent
from typing import TYPE_CHECKING

from codemode.bench.players import GoldPlayer
from codemode.bench.registry import suite_of
from codemode.bench.runner import run_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codemode.bench.results import TurnRecord
    from codemode.bench.suite import Episode, Task
    from codemode.service import CodeMode

WRONG = {
    # The currencies are not converted.
    "pending-salaries": """
        pending = gym.salary.get_pending_salaries(limit=100)["items"]
        [len(pending), round(sum(salary["amountMinor"] for salary in pending) / 100, 2)]
    """,
    # Clients who left are counted, too, on the first page alone.
    "busiest-trainer": """
        from collections import Counter
        clients = gym.clients.get_clients_list()["items"]
        Counter(c["trainerId"] for c in clients if c["trainerId"]).most_common(1)
    """,
    # The last day is left out.
    "ending-this-week": """
        gym.memberships.get_memberships(status="active", endingFrom="2026-03-02", endingTo="2026-03-08")["total"]
    """,
    # The branch that is not open yet is left out.
    "branches": """
        [[branch["name"], branch["city"]] for branch in gym.core.get_branches_info.items(isOpen=True)]
    """,
    # Everybody who came today.
    "inside-now": 'gym.attendance.get_attendance_today(limit=1)["total"]',
    # A threshold of its own in place of the products' levels.
    "low-stock": "[product['name'] for product in gym.products.get_low_stock_products.items(threshold=5)]",
    # Names of the challenges, not of who leads them.
    "leaders": '[challenge["name"] for challenge in gym.gamification.get_challenges.items(status="running")]',
    # The surveys' titles without their scores.
    "open-surveys": '[survey["title"] for survey in gym.surveys.get_surveys.items(status="open")]',
    "dark-theme": 'gym.core.change_theme(theme="system")',
    # The end of another year.
    "new-offer": """
        gym.offers.create_offer(code="SUMMER15", title="Summer", discountPercent=15, validUntil="2028-12-31")
    """,
    # Euro in place of minor units.
    "three-plans": """
        for size, days, price in (("S", 30, 29), ("M", 90, 79), ("L", 180, 149)):
            gym.plans.create_plan(name=f"Flex {size}", description="Flexible", durationDays=days, priceMinor=price)
    """,
    # In the default category.
    "note-for-a-member": 'gym.notes.create_member_note(clientId=12, text="prefers mornings")',
    # Today counted as the first of the days.
    "freeze-19-days": """
        latest = max(gym.memberships.get_memberships.items(status="active"), key=lambda m: m["endDate"])
        gym.memberships.freeze_membership(clientId=latest["clientId"], untilDate="2026-03-20", reason="travel")
    """,
    # Up to 25, not 25 more.
    "restock": """
        for product in gym.products.get_low_stock_products.items():
            if 0 < product["stock"] < 25:
                gym.products.adjust_product_stock(
                    productId=product["id"], change=25 - product["stock"], reason="restock"
                )
    """,
    # The first page alone.
    "vip-born-since-1990": """
        vips = gym.clients.get_clients_list(status="active", tag="vip")["items"]
        sum(client["birthDate"] >= "1990-01-01" for client in vips)
    """,
    # The dashboard shows five.
    "most-points": """
        top = gym.loyalty.get_loyalty_dashboard()["topClients"]
        [top[0]["loyaltyPoints"], len(top)]
    """,
    # Clients without a trainer are counted.
    "trainer-elsewhere": """
        home = {trainer["id"]: trainer["branchId"] for trainer in gym.trainers.get_trainers_list.items()}
        clients = gym.clients.get_clients_list.items(status="active")
        sum(home.get(client["trainerId"]) != client["branchId"] for client in clients)
    """,
    # Signatures of the first page alone.
    "rules-not-signed": """
        signed = {one["clientId"] for one in gym.documents.get_signed_documents(templateId=3)["items"]}
        sum(client["id"] not in signed for client in gym.clients.get_clients_list.items(status="active", branchId=3))
    """,
    # By the clock of the records.
    "evening-in-zurich": """
        visits = gym.attendance.get_attendance_by_date.items(date="2026-02-27", branchId=4)
        sum(visit["checkedInAt"] >= "2026-02-27T18:00" for visit in visits)
    """,
    # The other tags are lost.
    "tag-seefeld": """
        clients = gym.clients.get_clients_list.items(status="active", branchId=4)
        chosen = [client["id"] for client in clients if "student" not in client["tags"]]
        gym.clients.bulk_update_clients(clientIds=chosen, changes={"tags": ["zurich"]})
    """,
    # Also for those who have it.
    "one-note-each": """
        for number in (5, 6, 7, 8, 9):
            gym.notes.create_member_note(clientId=number, text="called about renewal", category="general")
    """,
    # Both get the same day.
    "misspelt-offer": """
        for offer in gym.offers.get_offers_list.items():
            if offer["title"] == "Spring":
                gym.offers.update_offer(offerId=offer["id"], validUntil="2026-06-30")
    """,
    # January's, too.
    "pay-the-trainers": """
        salaries = list(gym.salary.get_pending_salaries.items(role="trainer"))
        for salary in salaries:
            gym.salary.pay_salary(salaryId=salary["id"], paidOn="2026-03-02")
        6
    """,
    # Somebody with a longer name.
    "lost-lead": """
        lead = gym.leads.get_leads_list(name="Zora Quist")["items"][0]
        gym.leads.update_lead_stage(leadId=lead["id"], stage="lost", reason="moved away")
        gym.leads.get_leads_list(stage="negotiation", limit=1)["total"]
    """,
    # At another branch.
    "next-class": """
        free = gym.classes.get_class_sessions.items(dateFrom="2026-03-03", branchId=2, hasPlaces=True)
        gym.classes.book_class_session(sessionId=min(free, key=lambda one: one["startsAt"])["id"], clientId=12)
    """,
}


class WrongPlayer(GoldPlayer):
    """A player with the wrong programs."""

    model = "wrong"

    async def answer(
        self, service: CodeMode, task: Task, episode: Episode, index: int, before: Sequence[TurnRecord]
    ) -> TurnRecord:
        return await super().answer(service, task, replace(episode, gold=[dedent(WRONG[task.id])]), index, before)


async def test_each_judge_rejects_a_plausible_wrong_program(tmp_path: Path) -> None:
    tasks = suite_of("gym").tasks()
    assert [*WRONG] == [task.id for task in tasks]
    results = await run_tasks("gym", tasks, WrongPlayer(), out=tmp_path / "out.jsonl", jobs=2)
    assert [result.task for result in results if result.solved] == []
    failed = {result.task: turn.steps[0].error for result in results for turn in result.turns if turn.steps[0].error}
    assert failed == {}, "these programs are refused or fail before they are judged"
