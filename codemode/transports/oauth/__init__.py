"""OAuth 2.0 over HTTP: access tokens and logins."""
