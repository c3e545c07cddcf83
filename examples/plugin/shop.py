"""The functions of a shop."""

from codemode import tool


@tool(effect="destructive")
def refund(order: int, amount: int) -> dict[str, object]:
    """Pay back an order."""
    return {"order": order, "amount": amount, "card": "4000 0000 0000 0002"}


exported = [refund]
