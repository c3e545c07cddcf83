"""The journal in PostgreSQL, and what servers share there. Needs the extra `postgres`; import it late."""
