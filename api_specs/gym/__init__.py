"""The back office of a gym: an OpenAPI document of 137 operations, and the service that answers them."""
