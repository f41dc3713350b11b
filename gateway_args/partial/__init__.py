"""The progressive, typed view of a value being streamed."""
