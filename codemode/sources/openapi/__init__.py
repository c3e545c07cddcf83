"""OpenAPI and Swagger documents as sources."""
