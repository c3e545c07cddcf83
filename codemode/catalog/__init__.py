"""What a tool is, and all of them together: schema, tool, names, catalog, stubs."""
