"""Names of the library that are ours: small modules, each with the reason why the library's would not do."""
