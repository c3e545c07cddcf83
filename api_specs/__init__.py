"""API surfaces that ship with the project, each with what answers it."""
