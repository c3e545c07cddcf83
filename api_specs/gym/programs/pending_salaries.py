# How much are the pending salaries in euros?
from concurrent.futures import ThreadPoolExecutor

pending = gym.salary.get_pending_salaries(limit=100)["items"]


def in_euro(salary):
    if salary["currency"] == "EUR":
        return salary["amountMinor"]
    return gym.core.convert_currency(
        amountMinor=salary["amountMinor"], fromCurrency=salary["currency"], toCurrency="EUR"
    )["convertedMinor"]


with ThreadPoolExecutor(max_workers=8) as pool:
    amounts = list(pool.map(in_euro, pending))

for salary, amount in list(zip(pending, amounts))[:3]:
    print(f"{salary['staffName']:<20} {salary['amountMinor'] / 100:>10,.2f} {salary['currency']} {amount / 100:>10,.2f} EUR")
{"people": len(pending), "total_eur": round(sum(amounts) / 100, 2)}
