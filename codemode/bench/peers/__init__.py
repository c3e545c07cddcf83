"""Code modes of other packages on the same tasks, model and judge. Each is imported only if it is asked for."""
