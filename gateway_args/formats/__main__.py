"""Prints the schema of a table: `python -m gateway_args.formats > formats/schema.json`."""

from __future__ import annotations

import json

from . import schema

if __name__ == "__main__":
    print(json.dumps(schema(), indent=2, ensure_ascii=False))
