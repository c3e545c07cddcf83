"""The untrusted side: everything in here runs inside the isolated process."""
