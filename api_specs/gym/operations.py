"""Operations without code of their own: reads are statements in reads.sql, plain writes are declared here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from api_specs.gym.problems import Problem, invalid, not_found

if TYPE_CHECKING:
    from api_specs.gym.database import Database, Row

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Create:
    """Insert the arguments into a table. The answer is the new row of the view `rows`."""

    table: str
    rows: str

    def __call__(self, db: Database, arguments: Arguments) -> Row:
        """Return the new record."""
        return db.record(self.rows, db.insert(self.table, arguments))


@dataclass(frozen=True)
class Update:
    """Change the record numbered by the path parameter `key`. The answer is its row of the view `rows`."""

    table: str
    rows: str
    key: str

    def __call__(self, db: Database, arguments: Arguments) -> Row:
        """Return the changed record."""
        number = arguments[self.key]
        db.update(self.table, number, {name: value for name, value in arguments.items() if name != self.key})
        return db.record(self.rows, number)


@dataclass(frozen=True)
class Delete:
    """Delete the record numbered by the path parameter `key`, and everything that belongs to it."""

    table: str
    key: str

    def __call__(self, db: Database, arguments: Arguments) -> None:
        """Delete the record."""
        db.execute(f"delete from {self.table} where id = :id", id=arguments[self.key])  # noqa: S608  # a declared table


WRITES: dict[str, Create | Update | Delete] = {
    "create_client": Create("clients", "client_rows"),
    "update_client": Update("clients", "client_rows", "clientId"),
    "delete_client": Delete("clients", "clientId"),
    "create_enquiry": Create("enquiries", "enquiries"),
    "update_enquiry": Update("enquiries", "enquiries", "enquiryId"),
    "delete_enquiry": Delete("enquiries", "enquiryId"),
    "create_staff": Create("staff", "staff"),
    "update_staff": Update("staff", "staff", "staffId"),
    "delete_staff": Delete("staff", "staffId"),
    "create_facility": Create("facilities", "facility_rows"),
    "update_facility": Update("facilities", "facility_rows", "facilityId"),
    "delete_facility": Delete("facilities", "facilityId"),
    "create_diet": Create("diets", "diet_rows"),
    "assign_diet": Create("diet_assignments", "diet_assignment_rows"),
    "create_plan": Create("plans", "plan_rows"),
    "update_plan": Update("plans", "plan_rows", "planId"),
    "delete_plan": Delete("plans", "planId"),
    "create_offer": Create("offers", "offer_rows"),
    "update_offer": Update("offers", "offer_rows", "offerId"),
    "delete_offer": Delete("offers", "offerId"),
    "create_lead": Create("leads", "lead_rows"),
    "update_lead": Update("leads", "lead_rows", "leadId"),
    "delete_lead": Delete("leads", "leadId"),
    "create_referral": Create("referrals", "referral_rows"),
    "create_document_template": Create("document_templates", "document_template_rows"),
    "sign_document": Create("signed_documents", "signed_document_rows"),
    "update_member_goal": Update("goals", "goal_rows", "goalId"),
    "delete_member_goal": Delete("goals", "goalId"),
    "create_member_note": Create("notes", "note_rows"),
    "delete_member_note": Delete("notes", "noteId"),
    "connect_wearable": Create("wearables", "wearable_rows"),
}

#: Arguments that refer to a record: the table or view of the record, and its name in messages.
REFERENCES = {
    "branchId": ("branches", "branch"),
    "clientId": ("clients", "client"),
    "sourceId": ("clients", "client"),
    "targetId": ("clients", "client"),
    "friendClientId": ("clients", "client"),
    "trainerId": ("trainer_rows", "trainer"),
    "staffId": ("staff", "staff member"),
    "ownerId": ("staff", "staff member"),
    "authorId": ("staff", "staff member"),
    "planId": ("plans", "plan"),
    "offerId": ("offers", "offer"),
    "salaryId": ("salaries", "salary"),
    "enquiryId": ("enquiries", "enquiry"),
    "leadId": ("leads", "lead"),
    "referralId": ("referrals", "referral"),
    "facilityId": ("facilities", "facility"),
    "dietId": ("diets", "diet plan"),
    "templateId": ("document_templates", "document template"),
    "documentId": ("signed_documents", "signed document"),
    "goalId": ("goals", "goal"),
    "photoId": ("photos", "photo"),
    "noteId": ("notes", "note"),
    "sessionId": ("sessions", "class session"),
    "serviceId": ("services", "service"),
    "productId": ("products", "product"),
    "campaignId": ("campaigns", "campaign"),
    "equipmentId": ("equipment", "piece of equipment"),
    "challengeId": ("challenges", "challenge"),
    "rewardId": ("rewards", "reward"),
    "surveyId": ("surveys", "survey"),
}


def require_records(db: Database, arguments: Arguments, *, place: str) -> None:
    """Raise Problem unless all referenced records exist: 404 for the path, 422 for the body."""
    for name, value in arguments.items():
        table, what = REFERENCES.get(name, ("", ""))
        if table and value is not None and db.by_id(table, value) is None:
            missing = not_found(what, value)
            raise missing if place == "path" else invalid((place, name, missing.detail))


def read(db: Database, name: str, arguments: Arguments, *, paged: bool) -> Row:
    """Return the answer of a statement in reads.sql: a page, or one record with nested lists. Raises Problem (404)."""
    sql = db.statements[name]
    if paged:
        total = db.rows(f"select count(*) as total from ({sql})", arguments)[0]["total"]  # noqa: S608  # from reads.sql
        items = db.rows(f"{sql}\nlimit :limit offset :offset", arguments)
        return {"items": items, "total": total, "limit": arguments["limit"], "offset": arguments["offset"]}
    found = db.one(sql, arguments)
    if found is None:
        raise Problem(404, "There is no such record.")
    for nested in db.statements:
        if nested.startswith(f"{name}."):
            found[nested.removeprefix(f"{name}.")] = db.rows(db.statements[nested], arguments)
    return found
