"""Classes, appointments and other activities of members. Functions are named by operationId."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from api_specs.gym.members import require_active_membership
from api_specs.gym.operations import Arguments, read
from api_specs.gym.problems import refuse

if TYPE_CHECKING:
    from api_specs.gym.database import Database, Row


def book_class_session(db: Database, arguments: Arguments) -> Row:
    """Book a place, or a waiting list place if the session is full."""
    session, client_id = db.record("session_rows", arguments["sessionId"]), arguments["clientId"]
    if session["startsAt"] <= db.now:
        refuse(f"Session {session['id']} has already started, at {session['startsAt']}.")
    if db.one("select 1 from bookings where sessionId = :s and clientId = :c", s=session["id"], c=client_id):
        refuse(f"Client {client_id} has already booked session {session['id']}.")
    require_active_membership(db, client_id)
    if session["placesLeft"] == 0 and not arguments["joinWaitlist"]:
        refuse(f"Session {session['id']} is full; set joinWaitlist to join the waiting list.")
    status = "booked" if session["placesLeft"] else "waitlisted"
    number = db.insert("bookings", {"sessionId": session["id"], "clientId": client_id, "status": status})
    return db.record("booking_rows", number)


def book_appointment(db: Database, arguments: Arguments) -> Row:
    """Book a free slot."""
    starts_at = datetime.fromisoformat(arguments["startsAt"]).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    asked = {"serviceId": arguments["serviceId"], "trainerId": arguments["trainerId"], "branchId": None}
    free = db.rows(db.statements["get_available_slots"], {**asked, "date": starts_at[:10]})
    slot = next((slot for slot in free if slot["startsAt"] == starts_at), None)
    if slot is None:
        times = ", ".join(slot["startsAt"] for slot in free[:5]) or "none"
        refuse(f"Trainer {arguments['trainerId']} has no slot at {starts_at}; slots on that day: {times}.")
    number = db.insert("appointments", {**arguments, "startsAt": starts_at, "endsAt": slot["endsAt"]})
    return db.record("appointment_rows", number)


def resolve_churn_alert(db: Database, arguments: Arguments) -> Row:
    """Hide the alert for a while."""
    if db.one("select 1 from churn_rows where clientId = :id", id=arguments["clientId"]) is None:
        refuse(f"There is no churn alert for client {arguments['clientId']}.")
    return db.record("churn_resolutions", db.insert("churn_resolutions", arguments))


def join_challenge(db: Database, arguments: Arguments) -> Row:
    """Add a member to a challenge, with no points."""
    _require_challenge(db, arguments["challengeId"], ("upcoming", "running"))
    if _participant(db, arguments) is not None:
        refuse(f"Client {arguments['clientId']} already takes part.")
    db.insert("participants", {**arguments, "joinedOn": db.today})
    return _participant(db, arguments) or {}


def record_challenge_points(db: Database, arguments: Arguments) -> Row:
    """Add points to a member's total."""
    _require_challenge(db, arguments["challengeId"], ("running",))
    if _participant(db, arguments) is None:
        refuse(f"Client {arguments['clientId']} does not take part; join_challenge first.")
    db.execute(
        "update participants set points = points + :points where challengeId = :challengeId and clientId = :clientId",
        **arguments,
    )
    return _participant(db, arguments) or {}


def submit_survey_response(db: Database, arguments: Arguments) -> Row:
    """Record a member's one answer while the survey is open."""
    survey = db.record("survey_rows", arguments["surveyId"])
    if survey["status"] != "open":
        refuse(f"Survey {survey['id']} is not open, it is {survey['status']}.")
    return db.record("survey_responses", db.insert("survey_responses", arguments))


def _require_challenge(db: Database, number: int, statuses: tuple[str, ...]) -> None:
    challenge = db.record("challenge_rows", number)
    if challenge["status"] not in statuses:
        refuse(f"Challenge {number} is {challenge['status']}.")


def _participant(db: Database, arguments: Arguments) -> Row | None:
    page = read(db, "get_challenge_leaderboard", {**arguments, "branchId": None, "limit": -1, "offset": 0}, paged=True)
    return next((row for row in page["items"] if row["clientId"] == arguments["clientId"]), None)
