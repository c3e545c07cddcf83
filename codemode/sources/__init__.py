"""Sources: read API surfaces as tools. Each source kind has a package; the loader chooses among them."""
