# Delete clients who have not come for a year, written from memory: refused before the first call.
old = gym.clients.get_client_list(status="inactive")["items"]
for client in old:
    gym.clients.delete_client(id=client["id"])
len(old)
