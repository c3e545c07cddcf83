# Delete the clients who left, with guessed names: refused before the first call.
old = gym.clients.get_client_list(status="inactive")["items"]
for client in old:
    gym.clients.delete_client(id=client["id"])
len(old)
