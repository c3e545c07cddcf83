"""The functions that carry out the tasks of `toolkit.yaml`."""

from typing import Any

ORDERS = [
    {"number": 1, "state": "late", "supplier": "Nile Tea"},
    {"number": 2, "state": "shipped", "supplier": "Alpine Salt"},
    {"number": 3, "state": "late", "supplier": "Alpine Salt"},
]


def find_orders(state: str, limit: int = 20) -> list[dict[str, Any]]:
    """Find orders by their state."""
    return [order for order in ORDERS if order["state"] == state][:limit]


def remind_supplier(number: int) -> str:
    """Send the supplier of an order a reminder."""
    (order,) = (one for one in ORDERS if one["number"] == number)
    return f"reminded {order['supplier']} of order {number}"
