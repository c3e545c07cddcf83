"""What a model sees and asks for. Every interface translates to this package, and decides nothing itself."""
