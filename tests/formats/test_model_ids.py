"""Model ids: vendors' own, copies under other owners, paths and file names are read with their model's table."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway_args import FormatError, formats
from gateway_args.formats import catalogue

LISTED = Path(__file__).with_name("model_ids.txt")


def listed() -> list[tuple[str, str]]:
    """The pairs (table, id) of `model_ids.txt`."""
    table, pairs = "", []
    for line in LISTED.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            table = line.strip("[]")
        elif line and not line.startswith("#"):
            pairs.append((table, line))
    return pairs


def table_of(model: str) -> str:
    try:
        return formats.for_model(model).name
    except FormatError:
        return "none"


def test_hundreds_of_ids_are_read_with_the_table_of_their_model():
    pairs = listed()
    assert len(pairs) > 400
    assert [(table, model, found) for table, model in pairs if (found := table_of(model)) != table] == []


WRAPPINGS = [
    "{owner}/{name}", "{name}", "acme/{name}", "/models/{name}", "/models/{owner}/{name}/", "acme/{name}-FP8",
    "nvidia/{name}-NVFP4", "RedHatAI/{name}-FP8-dynamic", "RedHatAI/{name}-quantized.w4a16", "unsloth/{name}-GGUF",
    "unsloth/{name}-unsloth-bnb-4bit", "mlx-community/{name}-4bit", "mlx-community/{name}-8bit-DWQ",
    "cyankiwi/{name}-AWQ-4bit", "acme/{name}-GPTQ-Int4", "acme/{name}-int4-AutoRound", "amd/{name}-MXFP4",
    "bartowski/{owner}_{name}-GGUF", "{name}-Q4_K_M.gguf", "/m/{name}-UD-IQ2_XXS-00001-of-00003.gguf",
    "/hub/models--{owner}--{name}/snapshots/0123456789abcdef0123456789abcdef01234567",
    "/hub/models--acme--{name}-GGUF/snapshots/0123456789abcdef/{name}-Q8_0.gguf", "acme/{name}_FP8",
    "{owner}/{name}@main", "D:\\models\\{owner}\\{name}",
]  # fmt: skip


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_copy_is_read_as_what_it_is_a_copy_of(wrapping):
    """For each id of a vendor that is an exact glob's or a wildcard's: the copy's table is the vendor's."""
    wrong = []
    for table, model in listed():
        owner, slash, name = model.partition("/")
        if table == "none" or not slash or not owner or "/" in name or ":" in name or name.lower().endswith("gguf"):
            continue
        copy = wrapping.format(owner=owner, name=name)
        if table_of(copy) != table:
            wrong.append((table, copy, table_of(copy)))
    assert wrong == []


def test_upper_and_lower_case_and_the_two_dashes_are_one():
    for table, model in listed():
        assert table_of(model.upper()) == table
        if not any(mark in model for mark in ("models--", "___", "bartowski/", "ggml-org_")):
            assert table_of(model.replace("_", "-")) == table


@pytest.mark.parametrize(
    ("model", "near"),
    [
        ("meta-llama/Llama-9-8B", "llama"),
        ("Qwen/Qwen9-8B", "qwen"),
        ("acme/mistral-tiny", "mistral"),
        ("zai-org/GLM-3-9b", "glm"),
        ("deepseek-ai/DeepSeek-V9-FP8", "deepseek"),
    ],
)
def test_near_ids_are_of_the_models_own_family(model, near):
    with pytest.raises(FormatError) as caught:
        formats.for_model(model)
    said = str(caught.value).split("near ones: ")[1].split("; choose")[0].split(", ")
    assert 1 <= len(said) <= 3
    assert all(near in glob.lower() for glob in said)


def test_an_id_of_any_length_costs_little_and_is_shown_short():
    with pytest.raises(FormatError) as caught:
        formats.for_model("x" * 1_000_000)
    assert len(str(caught.value)) < 400


def test_ids_that_were_looked_up_are_remembered_within_a_bound():
    for n in range(catalogue.KEPT_MODELS + 10):
        formats.for_model(f"Qwen/Qwen3-{n}B")
    assert len(catalogue.current()._models) <= catalogue.KEPT_MODELS


PARSERS = """
    apertus apertus2509 beam berrylm cohere_command3 cohere_command4 commandr deepseek_v3 deepseek_v31 deepseek_v32
    deepseek_v4 deepseek_v41 deepseekv3 deepseekv31 deepseekv32 deepseekv4 deepseekv41 dots ernie45 functionary
    functiongemma gemma4 gigachat3 gigachat35 glm glm45 glm47 gpt-oss granite granite-20b-fc granite4 hermes hunyuan
    hunyuan_a13b hy_v3 hy_v4 hyperclovax_seed_think inkling internlm interns1 iquest_coder_v2 iquest_q1 jamba
    k2_horizon k2_v3 kimi_k2 kimi_k25 kimi_k3 lfm2 ling3 llama3 llama3_json llama4_json llama4_pythonic llm_jp
    longcat mimo minicpm5 minimax-m2 minimax-m3 minimax_m2 minimax_m3 mistral muse muse_glimmer musespark1x nanbeige
    olmo3 openai openpangu openpangu_v2 pangu phi4_mini_json plamo3 poolside_v1 pythonic qwen qwen25 qwen25_coder
    qwen3_coder qwen3_json qwen3_xml rwkv seed_oss solar_open2 spark25 spark3 step3 step3p5 step5 step_audio_2
    telechat4 trinity xing4_0 xingchen4 xlam
"""
"""Names of tool parsers in vLLM, SGLang, TensorRT-LLM, llama.cpp and ollama, as an operator knows them."""


@pytest.mark.parametrize("name", PARSERS.split())
def test_an_engines_name_for_a_parser_is_one_of_ours(name):
    assert formats.load(name).calls


@pytest.mark.parametrize(
    ("spelled", "table"), [("granite-4.2", "qwen3_coder"), ("MiniCPM_V", "qwen3_coder"), ("Qwen3-Coder", "qwen3_coder")]
)
def test_a_name_is_found_in_any_spelling(spelled: str, table: str) -> None:
    assert formats.load(spelled) is formats.load(table)


def test_a_spelling_that_means_two_tables_is_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("my-own", "my_own"):
        (tmp_path / f"{name}.toml").write_bytes((LISTED.parents[2] / "fixtures" / "lines" / "lines.toml").read_bytes())
    monkeypatch.setenv("GATEWAY_ARGS_FORMATS", str(tmp_path))
    assert formats.load("my_own").name == "my_own"
    with pytest.raises(FormatError, match="no format of that name"):
        formats.load("myown")
