"""Values of executions: outcomes, ledgers, records. Below everything else here."""
