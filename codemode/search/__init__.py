"""Search: find tools by a query in words. Analysis, index, ranking, and the rendering of hits."""
