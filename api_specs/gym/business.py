"""The gym, its staff and its sales. Functions are named by operationId."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from api_specs.gym.members import add_points, sell_membership
from api_specs.gym.operations import Arguments, read
from api_specs.gym.pdf import one_page
from api_specs.gym.problems import invalid, not_found, refuse

if TYPE_CHECKING:
    from api_specs.gym.database import Database, Row


def change_theme(db: Database, arguments: Arguments) -> Row:
    """Change the colours of the back office."""
    previous = db.rows("select theme from gym")[0]["theme"]
    db.execute("update gym set theme = :theme", theme=arguments["theme"])
    return {"theme": arguments["theme"], "previousTheme": previous}


def navigate_to_page(db: Database, arguments: Arguments) -> Row:
    """Set the page that the back office shows."""
    page, number = arguments["page"], arguments.get("entityId")
    db.execute("update gym set currentPage = :page", page=page)
    title = page.capitalize() + (f" {number}" if number else "")
    return {"page": page, "title": title, "path": f"/{page}" + (f"/{number}" if number else "")}


def create_branch(db: Database, arguments: Arguments) -> Row:
    """Create a branch, and optionally make it the current one."""
    number = db.insert("branches", arguments)
    if arguments["makeCurrent"]:
        db.execute("update gym set currentBranchId = :number", number=number)
    return db.record("branch_rows", number)


def create_salary(db: Database, arguments: Arguments) -> Row:
    """Create a salary. The base defaults to the employee's."""
    base = db.record("staff", arguments["staffId"])["salaryMinor"]
    return db.record("salary_rows", db.insert("salaries", {"baseMinor": base, "paidOn": None, **arguments}))


def update_salary(db: Database, arguments: Arguments) -> Row:
    """Change amounts of a pending salary."""
    number = _pending_salary(db, arguments)
    db.update("salaries", number, {name: value for name, value in arguments.items() if name != "salaryId"})
    return db.record("salary_rows", number)


def pay_salary(db: Database, arguments: Arguments) -> Row:
    """Mark a pending salary as paid."""
    number = _pending_salary(db, arguments)
    paid = {"paidOn": arguments.get("paidOn", db.today), "paymentMethod": arguments["paymentMethod"]}
    db.update("salaries", number, {"status": "paid", **paid})
    return db.record("salary_rows", number)


def update_lead_stage(db: Database, arguments: Arguments) -> Row:
    """Move a lead along the pipeline. Losing needs a reason; winning needs convert_lead."""
    lead, stage = db.record("leads", arguments["leadId"]), arguments["stage"]
    if lead["stage"] == "won":
        refuse(f"Lead {lead['id']} is already won, as client {lead['clientId']}.")
    if stage == "won":
        refuse("Use convert_lead to win a lead.")
    if stage == "lost" and "reason" not in arguments:
        refuse("Pass a reason for losing the lead.")
    db.update("leads", lead["id"], {"stage": stage, "lostReason": arguments.get("reason") if stage == "lost" else None})
    return db.record("lead_rows", lead["id"])


def assign_lead(db: Database, arguments: Arguments) -> Row:
    """Assign a lead to an employee in sales or management."""
    owner = db.record("staff", arguments["ownerId"])
    if owner["role"] not in ("sales", "manager") or owner["status"] == "left":
        refuse(f"{owner['firstName']} {owner['lastName']} does not work in sales or management.")
    db.update("leads", arguments["leadId"], {"ownerId": owner["id"]})
    return db.record("lead_rows", arguments["leadId"])


def convert_lead(db: Database, arguments: Arguments) -> Row:
    """Turn a lead into a client, and sell a membership if a plan is given."""
    lead = db.record("leads", arguments["leadId"])
    if lead["stage"] in ("won", "lost"):
        refuse(f"Lead {lead['id']} is already {lead['stage']}.")
    email = arguments.get("email") or lead["email"]
    if email is None:
        refuse(f"Lead {lead['id']} has no e-mail address; pass one.")
    first, _, last = lead["name"].partition(" ")
    person = {"firstName": first, "lastName": last or first, "birthDate": arguments["birthDate"], "tags": []}
    contact = {"email": email, "phone": lead["phone"], "branchId": lead["branchId"]}
    client = db.record("clients", db.insert("clients", {**person, **contact}))
    if "planId" in arguments:
        sell_membership(db, client, arguments["planId"], {}, after=None)
    db.update("leads", lead["id"], {"stage": "won", "clientId": client["id"], "email": email})
    return read(db, "get_lead_details", {"leadId": lead["id"]}, paged=False)


def create_lead_follow_up(db: Database, arguments: Arguments) -> Row:
    """Record a follow-up. A new lead becomes a contacted one."""
    if db.record("leads", arguments["leadId"])["stage"] == "new":
        db.update("leads", arguments["leadId"], {"stage": "contacted"})
    return db.record("follow_ups", db.insert("follow_ups", arguments))


def convert_referral(db: Database, arguments: Arguments) -> Row:
    """Record that the friend has joined, and give the member the points."""
    referral, friend = db.record("referrals", arguments["referralId"]), arguments["friendClientId"]
    if referral["status"] != "pending":
        refuse(f"Referral {referral['id']} is {referral['status']}.")
    if friend == referral["clientId"]:
        refuse("Members cannot refer themselves.")
    db.update("referrals", referral["id"], {"status": "converted", "convertedOn": db.today, "friendClientId": friend})
    add_points(db, referral["clientId"], referral["rewardPoints"], f"referral of {referral['friendName']}")
    return db.record("referral_rows", referral["id"])


def get_signed_document_pdf(db: Database, arguments: Arguments) -> bytes:
    """Return the template's text and the signature as a PDF."""
    signed = db.record("signed_document_rows", arguments["documentId"])
    text = db.record("document_templates", signed["templateId"])["text"]
    signature = f"Signed by {signed['signerName']} (client {signed['clientId']}) on {signed['signedAt'][:10]}"
    return one_page(signed["title"], [*text.splitlines(), "", signature])


def adjust_product_stock(db: Database, arguments: Arguments) -> Row:
    """Add or remove pieces. The stock never becomes negative."""
    product = db.record("products", arguments["productId"])
    stock = product["stock"] + arguments["change"]
    if stock < 0:
        refuse(f"There are {product['stock']} pieces of {product['name']}, {-stock} too few.")
    db.update("products", product["id"], {"stock": stock})
    db.insert("stock_changes", arguments)
    return db.record("products", product["id"])


def record_equipment_maintenance(db: Database, arguments: Arguments) -> Row:
    """Record a maintenance, and schedule the next one."""
    machine = db.record("equipment", arguments["equipmentId"])
    done = arguments.get("performedOn", db.today)
    due = (date.fromisoformat(done) + timedelta(days=machine["maintenanceDays"])).isoformat()
    dates = {"lastMaintenanceOn": done, "nextMaintenanceOn": arguments.get("nextMaintenanceOn", due)}
    db.insert("maintenance", arguments)
    db.update("equipment", machine["id"], {**dates, "status": arguments["status"]})
    return db.record("equipment_rows", machine["id"])


def get_entity_custom_values(db: Database, arguments: Arguments) -> Row:
    """Return the custom values of an existing record."""
    kind, number = arguments["entityType"], arguments["entityId"]
    if db.by_id({"client": "clients", "staff": "staff", "lead": "leads"}[kind], number) is None:
        raise not_found(kind, number)
    return read(db, "get_entity_custom_values", arguments, paged=True)


def _pending_salary(db: Database, arguments: Arguments) -> int:
    salary = db.record("salary_rows", arguments["salaryId"])
    if salary["status"] == "paid":
        refuse(f"Salary {salary['id']} was paid on {salary['paidOn']}.")
    amounts = {**salary, **arguments}
    if amounts["deductionsMinor"] > amounts["baseMinor"] + amounts["bonusMinor"]:
        raise invalid(("body", "deductionsMinor", "more than base and bonus together"))
    return int(salary["id"])
