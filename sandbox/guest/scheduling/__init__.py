"""Sync, thread style and `await` on one scheduler: no threads, no selector, one frame at a time."""
