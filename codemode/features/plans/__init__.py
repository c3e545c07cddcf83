"""Plans: the list of a dry run, approved as a whole, and the program that then runs under it."""
