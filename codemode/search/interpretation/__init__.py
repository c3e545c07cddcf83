"""Interpretation: what else a query may mean (acronyms, compounds, expansion), and what each term weighs."""
