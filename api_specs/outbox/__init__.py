"""The outbox: mail and text messages with templates and a delivery log."""
