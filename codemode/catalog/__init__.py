"""Tools and their catalog: schemas, ids, effects, argument validation, and signatures for models."""
