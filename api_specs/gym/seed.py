"""A gym with two years behind it, the same for the same clock."""

from __future__ import annotations

import random
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api_specs.gym.document import read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

    from api_specs.gym.database import Database, Row

_CLIENTS = 480
_OPEN_BRANCHES = {1: "EUR", 2: "EUR", 3: "GBP", 4: "CHF"}
#: Roles of each branch, with monthly salaries in minor units of euro.
_TEAM = {"manager": 420000, "sales": 290000, "trainer": 310000, "receptionist": 240000, "cleaner": 210000}
_ROLES = ["manager", "sales", "trainer", "trainer", "trainer", "receptionist", "cleaner"]
_SPECIALTIES = ["strength", "yoga", "cardio", "pilates", "crossfit", "swimming"]
_SOURCES = ["website", "walk_in", "phone", "referral", "instagram", "event"]
_METHODS = ["card", "direct_debit", "bank_transfer", "cash"]
#: Plans that are sold, and how often in a hundred sales.
_PLAN_SHARES = {1: 30, 2: 25, 3: 15, 4: 12, 5: 10, 7: 8}


def fill(db: Database) -> None:
    """Fill an empty database."""
    written = read_yaml(Path(__file__).with_name("seed.yaml"))
    with db.transaction():
        _Seed(db, written).fill()


class _Seed:
    """Each step reads what the steps before it wrote."""

    def __init__(self, db: Database, written: dict[str, Any]) -> None:
        self._db = db
        self._written = written
        self._random = random.Random(137)  # noqa: S311  # drawn data, no secret
        self._now = datetime.fromisoformat(db.now)

    def fill(self) -> None:
        for table, content in self._written["tables"].items():
            self._add(table, (dict(zip(content["columns"], self._dated(row), strict=True)) for row in content["rows"]))
        self._team()
        self._salaries()
        self._clients()
        self._memberships()
        self._visits()
        self._sales()
        self._classes()
        self._appointments()
        self._leads()
        self._about_members()
        self._goals()
        self._points()
        self._wearables()
        self._things()

    def _team(self) -> None:
        rows = []
        for number, (branch, role) in enumerate(((b, r) for b in _OPEN_BRANCHES for r in _ROLES), start=1):
            first, last = self._name()
            salary = self._money(_TEAM[role] + self._random.randrange(0, 40000, 1000), _OPEN_BRANCHES[branch])
            contact = {"email": f"{first}.{last}{number}@northlight.example".lower(), "phone": self._phone()}
            trainer = {"specialty": _SPECIALTIES[number % len(_SPECIALTIES)] if role == "trainer" else None}
            work = {"role": role, "branchId": branch, "hiredOn": self._day(-self._random.randrange(100, 900))}
            rows.append({"firstName": first, "lastName": last, **contact, **trainer, **work, **salary})
        self._add("staff", rows)
        self._db.update("staff", len(rows), {"status": "on_leave"})

    def _salaries(self) -> None:
        """Eight months; most of the last one, and a little of the one before, is still to be paid."""
        rows = []
        for back in range(8, 0, -1):
            month = self._months_back(back)
            due = (datetime.fromisoformat(f"{self._months_back(back - 1)}-01") - timedelta(days=1)).date().isoformat()
            for member in self._db.rows("select id, salaryMinor from staff"):
                pending = self._random.random() < {1: 0.6, 2: 0.08}.get(back, 0)
                bonus = self._random.choice([0, 0, 0, 10000, 25000])
                paid = {"status": "pending", "paidOn": None, "paymentMethod": None}
                if not pending:
                    paid = {"status": "paid", "paidOn": due, "paymentMethod": "bank_transfer"}
                amounts = {"baseMinor": member["salaryMinor"], "bonusMinor": bonus, "deductionsMinor": bonus // 10}
                rows.append({"staffId": member["id"], "month": month, **amounts, **paid})
        self._add("salaries", rows)

    def _clients(self) -> None:
        trainers = self._db.rows("select id, branchId from staff where role = 'trainer'")
        rows = []
        for number in range(1, _CLIENTS + 1):
            first, last = self._name() if number != 5 else ("John", "Carter")
            branch = self._random.choices(list(_OPEN_BRANCHES), [40, 25, 20, 15])[0] if number != 5 else 1
            coaches = [trainer["id"] for trainer in trainers if trainer["branchId"] == branch]
            person = {"birthDate": self._day(-self._random.randrange(17 * 365, 68 * 365)), "branchId": branch}
            labels = [label for label in ("vip", "student", "corporate", "early bird") if self._random.random() < 0.1]
            contact = {
                "email": f"{first}.{last}{number}@example.com".lower(),
                "phone": self._phone() if number % 12 else None,
            }
            rows.append(
                {"firstName": first, "lastName": last, **contact, **person, "tags": labels}
                | {"trainerId": self._random.choice(coaches) if self._random.random() < 0.3 else None}
                | {"joinedOn": self._day(-self._random.randrange(3, 730)) if number != 5 else self._day(-400)}
            )
        self._add("clients", rows)

    def _memberships(self) -> None:
        """One after the other from joining until today, or until somebody leaves."""
        plans = {plan["id"]: plan for plan in self._db.rows("select * from plans")}
        memberships: list[Row] = []
        events: list[Row] = []
        payments: list[Row] = []
        for client in self._db.rows("select id, branchId, joinedOn from clients"):
            start, held = client["joinedOn"], 0
            drawn = self._random.choices(list(_PLAN_SHARES), list(_PLAN_SHARES.values()))[0]
            plan = plans[2 if client["id"] == 5 else 6 if start < self._day(-690) else drawn]
            while start <= self._db.today and (held == 0 or client["id"] == 5 or self._random.random() < 0.96):
                end = self._after(start, plan["durationDays"] - 1)
                status = "active" if end >= self._db.today else "expired"
                owner = {"clientId": client["id"], "planId": plan["id"]}
                money = self._money(plan["priceMinor"], _OPEN_BRANCHES[client["branchId"]], "amountMinor")
                memberships.append(
                    {**owner, "status": status, "startDate": start, "endDate": end}
                    | {"autoRenew": self._random.random() < 0.5, "priceMinor": plan["priceMinor"], "currency": "EUR"}
                )
                paid = {"branchId": client["branchId"], "kind": "membership", "method": self._random.choice(_METHODS)}
                payments.append({**owner, **paid, **money, "paidOn": start})
                number = len(memberships)
                events.append(_event(number, "renewed" if held else "created", start))
                if status == "expired":
                    events.append(_event(number, "expired", self._after(end, 1)))
                start, held = self._after(end, 1), held + 1
        self._add("memberships", memberships)
        self._add("payments", payments)
        self._add("membership_events", events)
        self._freeze_some()
        left = "select clientId from memberships where status in ('active', 'frozen')"
        self._db.execute(f"update clients set status = 'inactive' where id not in ({left}) and id % 11 > 0")  # noqa: S608
        self._db.execute("update clients set status = 'blocked' where id % 97 = 0")

    def _freeze_some(self) -> None:
        for held in self._db.rows("select id, endDate from memberships where status = 'active' and clientId % 19 = 0"):
            days = self._random.randrange(7, 28)
            freeze = {"status": "frozen", "frozenFrom": self._day(-3), "frozenUntil": self._day(days - 4)}
            change = {**freeze, "freezeReason": self._random.choice(["holiday", "injury", "business trip"])}
            self._db.update("memberships", held["id"], {**change, "endDate": self._after(held["endDate"], days)})
            self._add("membership_events", [_event(held["id"], "frozen", self._day(-3))])

    def _visits(self) -> None:
        rows = []
        for client in self._db.rows("select id, branchId, joinedOn, status, membershipStatus as held from client_rows"):
            last = 0 if client["held"] == "active" else 30
            if client["status"] == "active" and client["id"] % 9 == 0:
                last = self._random.randrange(22, 70)  # somebody who may leave
            chance = self._random.uniform(0.06, 0.4)
            first = min(150, (self._now.date() - datetime.fromisoformat(client["joinedOn"]).date()).days)
            for back in range(first, last - 1, -1):
                if self._random.random() < chance:
                    begin = self._now.replace(hour=0, minute=0, second=0) - timedelta(days=back)
                    begin += timedelta(
                        minutes=self._random.choice([400, 500, 640, 1020, 1080, 1140]) + self._random.randrange(60)
                    )
                    end = begin + timedelta(minutes=self._random.randrange(35, 120))
                    if begin <= self._now:
                        out = _time(end) if end <= self._now else None
                        rows.append(
                            {"clientId": client["id"], "branchId": client["branchId"], "checkedInAt": _time(begin)}
                            | {"checkedOutAt": out}
                        )
        rows.sort(key=lambda row: str(row["checkedInAt"]))
        self._add("visits", rows)

    def _sales(self) -> None:
        """What is bought beside memberships."""
        clients = self._db.rows("select id, branchId from clients")
        rows = []
        for back in range(365, -1, -1):
            for _ in range(self._random.randrange(1, 6)):
                client = self._random.choice(clients)
                kind, price = self._random.choice(
                    [("product", 290), ("product", 1290), ("product", 2990), ("personal_training", 6500)]
                )
                money = self._money(price, _OPEN_BRANCHES[client["branchId"]], "amountMinor")
                sale = {"clientId": client["id"], "branchId": client["branchId"], "kind": kind, **money}
                rows.append({**sale, "method": self._random.choice(_METHODS), "paidOn": self._day(-back)})
        self._add("payments", rows)

    def _classes(self) -> None:
        """Three sessions a day at each branch, from four weeks ago to two weeks ahead."""
        trainers = self._db.rows("select id, branchId from staff where role = 'trainer'")
        types = self._db.rows("select id, durationMinutes from class_types")
        members = self._db.rows(
            "select id, branchId from client_rows where membershipStatus = 'active' and status = 'active'"
        )
        sessions: list[Row] = []
        bookings: list[Row] = []
        for day in range(-28, 15):
            for branch in _OPEN_BRANCHES:
                team = [trainer["id"] for trainer in trainers if trainer["branchId"] == branch]
                local = [member["id"] for member in members if member["branchId"] == branch]
                for trainer, hour in zip(team, (9, 17, 18), strict=True):
                    kind = self._random.choice(types)
                    begin = self._at(day, hour)
                    capacity = self._random.choice([8, 10, 12, 16])
                    session = {
                        "classTypeId": kind["id"],
                        "trainerId": trainer,
                        "branchId": branch,
                        "capacity": capacity,
                    }
                    end = begin + timedelta(minutes=kind["durationMinutes"])
                    times = {"startsAt": _time(begin), "endsAt": _time(end), "room": f"Studio {hour % 2 + 1}"}
                    sessions.append({**session, **times})
                    wanted = self._random.sample(local, min(len(local), self._random.randrange(2, capacity + 4)))
                    booked = "attended" if end < self._now else "booked"
                    for place, client in enumerate(wanted):
                        status = booked if place < capacity else "waitlisted"
                        when = min(begin - timedelta(days=3), self._now) + timedelta(minutes=place - 60)
                        bookings.append(
                            {"sessionId": len(sessions), "clientId": client, "status": status, "bookedAt": _time(when)}
                        )
        self._add("sessions", sessions)
        self._add("bookings", bookings)

    def _appointments(self) -> None:
        rows = []
        for trainer in self._db.rows("select id, branchId from staff where role = 'trainer'"):
            clients = self._db.rows("select id from clients where status = 'active' and branchId = :branchId", trainer)
            for day in range(-14, 8):
                begin = self._at(day, self._random.choice([10, 11, 13, 14, 15]))
                status = "booked" if begin > self._now else self._random.choice(["completed", "completed", "cancelled"])
                who = {"serviceId": 1, "trainerId": trainer["id"], "clientId": self._random.choice(clients)["id"]}
                times = {"startsAt": _time(begin), "endsAt": _time(begin + timedelta(minutes=60))}
                rows.append({**who, **times, "status": status})
        self._add("appointments", rows)

    def _leads(self) -> None:
        sellers = [row["id"] for row in self._db.rows("select id from staff where role = 'sales'")]
        plans = [row["priceMinor"] for row in self._db.rows("select priceMinor from plans where isActive")]
        leads, follow_ups = [], []
        for number in range(1, 71):
            age = self._random.randrange(1, 120)
            stage = self._random.choice(["new", "contacted", "trial", "negotiation", "lost", "won"])
            worth = {"valueMinor": self._random.choice(plans), "currency": "EUR"}
            owner = self._random.choice([*sellers, None])
            state = {"stage": stage, "lostReason": "too expensive" if stage == "lost" else None, "ownerId": owner}
            became = {"clientId": number * 3 if stage == "won" else None, "createdOn": self._day(-age)}
            leads.append({**self._stranger(number), **worth, **state, **became})
            if stage != "new":
                contact = {
                    "kind": self._random.choice(["call", "email", "visit"]),
                    "note": "Talked about plans and prices.",
                }
                due = self._day(self._random.randrange(1, 10)) if stage == "trial" else None
                follow_ups.append(
                    {"leadId": number, **contact, "dueOn": due, "createdAt": _time(self._at(-age // 2, 9))}
                )
        self._add("leads", leads)
        self._add("follow_ups", follow_ups)
        states = ["new", "new", "contacted", "visited", "converted", "closed"]
        interests = ["yoga classes", "personal training", "prices", "opening hours", "swimming", "a trial"]
        self._add(
            "enquiries",
            (
                {**self._stranger(200 + number), "createdOn": self._day(-self._random.randrange(90))}
                | {"status": self._random.choice(states), "interest": self._random.choice(interests)}
                for number in range(45)
            ),
        )

    def _about_members(self) -> None:
        """Notes, photos, documents, referrals, messages, guests, diets, answers to surveys."""
        pick = self._random.choice
        ids = [row["id"] for row in self._db.rows("select id from clients where status = 'active'")]
        some = [5, *(pick(ids) for _ in range(119))]
        notes = ({"clientId": c, "authorId": pick([1, 3, 4]), "text": pick(self._written["notes"])} for c in some)
        kinds = ["general", "health", "training", "billing"]
        self._add("notes", ({**note, "category": pick(kinds), "createdAt": self._past()} for note in notes))
        photos = [(c, kind, back) for c in some[:30] for kind in ("front", "side") for back in (120, 60, 5)]
        links = (
            {"clientId": c, "kind": k, "takenOn": self._day(-b), "url": f"https://photos.example/{c}/{k}-{b}.jpg"}
            for c, k, b in photos
        )
        self._add("photos", ({**link, "weightKg": round(self._random.uniform(55, 105), 1)} for link in links))
        signed = [
            (template, client) for template in (1, 2, 3) for client in ids if client % (template + 1) or client == 5
        ]
        people = {row["id"]: f"{row['firstName']} {row['lastName']}" for row in self._db.rows("select * from clients")}
        papers = ({"templateId": t, "clientId": c, "signerName": people[c]} for t, c in signed)
        self._add("signed_documents", ({**paper, "signedAt": self._past()} for paper in papers))
        self._add(
            "messages",
            (
                {
                    "clientId": c,
                    "channel": "email",
                    "subject": "Welcome",
                    "text": "Good to have you.",
                    "sentAt": self._past(),
                }
                for c in some[:40]
            ),
        )
        friends = ({"clientId": c, "friendName": " ".join(self._name()), "rewardPoints": 200} for c in some[:50])
        self._add("referrals", ({**friend, **self._referral()} for friend in friends))
        guests = (
            {
                "guestName": " ".join(self._name()),
                "hostClientId": pick([None, pick(ids)]),
                "branchId": pick([1, 2, 3, 4]),
            }
            for _ in range(90)
        )
        self._add(
            "guest_visits",
            (
                {**g, "visitedOn": self._day(-self._random.randrange(90)), "becameClient": self._random.random() < 0.2}
                for g in guests
            ),
        )
        diets = {(pick(range(1, 7)), client) for client in some}
        self._add(
            "diet_assignments", ({"dietId": d, "clientId": c, "startsOn": self._day(-30)} for d, c in sorted(diets))
        )
        answers = [(survey, client) for survey in (1, 2, 3) for client in sorted(set(ids) - {5})[: 70 // survey]]
        scored = ({"surveyId": s, "clientId": c, "score": pick([4, 6, 7, 8, 8, 9, 9, 10])} for s, c in answers)
        days = {1: -20, 2: -80, 3: -5}
        comments = self._written["comments"]
        self._add(
            "survey_responses",
            ({**a, "comment": pick(comments), "respondedOn": self._day(days[a["surveyId"]])} for a in scored),
        )

    def _referral(self) -> Row:
        status = self._random.choice(["pending", "pending", "converted", "expired"])
        created = -self._random.randrange(10, 200)
        return {
            "status": status,
            "createdOn": self._day(created),
            "convertedOn": self._day(created + 9) if status == "converted" else None,
        }

    def _goals(self) -> None:
        kinds = [
            ("Lose weight", "weight", "kg", 92, 80),
            ("Squat 100 kg", "strength", "kg", 60, 100),
            ("Run 10 km", "endurance", "km", 3, 10),
        ]
        goals, milestones, progress = [], [], []
        for number in range(1, 91):
            title, kind, unit, start, target = kinds[number % 3]
            done = self._random.choice([0.2, 0.4, 0.6, 0.8, 1.0]) if number > 1 else 0.4
            value = round(start + (target - start) * done, 1)
            what = {"clientId": 5 if number == 1 else number, "title": title, "kind": kind, "unit": unit}
            values = {"startValue": start, "currentValue": value, "targetValue": target}
            state = {
                "status": "achieved" if done == 1.0 else "active",
                "createdOn": self._day(-100),
                "targetDate": self._day(90),
            }
            goals.append({**what, **values, **state})
            halfway = {
                "title": "Half of the way",
                "targetValue": (start + target) / 2,
                "reachedOn": self._day(-20) if done >= 0.5 else None,
            }
            milestones.append({"goalId": number, **halfway})
            progress.append({"goalId": number, "value": value, "recordedOn": self._day(-7)})
        self._add("goals", goals)
        self._add("milestones", milestones)
        self._add("progress", progress)

    def _points(self) -> None:
        ids = [row["id"] for row in self._db.rows("select id from clients where status = 'active'")]
        rows = []
        for client in ids:
            points = 620 if client == 5 else self._random.choice([0, 40, 120, 260, 480, 900])
            when = {"balance": points, "createdAt": self._past(60)}
            if points:
                rows.append({"clientId": client, "points": points, "reason": "visits and classes", **when})
        self._add("points_entries", rows)
        self._db.execute(
            "update clients set loyaltyPoints = coalesce((select sum(points) from points_entries where clientId = clients.id), 0)"
        )
        joined = (
            (challenge, client) for challenge in (1, 2, 3) for client in self._random.sample(ids, 40) if client != 5
        )
        tops = {1: 320, 2: 22, 3: 180}
        self._add(
            "participants",
            (
                {"challengeId": h, "clientId": c, "points": self._random.randrange(tops[h]), "joinedOn": self._day(-9)}
                for h, c in joined
            ),
        )

    def _wearables(self) -> None:
        ids = [
            5,
            *(
                row["id"]
                for row in self._db.rows("select id from clients where status = 'active' and id <> 5 limit 49")
            ),
        ]
        makers = ["fitbit", "garmin", "apple_health", "google_fit", "whoop"]
        links = ({"clientId": c, "provider": makers[c % 5], "connectedOn": self._day(-60)} for c in ids)
        self._add(
            "wearables", ({**link, "status": "connected" if link["clientId"] % 8 else "disconnected"} for link in links)
        )
        draw = self._random.randrange
        measured = (
            {"wearableId": w, "date": self._day(-back), "steps": draw(2000, 16000)}
            for w in range(1, 51)
            for back in range(21)
        )
        body = ({**m, "restingHeartRate": draw(48, 80), "activeCalories": draw(150, 900)} for m in measured)
        self._add("wearable_days", ({**m, "sleepMinutes": draw(300, 540)} for m in body))

    def _things(self) -> None:
        machines = [
            ("Treadmill", "cardio"),
            ("Rowing machine", "cardio"),
            ("Spinning bike", "cardio"),
            ("Leg press", "strength"),
        ]
        machines += [
            ("Cable tower", "strength"),
            ("Squat rack", "free_weights"),
            ("Dumbbell set", "free_weights"),
            ("Battle ropes", "functional"),
        ]
        rows = []
        for number, (branch, (name, kind)) in enumerate(((b, m) for b in _OPEN_BRANCHES for m in machines), start=1):
            days, ago = 90, self._random.randrange(10, 110)
            what = {"name": f"{name} {number}", "serialNumber": f"NL-{number:04}", "category": kind, "branchId": branch}
            dates = {"lastMaintenanceOn": self._day(-ago), "nextMaintenanceOn": self._day(days - ago)}
            state = {"status": "out_of_order" if number % 9 == 0 else "in_use", "purchasedOn": self._day(-800)}
            rows.append({**what, **dates, **state, "maintenanceDays": days})
        self._add("equipment", rows)
        values = [(1, c, self._random.choice("SML")) for c in range(1, 61)] + [
            (2, c, self._phone()) for c in range(1, 61)
        ]
        values += [(4, s, self._day(200 + s)) for s in range(1, 20)] + [(5, n, "true") for n in range(1, 30)]
        self._add("custom_values", ({"fieldId": f, "entityId": e, "value": v} for f, e, v in values))

    def _stranger(self, number: int) -> Row:
        first, last = self._name()
        branch = self._random.choice(list(_OPEN_BRANCHES))
        contact = {"email": f"{first}.{last}.{number}@mail.example".lower(), "phone": self._phone()}
        return {"name": f"{first} {last}", **contact, "source": self._random.choice(_SOURCES), "branchId": branch}

    def _name(self) -> tuple[str, str]:
        people = self._written["people"]
        return self._random.choice(people["first"]), self._random.choice(people["last"])

    def _phone(self) -> str:
        return f"+49 30 555{self._random.randrange(10000):04}"

    def _money(self, euro_minor: int, currency: str, name: str = "salaryMinor") -> Row:
        sql = "select factor from rates where fromCurrency = 'EUR' and toCurrency = :currency"
        return {name: round(euro_minor * self._db.rows(sql, currency=currency)[0]["factor"]), "currency": currency}

    def _dated(self, row: list[Any]) -> list[Any]:
        found = [re.fullmatch(r"today([+-]\d+)", value) if isinstance(value, str) else None for value in row]
        return [self._day(int(match[1])) if match else value for match, value in zip(found, row, strict=True)]

    def _day(self, days: int) -> str:
        return (self._now + timedelta(days=days)).date().isoformat()

    def _after(self, day: str, days: int) -> str:
        return (datetime.fromisoformat(day) + timedelta(days=days)).date().isoformat()

    def _at(self, days: int, hour: int) -> datetime:
        return self._now.replace(hour=hour, minute=0, second=0) + timedelta(days=days)

    def _past(self, most: int = 200) -> str:
        return _time(self._at(-self._random.randrange(1, most), self._random.randrange(8, 20)))

    def _months_back(self, months: int) -> str:
        count = self._now.year * 12 + self._now.month - 1 - months
        return f"{count // 12}-{count % 12 + 1:02}"

    def _add(self, table: str, rows: Iterable[Row]) -> None:
        self._db.insert_many(table, list(rows))


def _event(membership: int, event: str, day: str) -> Row:
    return {"membershipId": membership, "event": event, "occurredOn": day, "detail": None}


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
