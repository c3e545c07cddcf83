info = gym.core.get_gym_info()
{"gym": info["name"], "members": gym.clients.get_clients_list(limit=1)["total"]}
