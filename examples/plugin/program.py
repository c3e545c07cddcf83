answers = []
for order, amount in ((1, 20), (7, 20), (2, 9000)):
    try:
        answers.append(shop.refund(order=order, amount=amount))
    except ToolError as error:
        answers.append(error.message)
answers
