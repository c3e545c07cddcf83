"""Any API surface as two tools for a model: `search`, and `execute` in a sandbox."""
