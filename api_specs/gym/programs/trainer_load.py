# Which trainers have the most active clients, and what do those clients pay?
from collections import defaultdict


def pages(operation, **arguments):
    offset = 0
    while True:
        page = operation(limit=100, offset=offset, **arguments)
        yield from page["items"]
        offset += len(page["items"])
        if not page["items"] or offset >= page["total"]:
            return


prices = {m["clientId"]: m["priceMinor"] for m in pages(gym.memberships.get_memberships, status="active")}
load = defaultdict(lambda: {"clients": 0, "pay_minor": 0})
for client in pages(gym.clients.get_clients_list, status="active"):
    if client["trainerId"] and client["id"] in prices:
        entry = load[client["trainerId"]]
        entry["clients"] += 1
        entry["pay_minor"] += prices[client["id"]]

trainers = {t["id"]: f"{t['firstName']} {t['lastName']}" for t in pages(gym.trainers.get_trainers_list)}
busiest = sorted(load.items(), key=lambda item: -item[1]["clients"])[:3]
[{"trainer": trainers[number], **entry} for number, entry in busiest]
