"""`codemode measure`: agent tasks, played and judged through the two tools."""
