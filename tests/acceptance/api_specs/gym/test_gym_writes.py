"""Every writing operation is seen by a later read, and says no where the records do not allow it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api_specs.gym.document import load

if TYPE_CHECKING:
    import pytest


def pending_salary(gym: Any) -> int:
    return int(gym("get_pending_salaries")["items"][0]["id"])


def pending_referral(gym: Any) -> int:
    return int(gym("get_referrals_list", status="pending")["items"][0]["id"])


def new_lead(gym: Any) -> int:
    return int(gym("get_leads_list", stage="new")["items"][0]["id"])


def client_inside(gym: Any) -> int:
    return int(gym("get_attendance_today", stillInside=True)["items"][0]["clientId"])


def frozen_client(gym: Any) -> int:
    return int(gym("get_memberships", status="frozen")["items"][0]["clientId"])


def client_without_membership(gym: Any) -> int:
    return int(gym("get_clients_list", membershipStatus="expired", status="inactive")["items"][0]["id"])


def alerted_client(gym: Any) -> int:
    return int(gym("get_churn_alerts")["items"][0]["clientId"])


def rival(gym: Any) -> int:
    return int(gym("get_challenge_leaderboard", challengeId=1)["items"][1]["clientId"])


def free_session(gym: Any) -> int:
    return int(gym("get_class_sessions", dateFrom="2026-03-03", hasPlaces=True)["items"][0]["id"])


def full_session(gym: Any) -> int:
    return int(gym("get_class_sessions", dateFrom="2026-03-03", hasPlaces=False)["items"][0]["id"])


def enquiry(gym: Any) -> int:
    return int(gym("get_enquiries_list", status="new")["items"][0]["id"])


def note(gym: Any) -> int:
    return int(gym("get_member_notes", clientId=5)["items"][0]["id"])


def active_goal(gym: Any) -> int:
    return int(gym("get_member_goals", clientId=5, status="active")["items"][0]["id"])


def free_slot(gym: Any) -> str:
    return str(gym("get_available_slots", serviceId=1, date="2026-03-03", trainerId=3)["items"][0]["startsAt"])


BRANCH = {"name": "Northlight Harbour", "city": "Hamburg", "address": "Am Sandtorkai 5", "currency": "EUR"}
PERSON = {"firstName": "Aisha", "lastName": "Zimmermann", "email": "aisha@mail.example", "phone": "+49 30 1"}
CLIENT = {**PERSON, "birthDate": "1994-06-21", "branchId": 2, "tags": ["student"], "joinedOn": "2026-02-28"}
STAFF = {**PERSON, "role": "trainer", "specialty": "yoga", "branchId": 1, "salaryMinor": 300000, "currency": "EUR"}
PLAN = {"name": "Weekend", "description": "Saturdays and Sundays", "durationDays": 30, "priceMinor": 1990}
OFFER = {"code": "SUMMER15", "title": "Summer", "discountPercent": 15, "validUntil": "2026-08-31", "planId": 2}
GOAL = {"title": "Row 2 km", "kind": "endurance", "unit": "min", "startValue": 12, "targetValue": 8.5}

#: operationId -> its arguments, and a read (with its arguments) whose answer has to be another afterwards. A function
#: stands for what it finds in the seeded data.
WRITES: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "change_theme": ({"theme": "dark"}, "get_gym_info", {}),
    "navigate_to_page": ({"page": "clients", "entityId": 5}, "get_gym_info", {}),
    "create_branch": ({**BRANCH, "makeCurrent": True, "openedOn": "2026-01-01"}, "get_current_branch", {}),
    "create_client": (CLIENT, "get_clients_list", {"name": "Aisha Zimmermann"}),
    "update_client": ({"clientId": 5, "phone": "+49 1", "tags": ["vip"]}, "get_client_details", {"clientId": 5}),
    "delete_client": ({"clientId": 5}, "get_client_details", {"clientId": 5}),
    "merge_clients": ({"sourceId": 6, "targetId": 5}, "get_client_visits", {"clientId": 5}),
    "bulk_update_clients": (
        {"clientIds": [5, 6, 9999], "changes": {"tags": ["moved"], "branchId": 4}},
        "get_clients_list",
        {"tag": "moved"},
    ),
    "bulk_delete_clients": ({"clientIds": [7, 8, 9999]}, "get_clients_list", {}),
    "send_client_message": (
        {"clientId": 5, "channel": "sms", "text": "See you."},
        "get_client_details",
        {"clientId": 5},
    ),
    "freeze_membership": ({"clientId": 5, "reason": "holiday"}, "get_memberships", {"clientId": 5}),
    "unfreeze_membership": (
        {"clientId": frozen_client, "resumeDate": "2026-03-05"},
        "get_memberships",
        {"clientId": frozen_client},
    ),
    "renew_membership": (
        {"clientId": 5, "planId": 1, "offerCode": "spring20", "paymentMethod": "cash", "autoRenew": True},
        "get_client_payments",
        {"clientId": 5},
    ),
    "check_in_client": ({"clientId": 5, "branchId": 2}, "get_attendance_today", {"branchId": 2}),
    "check_out_client": ({"clientId": client_inside}, "get_attendance_today", {"stillInside": True}),
    "create_enquiry": (
        {"name": "Mia Lund", "interest": "yoga", "branchId": 1, "message": "When?", "source": "phone"},
        "get_enquiries_list",
        {"source": "phone"},
    ),
    "update_enquiry": ({"enquiryId": enquiry, "status": "closed"}, "get_enquiries_list", {"status": "closed"}),
    "delete_enquiry": ({"enquiryId": enquiry}, "get_enquiries_list", {"status": "new"}),
    "create_staff": (STAFF, "get_trainers_list", {"specialty": "yoga"}),
    "update_staff": ({"staffId": 6, "role": "sales", "salaryMinor": 250000}, "get_staff_details", {"staffId": 6}),
    "create_salary": (
        {"staffId": 3, "month": "2026-03", "bonusMinor": 5000, "deductionsMinor": 100},
        "get_pending_salaries",
        {"month": "2026-03"},
    ),
    "update_salary": ({"salaryId": pending_salary, "bonusMinor": 12345}, "get_pending_salaries", {}),
    "pay_salary": ({"salaryId": pending_salary, "paidOn": "2026-03-01"}, "get_pending_salaries", {}),
    "create_facility": (
        {"name": "Cold plunge", "category": "wellness", "branchId": 1, "capacity": 4},
        "get_amenities_list",
        {"branchId": 1},
    ),
    "update_facility": ({"facilityId": 1, "status": "closed"}, "get_amenities_list", {"status": "closed"}),
    "delete_facility": ({"facilityId": 1}, "get_amenities_list", {}),
    "create_diet": (
        {"name": "Keto", "goal": "weight_loss", "caloriesPerDay": 1800, "meals": ["Eggs"]},
        "get_diet_plans",
        {"goal": "weight_loss"},
    ),
    "assign_diet": ({"dietId": 1, "clientId": 2, "startsOn": "2026-03-09"}, "get_diet_plans", {"clientId": 2}),
    "create_plan": ({**PLAN, "currency": "CHF", "classesIncluded": True}, "get_membership_plans", {}),
    "update_plan": ({"planId": 2, "priceMinor": 64900}, "get_membership_plans", {}),
    "create_offer": (OFFER, "get_offers_list", {"planId": 2}),
    "validate_offer_code": ({"code": "spring20", "planId": 2}, "", {}),
    "update_offer": ({"offerId": 1, "discountPercent": 30}, "get_offers_list", {}),
    "delete_offer": ({"offerId": 1}, "get_offers_list", {}),
    "create_lead": (
        {"name": "Omar Haddad", "email": "omar@mail.example", "branchId": 1, "ownerId": 2, "valueMinor": 59900},
        "get_lead_pipeline",
        {"ownerId": 2},
    ),
    "update_lead": ({"leadId": 1, "valueMinor": 99900, "phone": "+49 2"}, "get_lead_details", {"leadId": 1}),
    "delete_lead": ({"leadId": 1}, "get_lead_details", {"leadId": 1}),
    "update_lead_stage": (
        {"leadId": new_lead, "stage": "lost", "reason": "moved away"},
        "get_leads_list",
        {"stage": "lost"},
    ),
    "assign_lead": ({"leadId": new_lead, "ownerId": 1}, "get_leads_list", {"ownerId": 1}),
    "convert_lead": (
        {"leadId": new_lead, "birthDate": "1990-02-11", "planId": 2, "email": "won@mail.example"},
        "get_membership_sales",
        {"planId": 2},
    ),
    "create_lead_follow_up": (
        {"leadId": new_lead, "kind": "call", "note": "Asked for a trial", "dueOn": "2026-03-06"},
        "get_lead_details",
        {"leadId": new_lead},
    ),
    "create_referral": (
        {"clientId": 5, "friendName": "Nora Berg", "friendPhone": "+49 3", "rewardPoints": 150},
        "get_referrals_list",
        {"clientId": 5},
    ),
    "convert_referral": ({"referralId": pending_referral, "friendClientId": 400}, "get_referral_stats", {}),
    "create_document_template": (
        {"title": "Sauna rules", "kind": "policy", "text": "No phones.", "isRequired": True},
        "get_document_templates",
        {"kind": "policy"},
    ),
    "sign_document": (
        {"clientId": 5, "templateId": 4, "signerName": "J. Carter"},
        "get_document_templates",
        {"missingForClientId": 5},
    ),
    "create_member_goal": ({**GOAL, "clientId": 5, "targetDate": "2026-09-01"}, "get_member_goals", {"clientId": 5}),
    "update_member_goal": (
        {"goalId": active_goal, "status": "abandoned"},
        "get_member_goals",
        {"clientId": 5, "status": "active"},
    ),
    "delete_member_goal": ({"goalId": active_goal}, "get_member_goals", {"clientId": 5}),
    "create_goal_milestone": (
        {"goalId": active_goal, "title": "Nearly", "targetValue": 9.9, "dueOn": "2026-04-01"},
        "get_goal_details",
        {"goalId": active_goal},
    ),
    "record_goal_progress": (
        {"goalId": active_goal, "value": 9.7, "note": "windy"},
        "get_goal_details",
        {"goalId": active_goal},
    ),
    "create_member_note": (
        {"clientId": 5, "text": "Sprained ankle.", "category": "health", "authorId": 3},
        "get_member_notes",
        {"clientId": 5, "category": "health"},
    ),
    "delete_member_note": ({"noteId": note}, "get_member_notes", {"clientId": 5}),
    "book_class_session": (
        {"sessionId": free_session, "clientId": 5},
        "get_session_bookings",
        {"sessionId": free_session},
    ),
    "book_appointment": (
        {"serviceId": 1, "trainerId": 3, "clientId": 5, "startsAt": free_slot, "note": "back pain"},
        "get_available_slots",
        {"serviceId": 1, "date": "2026-03-03"},
    ),
    "adjust_product_stock": ({"productId": 14, "change": 24, "reason": "delivery"}, "get_low_stock_products", {}),
    "record_equipment_maintenance": (
        {"equipmentId": 2, "performedOn": "2026-03-01", "note": "Belt replaced"},
        "get_equipment",
        {"status": "out_of_order"},
    ),
    "resolve_churn_alert": ({"clientId": alerted_client, "outcome": "called"}, "get_churn_alerts", {}),
    "join_challenge": ({"challengeId": 1, "clientId": 5}, "get_challenges", {"clientId": 5}),
    "record_challenge_points": (
        {"challengeId": 1, "clientId": rival, "points": 5000},
        "get_challenge_leaderboard",
        {"challengeId": 1},
    ),
    "adjust_loyalty_points": (
        {"clientId": 5, "points": 1000, "reason": "birthday"},
        "get_available_rewards",
        {"clientId": 5},
    ),
    "redeem_reward": ({"clientId": 5, "rewardId": 3}, "get_available_rewards", {"clientId": 5}),
    "connect_wearable": ({"clientId": 5, "provider": "garmin"}, "get_wearable_connections", {"clientId": 5}),
    "submit_survey_response": (
        {"surveyId": 1, "clientId": 5, "score": 10, "comment": "Splendid."},
        "get_survey_analytics",
        {"surveyId": 1},
    ),
    "delete_staff": ({"staffId": 29}, "get_staff_details", {"staffId": 29}),
    "delete_plan": ({"planId": 8}, "get_membership_plans", {}),
}


#: The answer has the sum, not what was added.
ADDED_UP = ("record_challenge_points", "points")


def found(gym: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value(gym) if callable(value) else value for name, value in arguments.items()}


def test_every_writing_operation_is_here() -> None:
    assert WRITES.keys() == {operation.id for operation in load().operations.values() if operation.method != "GET"}


def test_each_write_is_seen_by_a_later_read(new_gym: Any, subtests: pytest.Subtests) -> None:
    for name in sorted(WRITES.keys() - {"validate_offer_code"}):
        with subtests.test(name), new_gym() as gym:
            check_write(gym, name)


def check_write(gym: Any, name: str) -> None:
    arguments, read, look = WRITES[name]
    if name in ("delete_staff", "delete_plan"):  # only what nothing refers to can be deleted
        gym("create_staff", **STAFF) if name == "delete_staff" else gym("create_plan", **PLAN)
    arguments, look = found(gym, arguments), found(gym, look)
    before = gym.seen(read, **look)
    answer = gym(name, **arguments)
    assert gym.seen(read, **look) != before
    if isinstance(answer, dict):  # what was given is what is answered
        given = {key: value for key, value in arguments.items() if key in answer and (name, key) != ADDED_UP}
        assert {key: answer[key] for key in given} == given


def test_an_offer_code_is_checked_for_the_plan(gym: Any) -> None:
    valid = gym("validate_offer_code", code="spring20", planId=2)
    assert (valid["valid"], valid["code"], valid["priceMinor"], valid["discountedPriceMinor"]) == (
        True,
        "SPRING20",
        59900,
        47920,
    )
    reasons = {
        "NEWYEAR25": "The offer NEWYEAR25 expired on 2026-01-31.",
        "SUMMER30": "The offer SUMMER30 starts on 2026-05-01.",
        "FIRST50": "All 50 uses of the offer FIRST50 are taken.",
        "STUDENT15": "The offer STUDENT15 is valid for plan 4 only.",
        "NOPE": "There is no offer with the code NOPE.",
    }
    for code, reason in reasons.items():
        answer = gym("validate_offer_code", code=code, planId=2)
        assert (answer["valid"], answer["reason"]) == (False, reason)


def test_a_membership_is_frozen_once_and_unfrozen_once(gym: Any) -> None:
    held = gym("get_memberships", clientId=5, status="active")["items"][0]
    frozen = gym("freeze_membership", clientId=5, fromDate="2026-03-10", untilDate="2026-03-23")
    assert (frozen["status"], frozen["daysLeft"] - held["daysLeft"]) == ("frozen", 14)
    problem = gym("freeze_membership", clientId=5, expect=409)
    assert problem["detail"] == f"Membership {held['id']} is already frozen, since 2026-03-10."
    thawed = gym("unfreeze_membership", clientId=5, resumeDate="2026-03-15")
    assert (thawed["status"], thawed["daysLeft"] - held["daysLeft"]) == ("active", 5)
    problem = gym("unfreeze_membership", clientId=5, expect=409)
    assert problem["detail"] == f"Membership {held['id']} is not frozen, it is active."


def test_a_freeze_keeps_to_the_membership_and_to_the_plan(gym: Any) -> None:
    gym("freeze_membership", clientId=5, fromDate="2020-01-01", expect=422)
    gym("freeze_membership", clientId=5, fromDate="2026-03-10", untilDate="2026-03-09", expect=422)
    problem = gym("freeze_membership", clientId=5, fromDate="2026-03-10", untilDate="2026-08-10", expect=409)
    assert problem["detail"] == "The plan allows a freeze of 90 days, not 154."
    gym("freeze_membership", clientId=client_without_membership(gym), expect=409)


def test_a_renewal_takes_the_offer_off_and_begins_when_the_last_one_ends(gym: Any) -> None:
    held = gym("get_memberships", clientId=5, status="active")["items"][0]
    renewed = gym("renew_membership", clientId=5, offerCode="GOLD10")
    assert renewed["priceMinor"] == 53910
    assert renewed["startDate"] > held["endDate"]
    assert gym("get_client_payments", clientId=5)["items"][0]["amountMinor"] == 53910
    assert gym("get_membership_history", clientId=5)["items"][0]["event"] == "renewed"
    gym("renew_membership", clientId=5, offerCode="NEWYEAR25", expect=409)
    gym("renew_membership", clientId=5, planId=6, expect=409)
    gym("renew_membership", clientId=frozen_client(gym), expect=409)


def test_a_new_client_buys_a_first_membership(gym: Any) -> None:
    client = gym("create_client", **CLIENT)["id"]
    gym("renew_membership", clientId=client, expect=409)
    assert gym("renew_membership", clientId=client, planId=1)["startDate"] == "2026-03-02"
    gym("check_in_client", clientId=client)
    gym("check_in_client", clientId=client, expect=409)
    gym("check_out_client", clientId=client)
    gym("check_out_client", clientId=client, expect=409)


def test_without_an_active_membership_nobody_trains(gym: Any) -> None:
    client = client_without_membership(gym)
    gym("check_in_client", clientId=client, expect=409)
    gym("book_class_session", sessionId=free_session(gym), clientId=client, expect=409)


def test_a_session_is_booked_until_it_is_full(gym: Any) -> None:
    session = full_session(gym)
    gym("book_class_session", sessionId=session, clientId=5, expect=409)
    assert gym("book_class_session", sessionId=session, clientId=5, joinWaitlist=True)["status"] == "waitlisted"
    gym("book_class_session", sessionId=session, clientId=5, joinWaitlist=True, expect=409)
    gym("book_class_session", sessionId=1, clientId=5, expect=409)  # four weeks ago


def test_a_slot_is_gone_once_it_is_booked(gym: Any) -> None:
    slot = free_slot(gym)
    asked = {"serviceId": 1, "trainerId": 3, "startsAt": slot}
    gym("book_appointment", **asked, clientId=5)
    problem = gym("book_appointment", **asked, clientId=6, expect=409)
    assert problem["detail"].startswith(f"Trainer 3 has no slot at {slot}; slots on that day: 2026-03-03T")
    assert slot not in [
        s["startsAt"] for s in gym("get_available_slots", serviceId=1, date="2026-03-03", trainerId=3)["items"]
    ]
    booked = gym("get_appointments", clientId=5, dateFrom="2026-03-03", dateTo="2026-03-03")["items"]
    assert slot in [appointment["startsAt"] for appointment in booked]


def test_points_never_become_negative(gym: Any) -> None:
    assert gym("get_client_details", clientId=5)["loyaltyPoints"] == 620
    problem = gym("adjust_loyalty_points", clientId=5, points=-621, reason="mistake", expect=409)
    assert problem["detail"] == "Client 5 has 620 points, 1 too few."
    gym("redeem_reward", clientId=5, rewardId=4, expect=409)
    gym("redeem_reward", clientId=5, rewardId=6, expect=409)  # out of stock
    assert gym("redeem_reward", clientId=5, rewardId=3)["balance"] == 220
    assert gym("get_client_details", clientId=5)["loyaltyPoints"] == 220


def test_stock_never_becomes_negative(gym: Any) -> None:
    assert gym("adjust_product_stock", productId=1, change=-34)["stock"] == 0
    gym("adjust_product_stock", productId=1, change=-1, expect=409)


def test_a_salary_is_paid_once(gym: Any) -> None:
    salary = pending_salary(gym)
    assert gym("pay_salary", salaryId=salary)["paymentMethod"] == "bank_transfer"
    gym("pay_salary", salaryId=salary, expect=409)
    gym("update_salary", salaryId=salary, bonusMinor=1, expect=409)
    gym("create_salary", staffId=1, month="2026-02", expect=409)
    created = gym("create_salary", staffId=1, month="2026-03", bonusMinor=500)
    assert created["amountMinor"] == gym("get_staff_details", staffId=1)["salaryMinor"] + 500


def test_a_lead_is_won_by_converting_it(gym: Any) -> None:
    lead = new_lead(gym)
    gym("update_lead_stage", leadId=lead, stage="won", expect=409)
    gym("update_lead_stage", leadId=lead, stage="lost", expect=409)  # without a reason
    gym("assign_lead", leadId=lead, ownerId=3, expect=409)  # a trainer
    assert gym("create_lead_follow_up", leadId=lead, kind="call", note="Hello")["leadId"] == lead
    assert gym("get_lead_details", leadId=lead)["stage"] == "contacted"
    won = gym("convert_lead", leadId=lead, birthDate="1990-02-11", planId=1)
    assert (won["stage"], gym("get_client_details", clientId=won["clientId"])["planName"]) == ("won", "Monthly")
    gym("convert_lead", leadId=lead, birthDate="1990-02-11", expect=409)
    gym("update_lead_stage", leadId=lead, stage="trial", expect=409)


def test_a_referral_is_rewarded_once(gym: Any) -> None:
    referral = gym("create_referral", clientId=5, friendName="Nora Berg", rewardPoints=80)["id"]
    gym("convert_referral", referralId=referral, friendClientId=5, expect=409)
    assert gym("convert_referral", referralId=referral, friendClientId=17)["convertedOn"] == "2026-03-02"
    gym("convert_referral", referralId=referral, friendClientId=17, expect=409)
    assert gym("get_client_details", clientId=5)["loyaltyPoints"] == 700


def test_a_goal_is_achieved_when_its_target_is_reached_in_either_direction(gym: Any) -> None:
    goal = gym("create_member_goal", clientId=5, **GOAL)["id"]
    gym("create_goal_milestone", goalId=goal, title="Under ten", targetValue=10)
    halfway = gym("record_goal_progress", goalId=goal, value=9.9, recordedOn="2026-03-01")
    assert (halfway["status"], halfway["progressPercent"]) == ("active", 60.0)
    assert halfway["milestones"][0]["reachedOn"] == "2026-03-01"
    assert gym("record_goal_progress", goalId=goal, value=8.4)["status"] == "achieved"
    gym("record_goal_progress", goalId=goal, value=8.3, expect=409)


def test_merging_moves_everything_and_drops_the_duplicate(gym: Any) -> None:
    visits = [gym("get_client_details", clientId=client)["visits"] for client in (5, 6)]
    points = [gym("get_client_details", clientId=client)["loyaltyPoints"] for client in (5, 6)]
    merged = gym("merge_clients", sourceId=6, targetId=5)
    assert (merged["visits"], merged["loyaltyPoints"]) == (sum(visits), sum(points))
    gym("get_client_details", clientId=6, expect=404)
    gym("merge_clients", sourceId=5, targetId=5, expect=409)


def test_bulk_operations_say_what_they_did_not_find(gym: Any) -> None:
    changed = gym("bulk_update_clients", clientIds=[5, 9999], changes={"status": "blocked"})
    assert changed == {"changed": [5], "notFound": [9999]}
    gym("check_in_client", clientId=5, expect=409)
    assert gym("bulk_delete_clients", clientIds=[5, 9999]) == {"changed": [5], "notFound": [9999]}
    gym("get_client_details", clientId=5, expect=404)


def test_a_change_that_fails_leaves_nothing_behind(gym: Any) -> None:
    taken = gym("get_client_details", clientId=6)["email"]
    before = gym("get_client_details", clientId=5)
    gym("bulk_update_clients", clientIds=[5, 7], changes={"email": "both@mail.example"}, expect=409)
    gym("update_client", clientId=5, email=taken.upper(), expect=409)
    assert gym("get_client_details", clientId=5) == before


#: Operation, arguments, and what the conflict's detail holds.
_CONFLICTS: list[tuple[str, dict[str, Any], str]] = [
    ("create_client", {**CLIENT, "email": "JOHN.CARTER5@example.com"}, "the same email"),
    ("create_branch", {**BRANCH, "name": "northlight mitte"}, "the same name"),
    ("create_plan", {**PLAN, "name": "Gold"}, "the same name"),
    ("create_offer", {**OFFER, "code": "spring20"}, "the same code"),
    ("delete_plan", {"planId": 2}, "Other records still refer to this one."),
    ("delete_staff", {"staffId": 3}, "Other records still refer to this one."),
    ("sign_document", {"clientId": 5, "templateId": 1, "signerName": "J"}, "the same templateId and clientId"),
    ("connect_wearable", {"clientId": 5, "provider": "fitbit"}, "the same clientId and provider"),
    ("assign_diet", {"dietId": 6, "clientId": 5}, ""),
    ("submit_survey_response", {"surveyId": 2, "clientId": 5, "score": 5}, "it is closed"),
    ("join_challenge", {"challengeId": 3, "clientId": 5}, "Challenge 3 is finished."),
    ("record_challenge_points", {"challengeId": 1, "clientId": 5, "points": 5}, "does not take part"),
    ("resolve_churn_alert", {"clientId": 4, "outcome": "called"}, "no churn alert for client 4"),
    ("send_client_message", {"clientId": 12, "channel": "sms", "text": "Hi"}, "no telephone number"),
]


def test_a_conflict_says_what_is_in_the_way(new_gym: Any, subtests: pytest.Subtests) -> None:
    for name, arguments, detail in _CONFLICTS:
        with subtests.test(name), new_gym() as gym:
            if name == "assign_diet":
                gym.request(name, **arguments)
            assert detail in gym(name, **arguments, expect=409)["detail"]
