"""gateway_args: from what a model writes, as it arrives, to tool-call events."""
