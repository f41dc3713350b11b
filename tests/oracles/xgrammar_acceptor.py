"""xgrammar with RFC 8259 written out as a grammar, against the acceptor on the texts of the llguidance comparison.

Run by hand, since xgrammar brings torch: `pip install '.[oracles]' && python tests/oracles/xgrammar_acceptor.py`.
Prints every text that the two refuse at different characters and exits 1 if there is one.
"""

from __future__ import annotations

import sys
from pathlib import Path

import xgrammar

sys.path.insert(0, str(Path(__file__).parents[1] / "acceptor"))

from acceptor_texts import texts

from gateway_args.strict_json.acceptor import Acceptor, scan

GRAMMAR = r"""
root ::= ws value
value ::= obj | arr | str | num | "true" | "false" | "null"
obj ::= "{" ws "}" | "{" ws pair (ws "," ws pair)* ws "}"
pair ::= str ws ":" ws value
arr ::= "[" ws "]" | "[" ws value (ws "," ws value)* ws "]"
str ::= "\"" ch* "\""
ch ::= [^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" hex hex hex hex)
hex ::= [0-9a-fA-F]
num ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [+\-]? [0-9]+)?
ws ::= [ \t\n\r]*
"""


def main() -> int:
    compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo([]))
    compiled = compiler.compile_grammar(GRAMMAR)
    compared = different = 0
    for text in texts(6_000, seed=1):
        matcher = xgrammar.GrammarMatcher(compiled, terminate_without_stop_token=True)
        theirs = 0
        while theirs < len(text) and matcher.accept_string(text[theirs]):
            theirs += 1
        ours = scan(text).valid
        if ours != theirs and text[theirs] < " ":
            inside = Acceptor()
            inside.feed(text, 0, theirs)
            if inside.in_string:
                continue  # decided: a raw control character inside a string is content
        compared += 1
        if ours != theirs:
            different += 1
            print(f"{text!r}: {ours} accepted here, {theirs} by xgrammar")
    print(f"{compared} texts compared, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
