"""API surface to tools: one small module for each kind of surface, and the loader that picks among them."""
