# Remind members whose membership ends within a week: one API has the members, another sends the mail.
import asyncio
from datetime import date, timedelta

outbox.templates.create_template(
    name="membership-ending",
    channel="email",
    subject="Your membership ends on $endDate",
    text="Dear $name,\n\nyour $plan membership ends on $endDate. Shall we renew it?",
)
today = date.fromisoformat(gym.core.get_gym_info()["today"])
week = {"endingFrom": today.isoformat(), "endingTo": (today + timedelta(days=7)).isoformat()}
ending = gym.memberships.get_memberships.items(status="active", **week)


async def remind(membership):
    person = await gym.clients.get_client_details(clientId=membership["clientId"])
    values = {"name": person["firstName"], "plan": membership["planName"], "endDate": membership["endDate"]}
    sent = await outbox.messages.send_email(to=[person["email"]], template="membership-ending", values=values)
    return sent["status"]


statuses = await asyncio.gather(*[remind(membership) for membership in ending])
log = outbox.deliveries.list_deliveries(limit=3)
{"ending": len(ending), "sent": statuses.count("sent"), "log": [(d["recipient"], d["status"]) for d in log["items"]]}
