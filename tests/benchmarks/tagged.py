"""What a string value in tags costs. Run by hand: `python tests/benchmarks/tagged.py`; it exits 1 past a target."""

from __future__ import annotations

import sys

from units import deltas, units

from gateway_args import CallArguments, Parser, Tools, formats

CODE = '''def total(rows):
    """Sum "net" values."""
    out = {}
    for row in rows:
        out[row["key"]] = out.get(row["key"], 0) + int(row["net"] * 100) % 7
    if out and 3 < len(out) <= 9:
        print(f"<b>{len(out)}</b> keys\\n")
    return [out[key] for key in sorted(out)]
'''
TOOLS = Tools.of([{"name": "save", "input_schema": {"properties": {"body": {"type": "string"}}}}])
# table -> what stands before the value and behind it
FAMILIES = {
    "qwen3_coder": (
        "<tool_call>\n<function=save>\n<parameter=body>\n",
        "\n</parameter>\n</function>\n</tool_call>",
    ),
    "glm45": (
        "<tool_call>save\n<arg_key>body</arg_key>\n<arg_value>",
        "</arg_value>\n</tool_call>",
    ),
    "deepseek_v4": (
        '\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="save">\n<｜DSML｜parameter name="body" string="true">',
        "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
    ),
}
MOST = 1.2  # units a 4-character delta


def cost(table: str, size: int, delta: int = 4) -> float:
    """Units that a delta of a value of `size` characters costs."""
    before, after = FAMILIES[table]
    fmt = formats.load(table)
    pieces = deltas(before + (CODE * (size // len(CODE) + 1))[:size] + after, delta)

    def run() -> None:
        parser = Parser(fmt, TOOLS)
        for piece in pieces:
            parser.feed(piece)
        parser.finish("stop")

    return units(run, len(pieces), rounds=25 if size < 10_000 else 5 if size < 100_000 else 3)


def held(table: str) -> int:
    """The most characters of the value that were fed and not sent, fed one by one."""
    before, _ = FAMILIES[table]
    parser = Parser(formats.load(table), TOOLS)
    parser.feed(before)
    most = sent = 0
    for fed, char in enumerate("word " * 400, 1):
        sent += sum(len(event.source) for event in parser.feed(char) if isinstance(event, CallArguments))
        most = max(most, fed - sent)
    return most


def main() -> int:
    status = 0
    for table in FAMILIES:
        for size in (4_000, 64_000, 1_000_000):
            spent = cost(table, size)
            status |= spent > MOST
            late = "" if spent <= MOST else "TOO SLOW"
            print(f"{table:12} {size:>9} characters {spent:6.3f} units a 4-character delta (at most {MOST})", late)
        print(f"{table:12} at most {held(table)} characters of plain text held back")
    return status


if __name__ == "__main__":
    sys.exit(main())
