# Look up the next members whose membership expires, in parallel.
import asyncio
from datetime import date, timedelta

today = date.fromisoformat(gym.core.get_gym_info()["today"])
soon = today + timedelta(days=30)
ending = gym.memberships.get_memberships(status="active", endingFrom=today.isoformat(), endingTo=soon.isoformat(), limit=12)


async def describe(membership):
    client, visits = await asyncio.gather(
        gym.clients.get_client_details(clientId=membership["clientId"]),
        gym.clients.get_client_visits(clientId=membership["clientId"], limit=1),
    )
    return {"name": membership["clientName"], "ends": membership["endDate"], "visits": visits["total"], "phone": client["phone"]}


found = await asyncio.gather(*[describe(m) for m in ending["items"]])
print(f"{ending['total']} memberships end by {soon:%d %B}")
sorted(found, key=lambda entry: -entry["visits"])[:4]
