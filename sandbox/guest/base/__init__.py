"""What every part of the guest uses: the channel to the host, values as JSON, captured output and identities."""
