"""xgrammar with the structural tags of every table, against the walks, the corpora and the parser.

Run by hand, since xgrammar brings torch: `pip install '.[oracles,test]'`, then this file, with tables' names or none.
Prints every text that breaks one of these and exits 1 if there is one:

- a walk of the table's Lark grammar is allowed by its tag, unless a string of its JSON holds a marker that is one token
  (in the tag's vocabulary that text may be the token, which ends the call);
- what the tag allows of these walks with a few characters changed, and of every corpus case that is not canonical, the
  parser reads with no malformed text and every call complete and valid;
- every canonical case of the corpora is allowed;
- JSON Schema's keywords, and JSON-Schema-Test-Suite where GATEWAY_ARGS_TEST_MATERIAL names it: what is let in though it
  is not valid is said; schemas of strangers compile;
- TensorRT-LLM's request model takes the tag of every table, and the guide's bodies.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any, Literal

import pydantic
import xgrammar

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
sys.path.insert(0, str(Path(__file__).parents[1] / "grammar"))

import keywords
import strangers
import test_canonical
import test_guided_decoding
import test_keywords
import test_schema_suite
import walks

from gateway_args import Format, Tools, formats, grammar
from gateway_args.contract import corpus

COMPILER = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo([]))
REQUESTS = [("auto", True, "optional"), ("required", True, "none"), ("find_all", False, "open")]
WALKS = 12


def allows(compiled: xgrammar.CompiledGrammar, text: str) -> bool:
    text = corpus.normalise(text)
    matcher = xgrammar.GrammarMatcher(compiled, terminate_without_stop_token=True)
    return bool((not text or matcher.accept_string(text)) and matcher.is_completed())


def wrong(format: Format, tools: Tools, text: str, start: str | None, choice: str, parallel: bool) -> list[str]:
    reading = walks.reading_of(format, tools, walks.Walk(text, []), start=start, by_id=False)
    return walks.faults(reading, tools, choice=choice, parallel=parallel)


def walked(format: Format) -> tuple[int, list[str]]:
    """How many texts were tried, and what is wrong with them."""
    found: list[str] = []
    tried = 0
    for choice, parallel, asked in REQUESTS:
        reasoning = "none" if asked == "open" and "reasoning" not in format.states else asked
        options = {"choice": choice, "parallel": parallel, "reasoning": reasoning}
        try:
            tag = COMPILER.compile_structural_tag(str(grammar.structural_tag(format, walks.TOOLS, **options)))
        except grammar.GrammarError as error:
            print(f"  {error}")
            continue
        walker = walks.Walker(grammar.lark(format, walks.TOOLS, **options).text, format, walks.WORDS, {})
        start = "reasoning" if reasoning == "open" else None
        rng = random.Random(7)
        for _ in range(WALKS):
            text = walker.walk(rng, 40).text
            tried += 1
            if not allows(tag, text) and not any(marker in text for marker in format.token_texts):
                found.append(f"{options}: refused {text!r}")
            for _ in range(8):
                other = walks.changed(text, format, rng)
                tried += 1
                if allows(tag, other) and (faults := wrong(format, walks.TOOLS, other, start, choice, parallel)):
                    found.append(f"{options}: allowed {other!r}: {faults}")
    return tried, found


def cased(format: Format) -> tuple[int, list[str]]:
    found: list[str] = []
    tried = 0
    for case in corpus.load(format.name).cases:
        if case.prompt or case.limits != corpus.Limits() or case.undeclared != "call":
            continue
        try:
            tools = test_canonical.tools_of(case)
        except ValueError:  # a broken call's arguments are no JSON
            tools = Tools.of([*case.tools] if case.tools else [])
        start = case.start
        options = {"reasoning": "open" if start == "reasoning" else "optional"}
        try:
            tag = COMPILER.compile_structural_tag(str(grammar.structural_tag(format, tools, **options)))
        except grammar.GrammarError:
            continue
        tried += 1
        if case.canonical:
            known = (format.name, case.name) in test_canonical.BEYOND or not test_canonical.is_valid(case, tools)
            if not known and not any(allows(tag, text) for text in test_canonical.outputs_of(format, case)):
                quoted = any(marker in call.arguments for call in case.expect.calls for marker in format.token_texts)
                if not quoted:
                    found.append(f"canonical case refused: {case.name}")
        elif allows(tag, case.text) and (faults := wrong(format, tools, case.text, start, "auto", True)):
            found.append(f"case allowed: {case.name}: {faults}")
    return tried, found


def schemas() -> list[str]:
    """Keywords of JSON Schema that a tag is loose about, and does not say so, or that refuse a valid value."""
    found = []
    hermes = formats.load("hermes")
    for keyword, schema, good, bad in keywords.CASES:
        made = grammar.structural_tag(hermes, test_keywords.tools_of(schema), choice="required")
        tag = COMPILER.compile_structural_tag(str(made))

        def allowed(value: object, tag: xgrammar.CompiledGrammar = tag) -> bool:
            call = json.dumps({"name": "f", "arguments": {"v": value}}, ensure_ascii=False)
            return allows(tag, f"<tool_call>\n{call}\n</tool_call>")

        found += [f"{keyword}: {value!r} is refused by {schema}" for value in good if not allowed(value)]
        if not any(note.endswith(f": {keyword}") for note in made.unenforced):
            found += [f"{keyword}: {value!r} is allowed by {schema}" for value in bad if allowed(value)]
    return found


def strangers_schemas() -> list[str]:
    """Schemas whose tag xgrammar does not take."""
    found = []
    for schema in (*(schema for schema, _ in strangers.BROKEN), *strangers.SOUND, *strangers.LOOPS):
        for name in ("hermes", "qwen3_coder", "minimax_m3", "kimi_k3"):
            parameters = {"type": "object", "properties": {"n": schema}, "required": ["n"]}
            tools = Tools.of([{"type": "function", "function": {"name": "f", "parameters": parameters}}])
            try:
                COMPILER.compile_structural_tag(str(grammar.structural_tag(formats.load(name), tools)))
            except grammar.GrammarError as error:
                print(f"  {error}")
            except RuntimeError as error:
                found.append(f"{name}: {str(schema)[:120]}: {error}")
    return found


def suite() -> list[str]:
    """Values of the suite that a tag allows, that are not valid, and of which nothing is said."""
    folder = os.environ.get("GATEWAY_ARGS_TEST_MATERIAL")
    if not folder:
        print("JSON-Schema-Test-Suite: not here")
        return []
    found = []
    tried = 0
    for where, schema, tests in test_schema_suite.groups(Path(folder) / "suites"):
        parameters = {"type": "object", "properties": {"v": test_schema_suite.moved(schema)}, "required": ["v"]}
        parameters["additionalProperties"] = False
        tools = Tools.of([{"type": "function", "function": {"name": "f", "parameters": parameters}}])
        made = grammar.structural_tag(formats.load("hermes"), tools, choice="required")
        try:
            tag = COMPILER.compile_structural_tag(str(made))
        except RuntimeError as error:
            found.append(f"{where}: {error}")
            continue
        for test in tests:
            tried += 1
            text = test_schema_suite.WRITTEN["hermes"] % json.dumps(test["data"], ensure_ascii=False)
            if not test["valid"] and not made.unenforced and allows(tag, text):
                found.append(f"{where}: {test['description']}")
    print(f"JSON-Schema-Test-Suite: {tried} values, {len(found)} wrong")
    return found


class ResponseFormat(pydantic.BaseModel):
    """TensorRT-LLM's, whose distributions for PyPI have no sources: the fields and their types as its
    `tensorrt_llm/serve/openai_protocol.py` had them in 2026, other fields refused."""

    model_config = pydantic.ConfigDict(extra="forbid", populate_by_name=True)

    type: Literal["text", "json", "json_schema", "json_object", "regex", "ebnf", "structural_tag"]
    json_schema: dict[str, Any] | None = None
    regex: str | None = None
    ebnf: str | None = None
    format: xgrammar.structural_tag.Format | None = None


def response_formats() -> list[str]:
    """Tags and bodies that TensorRT-LLM's request model refuses."""
    names, _ = test_guided_decoding.run()
    given = {name: names[name]["response_format"] for name in ("tensorrt_llm", "tensorrt_llm_llguidance")}
    for name in test_canonical.NAMES:
        try:
            given[name] = dict(grammar.structural_tag(formats.load(name), walks.TOOLS, reasoning="optional").value)
        except grammar.GrammarError:
            continue
    found = []
    for name, value in given.items():
        try:
            ResponseFormat.model_validate(value)
        except ValueError as error:
            found.append(f"{name}: {error}")
    print(f"TensorRT-LLM: {len(given)} response formats, {len(found)} refused")
    return found


def main() -> int:
    broken = 0
    for line in (*schemas(), *strangers_schemas(), *suite(), *response_formats()):
        broken += 1
        print(line)
    for name in sys.argv[1:] or test_canonical.NAMES:
        began = time.perf_counter()
        format = formats.load(name)
        (texts, one), (cases, other) = walked(format), cased(format)
        broken += len(one) + len(other)
        print(
            f"{name}: {texts} texts, {cases} cases, {len(one) + len(other)} wrong, {time.perf_counter() - began:.1f} s"
        )
        for line in (*one, *other):
            print("  " + line[:600])
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
