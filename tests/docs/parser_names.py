"""The table of other engines' parser names, made from our aliases: `python tests/docs/parser_names.py --write`."""

from __future__ import annotations

import sys
from pathlib import Path

from gateway_args import formats

PAGE = Path(__file__).parents[2] / "docs" / "coming-from.md"
OPEN = "<!-- parser names:"
CLOSE = "<!-- end of parser names -->"

# As registered on their main branches, in vllm/tool_parsers and in sglang/srt/function_call.
REGISTERED = {
    "vLLM": """
    apertus cohere_command3 cohere_command4 deepseek_v3 deepseek_v31 deepseek_v32 deepseek_v4 ernie45
    functiongemma gemma4 gigachat3 glm45 glm47 granite granite-20b-fc granite4 hermes hunyuan_a13b hy_v3 inkling
    internlm jamba kimi_k2 kimi_k3 lfm2 llama3_json llama4_json llama4_pythonic longcat mimo minicpm5 minimax_m2
    minimax_m3 mistral olmo3 openai phi4_mini_json poolside_v1 pythonic qwen3_coder qwen3_xml seed_oss
    solar_open2 step3 step3p5 xlam
    """,
    "SGLang": """
    apertus2509 cohere_command4 deepseekv3 deepseekv31 deepseekv32 deepseekv4 dots gemma4 gigachat3 glm glm45
    glm47 gpt-oss hermes hunyuan inkling interns1 kimi_k2 kimi_k3 lfm2 llama3 mimo minicpm5 minimax-m2
    minimax-m3 mistral muse poolside_v1 pythonic qwen qwen25 qwen3_coder spark25 step3 step3p5 trinity
    """,
}
VLLM, SGLANG = (names.split() for names in REGISTERED.values())


def table() -> str:
    """One row a table of ours: the parser names of others that lead to it."""
    rows = ["| our table | vLLM | SGLang |", "|---|---|---|"]
    for name in formats.names():
        cells = [
            ", ".join(f"`{each}`" for each in names if formats.load(each).name == name) for names in (VLLM, SGLANG)
        ]
        if any(cells):
            rows.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(rows)


def filled(text: str) -> str:
    """This page with the table as it should be."""
    start = text.index("\n", text.index(OPEN)) + 1
    return text[:start] + table() + "\n" + text[text.index(CLOSE) :]


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    if "--write" in sys.argv:
        PAGE.write_text(filled(text), encoding="utf-8")
    else:
        print(table())
