gym.salary.get_pending_salaries()["total"]
