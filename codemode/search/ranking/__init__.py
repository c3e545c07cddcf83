"""Ranking: candidates, their scores, confidence, and the weights behind them."""
