member = gym.memberships.get_memberships(status="active", limit=1)["items"][0]
frozen = gym.memberships.freeze_membership(clientId=member["clientId"], reason="holiday")
{"member": frozen["clientName"], "status": frozen["status"]}
