"""Members with their memberships, visits, goals and points. Functions are named by operationId."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from api_specs.gym.offers import checked_offer
from api_specs.gym.operations import Arguments, read
from api_specs.gym.problems import invalid, refuse

if TYPE_CHECKING:
    from api_specs.gym.database import Database, Row


def bulk_update_clients(db: Database, arguments: Arguments) -> Row:
    """Make the same change to many clients."""
    return _in_bulk(db, arguments["clientIds"], lambda number: db.update("clients", number, arguments["changes"]))


def bulk_delete_clients(db: Database, arguments: Arguments) -> Row:
    """Delete many clients and everything that belongs to them."""
    return _in_bulk(
        db, arguments["clientIds"], lambda number: db.execute("delete from clients where id = :id", id=number)
    )


def merge_clients(db: Database, arguments: Arguments) -> Row:
    """Point all references from the source to the target. Duplicates of the target's records are dropped."""
    source, target = arguments["sourceId"], arguments["targetId"]
    if source == target:
        refuse(f"Client {source} cannot be merged with itself.")
    references = db.rows(
        'select m.name as "table", f."from" as "column" from sqlite_master m, pragma_foreign_key_list(m.name) f '
        "where m.type = 'table' and f.\"table\" = 'clients'"
    )
    for reference in references:
        table, column = reference["table"], reference["column"]
        sql = f"update or ignore {table} set {column} = :target where {column} = :source"  # noqa: S608  # our own schema
        db.execute(sql, target=target, source=source)
    points = db.record("clients", source)["loyaltyPoints"] + db.record("clients", target)["loyaltyPoints"]
    db.update("clients", target, {"loyaltyPoints": points})
    db.execute("delete from clients where id = :source", source=source)
    return read(db, "get_client_details", {"clientId": target}, paged=False)


def send_client_message(db: Database, arguments: Arguments) -> Row:
    """Store a message with the client."""
    if arguments["channel"] == "sms" and not db.record("clients", arguments["clientId"])["phone"]:
        refuse(f"Client {arguments['clientId']} has no telephone number; send an e-mail or a push message.")
    return db.record("messages", db.insert("messages", arguments))


def freeze_membership(db: Database, arguments: Arguments) -> Row:
    """Freeze a membership. Its end moves back by the days of the freeze, if an end is given."""
    held = _held_membership(db, arguments["clientId"])
    if held["status"] == "frozen":
        refuse(f"Membership {held['id']} is already frozen, since {held['frozenFrom']}.")
    first = arguments.get("fromDate", db.today)
    last = arguments.get("untilDate")
    if not held["startDate"] <= first <= held["endDate"]:
        raise invalid(("body", "fromDate", f"not within the membership ({held['startDate']} to {held['endDate']})"))
    if last is not None and last < first:
        raise invalid(("body", "untilDate", f"before the first day of the freeze, {first}"))
    days = _days(first, last) + 1 if last else 0
    allowed = db.record("plans", held["planId"])["maxFreezeDays"]
    if days > allowed:
        refuse(f"The plan allows a freeze of {allowed} days, not {days}.")
    change = {"status": "frozen", "frozenFrom": first, "frozenUntil": last, "freezeReason": arguments.get("reason")}
    db.update("memberships", held["id"], {**change, "endDate": _later(held["endDate"], days)})
    _log(db, held["id"], "frozen", arguments.get("reason"))
    return db.record("membership_rows", held["id"])


def unfreeze_membership(db: Database, arguments: Arguments) -> Row:
    """Unfreeze a membership. Its end moves by the difference between frozen and planned days."""
    held = _held_membership(db, arguments["clientId"])
    if held["status"] != "frozen":
        refuse(f"Membership {held['id']} is not frozen, it is {held['status']}.")
    resume = arguments.get("resumeDate", db.today)
    frozen = max(0, _days(held["frozenFrom"], resume))
    planned = _days(held["frozenFrom"], held["frozenUntil"]) + 1 if held["frozenUntil"] else 0
    change = {"status": "active", "frozenFrom": None, "frozenUntil": None, "freezeReason": None}
    db.update("memberships", held["id"], {**change, "endDate": _later(held["endDate"], frozen - planned)})
    _log(db, held["id"], "unfrozen", f"after {frozen} days")
    return db.record("membership_rows", held["id"])


def renew_membership(db: Database, arguments: Arguments) -> Row:
    """Sell a membership that follows the current one, and record the payment."""
    client = db.record("clients", arguments["clientId"])
    latest = db.one("select * from memberships where clientId = :id order by endDate desc, id desc", id=client["id"])
    if latest and latest["status"] == "frozen":
        refuse(f"Membership {latest['id']} is frozen; unfreeze it first.")
    plan_id = arguments.get("planId", latest["planId"] if latest else None)
    if plan_id is None:
        refuse(f"Client {client['id']} has no membership to renew; pass a planId.")
    number = sell_membership(db, client, plan_id, arguments, after=latest["endDate"] if latest else None)
    return db.record("membership_rows", number)


def sell_membership(db: Database, client: Row, plan_id: int, terms: dict[str, Any], *, after: str | None) -> int:
    """Sell a membership on `terms` (startDate, offerCode, paymentMethod, autoRenew). Return its number."""
    plan = db.record("plans", plan_id)
    if not plan["isActive"]:
        refuse(f"The plan {plan['name']} is no longer sold.")
    price = plan["priceMinor"]
    if terms.get("offerCode"):
        offer, reason = checked_offer(db, terms["offerCode"], plan_id)
        if offer is None:
            refuse(reason)
        price -= round(price * offer["discountPercent"] / 100)
        db.update("offers", offer["id"], {"redemptions": offer["redemptions"] + 1})
    start = terms.get("startDate") or (_later(after, 1) if after and after >= db.today else db.today)
    money = {"currency": plan["currency"], "planId": plan_id, "clientId": client["id"]}
    dates = {"startDate": start, "endDate": _later(start, plan["durationDays"] - 1)}
    number = db.insert(
        "memberships", {**money, **dates, "priceMinor": price, "autoRenew": terms.get("autoRenew", False)}
    )
    payment = {"branchId": client["branchId"], "kind": "membership", "amountMinor": price}
    db.insert("payments", {**money, **payment, "method": terms.get("paymentMethod", "card")})
    _log(db, number, "renewed" if after else "created", None)
    return number


def check_in_client(db: Database, arguments: Arguments) -> Row:
    """Start a visit."""
    client = db.record("clients", arguments["clientId"])
    if db.one("select 1 from visits where clientId = :id and checkedOutAt is null", id=client["id"]):
        refuse(f"Client {client['id']} is already inside; check out first.")
    require_active_membership(db, client["id"])
    visit = {"clientId": client["id"], "branchId": arguments.get("branchId", client["branchId"])}
    return db.record("visit_rows", db.insert("visits", visit))


def check_out_client(db: Database, arguments: Arguments) -> Row:
    """End the visit."""
    visit = db.one("select id from visits where clientId = :id and checkedOutAt is null", id=arguments["clientId"])
    if visit is None:
        refuse(f"Client {arguments['clientId']} is not inside.")
    db.update("visits", visit["id"], {"checkedOutAt": db.now})
    return db.record("visit_rows", visit["id"])


def require_active_membership(db: Database, client_id: int) -> None:
    """Raise Problem (409) unless the client may train today."""
    held = (
        "select 1 from memberships where clientId = :id and status = 'active' and :today between startDate and endDate"
    )
    if db.record("clients", client_id)["status"] == "blocked":
        refuse(f"Client {client_id} is blocked.")
    if db.one(held, id=client_id) is None:
        refuse(f"Client {client_id} has no active membership; renew or unfreeze it first.")


def create_member_goal(db: Database, arguments: Arguments) -> Row:
    """Create a goal at its start value."""
    return db.record("goal_rows", db.insert("goals", {**arguments, "currentValue": arguments["startValue"]}))


def create_goal_milestone(db: Database, arguments: Arguments) -> Row:
    """Create a milestone. It is reached at once if the goal has passed it."""
    number = db.insert("milestones", arguments)
    _mark_milestones(db, db.record("goals", arguments["goalId"]), db.today)
    return db.record("milestones", number)


def record_goal_progress(db: Database, arguments: Arguments) -> Row:
    """Record a measurement: update the goal and its milestones, and end the goal at its target."""
    goal = db.record("goals", arguments["goalId"])
    if goal["status"] != "active":
        refuse(f"Goal {goal['id']} is {goal['status']}; set its status to active first.")
    db.insert("progress", arguments)
    goal["currentValue"] = arguments["value"]
    status = "achieved" if _reached(goal, goal["targetValue"]) else "active"
    db.update("goals", goal["id"], {"currentValue": arguments["value"], "status": status})
    _mark_milestones(db, goal, arguments.get("recordedOn", db.today))
    return read(db, "get_goal_details", {"goalId": goal["id"]}, paged=False)


def add_points(db: Database, client_id: int, points: int, reason: str, *, reward_id: int | None = None) -> Row:
    """Change a client's loyalty points. Raises Problem (409) if the balance would become negative."""
    balance = db.record("clients", client_id)["loyaltyPoints"] + points
    if balance < 0:
        refuse(f"Client {client_id} has {balance - points} points, {-balance} too few.")
    db.update("clients", client_id, {"loyaltyPoints": balance})
    entry = {"clientId": client_id, "points": points, "reason": reason, "rewardId": reward_id, "balance": balance}
    return db.record("points_entries", db.insert("points_entries", entry))


def adjust_loyalty_points(db: Database, arguments: Arguments) -> Row:
    """Give points, or take them back."""
    return add_points(db, arguments["clientId"], arguments["points"], arguments["reason"])


def redeem_reward(db: Database, arguments: Arguments) -> Row:
    """Exchange points for one piece of the reward."""
    reward = db.record("rewards", arguments["rewardId"])
    if reward["stock"] == 0:
        refuse(f"The reward {reward['name']} is out of stock.")
    if reward["stock"] is not None:
        db.update("rewards", reward["id"], {"stock": reward["stock"] - 1})
    return add_points(db, arguments["clientId"], -reward["costPoints"], reward["name"], reward_id=reward["id"])


def _in_bulk(db: Database, numbers: list[int], change: Any) -> Row:
    existing = [number for number in numbers if db.by_id("clients", number)]
    for number in existing:
        change(number)
    return {"changed": existing, "notFound": [number for number in numbers if number not in existing]}


def _held_membership(db: Database, client_id: int) -> Row:
    held = db.one(
        "select * from memberships where clientId = :id and status in ('active', 'frozen') and endDate >= :today "
        "order by status = 'frozen' desc, startDate",
        id=client_id,
    )
    if held is None:
        refuse(f"Client {client_id} has no active membership; sell one with renew_membership.")
    return held


def _log(db: Database, membership_id: int, event: str, detail: str | None) -> None:
    db.insert("membership_events", {"membershipId": membership_id, "event": event, "detail": detail})


def _mark_milestones(db: Database, goal: Row, day: str) -> None:
    for milestone in db.rows("select * from milestones where goalId = :id and reachedOn is null", id=goal["id"]):
        if _reached(goal, milestone["targetValue"]):
            db.update("milestones", milestone["id"], {"reachedOn": day})


def _reached(goal: Row, value: float) -> bool:
    falling = goal["targetValue"] < goal["startValue"]
    return bool(goal["currentValue"] <= value if falling else goal["currentValue"] >= value)


def _days(first: str, last: str) -> int:
    return (date.fromisoformat(last) - date.fromisoformat(first)).days


def _later(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
