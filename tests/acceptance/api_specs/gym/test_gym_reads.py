"""Every parameter of every reading operation changes the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api_specs.gym.document import load

if TYPE_CHECKING:
    import pytest

#: operationId -> arguments to start from, and for each other parameter a value that has to change the answer.
#: The clock stands at 2026-03-02T12:00:00Z, a Monday.
READS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "get_gym_info": ({}, {"branchId": 3}),
    "get_branches_info": ({}, {"city": "berlin", "isOpen": False}),
    "get_current_branch": ({}, {"date": "2026-03-07"}),
    "get_currencies": ({}, {"base": "GBP"}),
    "convert_currency": (
        {"amountMinor": 1000, "fromCurrency": "GBP", "toCurrency": "EUR"},
        {"amountMinor": 2000, "fromCurrency": "CHF", "toCurrency": "JPY"},
    ),
    "get_clients_list": (
        {},
        {
            "name": "john c",
            "status": "inactive",
            "branchId": 2,
            "trainerId": 3,
            "membershipStatus": "frozen",
            "planId": 2,
            "tag": "vip",
            "joinedFrom": "2026-01-01",
            "joinedTo": "2025-01-01",
            "sort": "-joinedOn",
        },
    ),
    "get_client_birthdays": ({}, {"month": 3, "days": 14, "branchId": 2}),
    "get_client_details": ({"clientId": 5}, {"clientId": 6}),
    "get_client_payments": (
        {"clientId": 5},
        {"clientId": 6, "dateFrom": "2026-01-01", "dateTo": "2025-12-31", "kind": "membership"},
    ),
    "get_client_visits": ({"clientId": 5}, {"clientId": 6, "dateFrom": "2026-02-01", "dateTo": "2026-01-31"}),
    "get_memberships": (
        {},
        {
            "clientId": 5,
            "status": "frozen",
            "planId": 4,
            "branchId": 3,
            "endingFrom": "2026-03-02",
            "endingTo": "2026-03-16",
            "autoRenew": False,
        },
    ),
    "get_membership_stats": ({}, {"branchId": 1, "planId": 2}),
    "get_membership_history": ({"clientId": 5}, {"clientId": 6, "event": "renewed"}),
    "get_attendance_today": ({}, {"branchId": 1, "stillInside": True}),
    "get_attendance_by_date": ({"date": "2026-02-27"}, {"date": "2026-02-26", "branchId": 2}),
    "get_attendance_stats": ({}, {"dateFrom": "2026-02-20", "dateTo": "2026-02-20", "branchId": 1}),
    "get_attendance_report": (
        {},
        {"dateFrom": "2026-02-20", "dateTo": "2026-02-20", "branchId": 1, "groupBy": "weekday"},
    ),
    "get_revenue_stats": (
        {},
        {"dateFrom": "2025-12-01", "dateTo": "2026-02-20", "branchId": 1, "groupBy": "week", "currency": "JPY"},
    ),
    "get_membership_sales": (
        {},
        {"dateFrom": "2025-12-01", "dateTo": "2026-02-20", "branchId": 1, "planId": 1, "currency": "GBP"},
    ),
    "get_trainers_list": ({}, {"name": "a", "branchId": 2, "specialty": "yoga"}),
    "get_trainers_stats": ({}, {"dateFrom": "2026-02-20", "dateTo": "2026-02-20", "branchId": 1, "trainerId": 10}),
    "get_enquiries_list": ({}, {"status": "new", "source": "phone", "branchId": 1, "createdFrom": "2026-02-01"}),
    "get_staff_list": ({}, {"name": "er", "role": "manager", "branchId": 4, "status": "on_leave"}),
    "get_staff_details": ({"staffId": 1}, {"staffId": 2}),
    "get_salary_stats": ({}, {"month": "2026-01", "branchId": 1, "currency": "CHF"}),
    "get_pending_salaries": ({}, {"month": "2026-01", "branchId": 1, "role": "trainer"}),
    "get_salary_history": ({"staffId": 1}, {"staffId": 2, "monthFrom": "2026-01", "monthTo": "2025-12"}),
    "get_amenities_list": ({}, {"branchId": 1, "category": "wellness", "status": "closed"}),
    "get_diet_plans": ({}, {"goal": "endurance", "clientId": 5, "maxCalories": 2000}),
    "get_diet_details": ({"dietId": 1}, {"dietId": 2}),
    "get_membership_plans": ({}, {"isActive": False, "maxPriceMinor": 10000, "classesIncluded": True}),
    "get_offers_list": ({}, {"status": "expired", "planId": 4}),
    "get_leads_list": (
        {},
        {
            "name": "an",
            "stage": "trial",
            "ownerId": 2,
            "unassigned": True,
            "source": "event",
            "branchId": 3,
            "notContactedSince": "2026-02-01",
        },
    ),
    "get_lead_pipeline": ({}, {"ownerId": 2, "branchId": 1, "createdFrom": "2026-02-01", "currency": "USD"}),
    "get_lead_details": ({"leadId": 1}, {"leadId": 2}),
    "get_referrals_list": ({}, {"status": "converted", "clientId": 5}),
    "get_referral_details": ({"referralId": 1}, {"referralId": 2}),
    "get_referral_stats": ({}, {"createdFrom": "2026-01-01"}),
    "get_document_templates": ({}, {"kind": "waiver", "isRequired": False, "missingForClientId": 5}),
    "get_signed_documents": ({}, {"clientId": 5, "templateId": 2, "kind": "policy"}),
    "get_signed_document_pdf": ({"documentId": 1}, {"documentId": 2}),
    "get_member_goals": ({"clientId": 5}, {"clientId": 6, "status": "achieved", "kind": "strength"}),
    "get_goal_details": ({"goalId": 1}, {"goalId": 2}),
    "get_member_photos": (
        {"clientId": 5},
        {"clientId": 20, "kind": "side", "dateFrom": "2026-02-01", "dateTo": "2026-01-20"},
    ),
    "get_photo_details": ({"photoId": 1}, {"photoId": 2}),
    "get_member_notes": ({"clientId": 5}, {"clientId": 10, "category": "health", "text": "zzz"}),
    "get_class_types": ({}, {"category": "yoga", "difficulty": "advanced"}),
    "get_class_sessions": (
        {},
        {
            "dateFrom": "2026-03-05",
            "dateTo": "2026-03-03",
            "classTypeId": 1,
            "trainerId": 3,
            "branchId": 2,
            "hasPlaces": False,
        },
    ),
    "get_session_bookings": ({"sessionId": 1}, {"sessionId": 2, "status": "waitlisted"}),
    "get_services": ({}, {"category": "therapy", "maxPriceMinor": 4000}),
    "get_available_slots": (
        {"serviceId": 1, "date": "2026-03-03"},
        {"serviceId": 3, "date": "2026-03-04", "trainerId": 3, "branchId": 2},
    ),
    "get_appointments": (
        {},
        {"dateFrom": "2026-02-20", "dateTo": "2026-03-02", "clientId": 6, "trainerId": 3, "status": "completed"},
    ),
    "get_guest_visits": (
        {},
        {"dateFrom": "2026-01-01", "dateTo": "2026-02-15", "branchId": 1, "hostClientId": 5},
    ),
    "get_guest_visit_stats": ({}, {"dateFrom": "2026-01-01", "dateTo": "2026-02-15", "branchId": 1}),
    "get_products": ({}, {"name": "PROTEIN", "category": "drinks", "supplier": "ironline"}),
    "get_low_stock_products": ({}, {"threshold": 2, "category": "drinks"}),
    "get_campaigns": ({}, {"status": "running", "channel": "email"}),
    "get_campaign_details": ({"campaignId": 1}, {"campaignId": 2}),
    "get_equipment": ({}, {"branchId": 2, "category": "cardio", "status": "out_of_order"}),
    "get_upcoming_maintenance": ({}, {"days": 90, "branchId": 1}),
    "get_custom_fields": ({}, {"entityType": "staff", "isRequired": True}),
    "get_entity_custom_values": ({"entityType": "client", "entityId": 5}, {"entityType": "staff", "entityId": 6}),
    "get_engagement_dashboard": ({}, {"days": 7, "branchId": 1}),
    "get_churn_alerts": ({}, {"minDaysAbsent": 40, "risk": "low", "branchId": 2}),
    "get_challenges": ({}, {"status": "finished", "clientId": 12}),
    "get_challenge_leaderboard": ({"challengeId": 1}, {"challengeId": 2, "branchId": 2}),
    "get_loyalty_dashboard": ({}, {"branchId": 1, "top": 2}),
    "get_available_rewards": ({}, {"clientId": 5, "maxPoints": 200}),
    "get_wearable_connections": ({}, {"clientId": 5, "provider": "fitbit", "status": "disconnected"}),
    "get_user_wearable_data": (
        {"clientId": 5},
        {"clientId": 8, "dateFrom": "2026-02-25", "dateTo": "2026-02-20", "provider": "whoop"},
    ),
    "get_surveys": ({}, {"status": "open"}),
    "get_survey_analytics": ({"surveyId": 1}, {"surveyId": 2, "branchId": 1}),
}
PAGING = {"limit", "offset"}


def test_every_reading_operation_and_each_of_its_parameters_is_here() -> None:
    reading = {operation.id: operation for operation in load().operations.values() if operation.method == "GET"}
    assert READS.keys() == reading.keys()
    for name, operation in reading.items():
        assert READS[name][1].keys() == {parameter.name for parameter in operation.parameters} - PAGING, name


def test_each_argument_changes_the_answer(unchanged: Any, subtests: pytest.Subtests) -> None:
    for name, (start, changes) in READS.items():
        with subtests.test(name):
            before = unchanged(name, **start)
            for parameter, value in changes.items():
                assert unchanged(name, **{**start, parameter: value}) != before, parameter


def test_a_list_is_cut_by_limit_and_offset(unchanged: Any, subtests: pytest.Subtests) -> None:
    for name in [name for name, operation in load().operations.items() if "limit" in repr(operation)]:
        with subtests.test(name):
            start, _ = READS[name]
            whole = unchanged(name, **start, limit=200)
            assert whole["total"] > 1, "a list of one shows nothing"
            assert unchanged(name, **start, limit=1) == {**whole, "items": whole["items"][:1], "limit": 1}
            assert unchanged(name, **start, offset=1, limit=1)["items"] == whole["items"][1:2]


def test_paging_through_a_list_gives_each_item_once(unchanged: Any) -> None:
    pages = [unchanged("get_clients_list", limit=150, offset=offset)["items"] for offset in range(0, 480, 150)]
    ids = [client["id"] for page in pages for client in page]
    assert sorted(ids) == list(range(1, 481))


def test_filters_hold_for_every_item(unchanged: Any) -> None:
    clients = unchanged("get_clients_list", branchId=2, membershipStatus="active", joinedFrom="2025-06-01")["items"]
    assert clients
    assert {(c["branchId"], c["membershipStatus"], c["joinedOn"] >= "2025-06-01") for c in clients} == {
        (2, "active", True)
    }


def test_lists_are_in_the_order_that_was_asked_for(unchanged: Any) -> None:
    points = [c["loyaltyPoints"] for c in unchanged("get_clients_list", sort="-loyaltyPoints", limit=200)["items"]]
    assert points == sorted(points, reverse=True)
    joined = [c["joinedOn"] for c in unchanged("get_clients_list", sort="joinedOn", limit=200)["items"]]
    assert joined == sorted(joined)


def test_a_name_is_found_in_any_case_and_without_patterns(unchanged: Any) -> None:
    assert [c["id"] for c in unchanged("get_clients_list", name="JOHN")["items"]] == [5]
    assert unchanged("get_clients_list", name="%")["total"] == 0


def test_an_amount_is_converted_between_minor_units_of_different_size(unchanged: Any) -> None:
    answer = unchanged("convert_currency", amountMinor=1000, fromCurrency="GBP", toCurrency="JPY")
    assert (answer["convertedMinor"], answer["rate"]) == (1920, 192.0)  # 10.00 pounds at 163.2 / 0.85 yen


def test_revenue_by_branch_adds_up_in_one_currency(unchanged: Any) -> None:
    whole = unchanged("get_revenue_stats", groupBy="branch", currency="CHF")
    assert sum(group["payments"] for group in whole["groups"]) == whole["payments"]
    assert abs(sum(group["amountMinor"] for group in whole["groups"]) - whole["amountMinor"]) <= len(whole["groups"])
    parts = whole["membershipMinor"] + whole["productMinor"] + whole["personalTrainingMinor"]
    assert abs(parts - whole["amountMinor"]) <= 2


def test_salary_statistics_agree_with_the_pending_salaries(unchanged: Any) -> None:
    pending = unchanged("get_pending_salaries", month="2026-02", branchId=1)["items"]
    stats = unchanged("get_salary_stats", month="2026-02", branchId=1, currency="EUR")
    assert stats["pending"] == len(pending)
    assert stats["pendingMinor"] == sum(salary["amountMinor"] for salary in pending)


def test_a_signed_document_is_a_pdf_that_names_who_signed(unchanged: Any) -> None:
    signed = unchanged("get_signed_documents", clientId=5)["items"][0]
    response = unchanged.request("get_signed_document_pdf", documentId=signed["id"])
    assert response.headers["content-type"] == "application/pdf"
    assert response.content.startswith(b"%PDF-1.4")
    assert response.content.endswith(b"%%EOF\n")
    assert b"Signed by John Carter \\(client 5\\)" in response.content
