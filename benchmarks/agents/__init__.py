"""Suites of agent tasks that others wrote, their code modes as players, and the figures of published tables."""
