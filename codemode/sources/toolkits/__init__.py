"""Tools described in files: toolkits, function tools and planner descriptions."""
