"""What a JSON Schema or a Python type says of a value: the types that a parameter may have."""
