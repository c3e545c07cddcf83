# Freeze the membership of a member found by name for two weeks.
from datetime import date, timedelta

candidates = gym.clients.get_clients_list(name="John", status="active")["items"]
member = next(c for c in candidates if c["membershipStatus"] == "active")
today = date.fromisoformat(gym.core.get_gym_info()["today"])
frozen = gym.memberships.freeze_membership(
    clientId=member["id"],
    fromDate=today.isoformat(),
    untilDate=(today + timedelta(days=14)).isoformat(),
    reason="holiday",
)
try:
    gym.memberships.freeze_membership(clientId=member["id"])
except Exception as error:
    print("a second time:", error)
{"member": frozen["clientName"], "status": frozen["status"], "until": frozen["frozenUntil"], "ends": frozen["endDate"]}
