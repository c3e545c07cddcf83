"""Text from elsewhere: normal forms, visible characters, prose on one line, nearest names, YAML, patterns."""
