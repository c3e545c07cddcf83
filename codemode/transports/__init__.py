"""Transports: how calls reach each kind of service, and with which credentials. Only transports open client sockets."""
