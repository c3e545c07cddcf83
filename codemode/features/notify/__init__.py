"""Messages to people about what waits for them: their content, their receivers, and their delivery."""
