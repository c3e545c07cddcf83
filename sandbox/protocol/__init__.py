"""What crosses the pipe: messages, framing with budgets, who may say what when. No I/O in here."""
