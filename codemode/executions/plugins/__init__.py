"""Plugins: trusted code of other packages that is called around tool calls and outcomes."""
