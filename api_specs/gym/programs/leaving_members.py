from asyncio import gather
from datetime import date, timedelta

today = date.fromisoformat(gym.core.get_gym_info()["today"])
month, fortnight = str(today + timedelta(30)), str(today - timedelta(14))
ending = gym.memberships.get_memberships.items(endingFrom=str(today), endingTo=month, autoRenew=False)
visits = await gather(*(gym.clients.get_client_visits(clientId=m["clientId"], dateFrom=fortnight) for m in ending))
[m["clientName"] for m, came in zip(ending, visits) if not came["total"]]
