"""Finding tools: text, documents, index, candidates, ranking, hits."""
