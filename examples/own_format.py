"""A model family of one's own: a TOML table, its corpus, and the check that the one reads the other.

`python own_format.py` checks `harbour.toml` against `harbour_corpus.toml` and reads an output with it.
"""

from __future__ import annotations

from pathlib import Path

from gateway_args import Tools, contract, formats, read

HERE = Path(__file__).parent
TOOLS = Tools.of([{"type": "function", "function": {"name": "get_tide", "parameters": {"type": "object"}}}])


def check() -> contract.Report:
    """The table against its corpus, under a few chunkings of each case."""
    return contract.check(HERE / "harbour.toml", HERE / "harbour_corpus.toml", contract.QUICK)


def main() -> None:
    print(check())
    output = '<mind>\nCork.\n</mind>\n\n<call>{"tool": "get_tide", "input": {"port": "Cork"}}</call>'
    reading = read(formats.load(str(HERE / "harbour.toml")), [output], tools=TOOLS)
    print(reading.reasoning, [(call.name, call.arguments) for call in reading.calls])


if __name__ == "__main__":
    main()
