late = shop.orders.find_orders(state="late")
[shop.orders.remind_supplier(number=order["number"]) for order in late]
