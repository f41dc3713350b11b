"""The languages in which arguments are written: JSON, Python's literals, Gemma's literals, the raw text of tags."""
