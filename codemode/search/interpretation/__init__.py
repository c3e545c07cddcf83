"""Interpretation: what else a query may mean (compounds, expansion), and what each term weighs."""
