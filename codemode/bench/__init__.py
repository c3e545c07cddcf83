"""`codemode bench`: agent tasks that others wrote, played and judged through the two tools."""
