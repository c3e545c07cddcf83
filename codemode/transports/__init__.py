"""The only client sockets: how a call reaches the other side, and with which credentials."""
