"""Tools that files describe: toolkits, function tools and planner descriptions."""
