"""Offer codes: validity and discounted prices."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from api_specs.gym.database import Database, Row
    from api_specs.gym.operations import Arguments


def validate_offer_code(db: Database, arguments: Arguments) -> Row:
    """Return whether a code is valid today, and the discounted price of the plan. Does not redeem it."""
    plan = db.by_id("plans", arguments.get("planId"))
    offer, reason = checked_offer(db, arguments["code"], arguments.get("planId"))
    price = plan["priceMinor"] if plan else None
    percent = offer["discountPercent"] if offer else None
    return {
        "code": offer["code"] if offer else arguments["code"],
        "valid": offer is not None,
        "reason": reason,
        "discountPercent": percent,
        "planId": arguments.get("planId"),
        "priceMinor": price,
        "discountedPriceMinor": price - round(price * (percent or 0) / 100) if price is not None else None,
        "currency": plan["currency"] if plan else None,
    }


def checked_offer(db: Database, code: str, plan_id: int | None) -> tuple[Row | None, str]:
    """Return the offer if it is valid today for the plan, and the reason why it is or is not."""
    offer = db.one("select * from offer_rows where code = :code", code=code)
    if offer is None:
        return None, f"There is no offer with the code {code}."
    if offer["status"] == "expired":
        return None, f"The offer {offer['code']} expired on {offer['validUntil']}."
    if offer["status"] == "scheduled":
        return None, f"The offer {offer['code']} starts on {offer['validFrom']}."
    if offer["status"] == "used_up":
        return None, f"All {offer['maxRedemptions']} uses of the offer {offer['code']} are taken."
    if plan_id is not None and offer["planId"] not in (None, plan_id):
        return None, f"The offer {offer['code']} is valid for plan {offer['planId']} only."
    return offer, f"The offer {offer['code']} can be used until {offer['validUntil']}."
