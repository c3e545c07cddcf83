"""Example API surfaces, each with a service that implements it."""
