"""The tunnel between a worker's machine and the relay's machine, through which it uses seats.

A stream is a TCP connection, over TLS if the relay has a certificate. The relay begins with a
random nonce. The worker answers with a proof that it can read the store and with the name of the
socket it requires. The proof is an HMAC-SHA256 of nonce and name, keyed with the secret that the
relay has written to the store.
"""
