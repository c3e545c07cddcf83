"""Reviewers: functions and models that give a second opinion on calls that need a person."""
