"""The bundled suites. Each takes its tasks from an installed package or a folder."""
