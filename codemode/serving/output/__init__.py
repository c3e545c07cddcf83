"""What commands and servers print, and the exit codes of the process."""
