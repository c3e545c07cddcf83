"""The back office of a gym: an OpenAPI document of 137 operations, and a service that implements it."""
