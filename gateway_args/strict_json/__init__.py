"""JSON text and nothing else: the strict, resumable acceptor of prefixes; literals read whole."""
