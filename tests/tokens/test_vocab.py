"""The shipped vocabularies, and the real ones where their packages are installed."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_args.tokens import vocab
from gateway_args.tokens.detokenizer import TokenDecoder

if TYPE_CHECKING:
    import tiktoken

FIXTURES = Path(__file__).parents[2] / "fixtures"
# For each real vocabulary a marker and its id, as the vendors' tokenizer files have them.
KNOWN = {
    "qwen": ("<tool_call>", 151657),
    "qwen3": ("</think>", 151668),
    "qwen3_5": ("<tool_call>", 248058),
    "deepseek": ("<｜tool▁calls▁begin｜>", 128806),
    "mistral": ("[TOOL_CALLS]", 9),
    "llama3": ("<|python_tag|>", 128010),
    "gpt_oss": ("<|channel|>", 200005),
}
# The groups of recorded outputs whose models have one of these vocabularies.
GROUPS = {
    "qwen3-8b": "qwen",
    "qwen3-coder-30b-a3b-instruct": "qwen",
    "deepseek-v3.1": "deepseek",
    "deepseek-v4.1-flash": "deepseek",
    "llama-xlam-2-8b-fc-r": "llama3",
}
SAMPLE = 'I\'ll call it:\n<x>{"città": "São Paulo 🌤", "n": 1234567,  "世界": [1, -2.5]}</x>\n\n  かな ½ e\u0301\u200d\n'


def real(name: str) -> tiktoken.Encoding:
    """The vocabulary, or a skip that says which package to install."""
    try:
        return vocab.load(name)
    except ModuleNotFoundError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", ["embedded", "bytes"])
@given(text=st.text())
def test_a_shipped_vocabulary_spells_every_text(name: str, text: str) -> None:
    encoding = vocab.load(name)
    assert encoding.decode(encoding.encode_ordinary(text)) == text


@pytest.mark.parametrize("name", ["embedded", "bytes"])
def test_every_marker_is_one_added_token_of_a_shipped_vocabulary(name: str) -> None:
    encoding = vocab.load(name)
    markers = (vocab.FOLDER / "markers.txt").read_text(encoding="utf-8").splitlines()
    assert len(set(markers)) == len(markers) == len(encoding.special_tokens_set)
    for marker in markers:
        (id,) = encoding.encode(marker, allowed_special="all")
        assert encoding.is_special_token(id)
        assert encoding.decode_single_token_bytes(id).decode() == marker


def test_the_embedded_vocabulary_has_a_thousand_merges_and_spends_fewer_tokens_than_bytes() -> None:
    encoding = vocab.load("embedded")
    assert encoding.n_vocab - len(encoding.special_tokens_set) == 1_256
    call = '{"name": "get_weather", "arguments": {"city": "Lisbon", "days": 3}}'
    assert len(encoding.encode_ordinary(call)) < len(call) / 2


def test_the_embedded_vocabulary_cuts_characters_outside_ascii_between_tokens() -> None:
    encoding = vocab.load("embedded")
    cut = [encoding.decode_single_token_bytes(id) for id in encoding.encode_ordinary("🦉 鷹 ж 𝄞")]
    assert any(piece.decode("utf-8", "ignore").encode() != piece for piece in cut)


def test_training_gives_the_shipped_file_again() -> None:
    spec = spec_from_file_location("train_vocabulary", FIXTURES / "train_vocabulary.py")
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.rank_file() == (vocab.FOLDER / "embedded.tiktoken").read_bytes()


def test_a_vocabulary_is_built_once() -> None:
    assert vocab.load("embedded") is vocab.load("embedded")


def test_an_unknown_name_is_refused_with_a_near_one_or_all() -> None:
    with pytest.raises(ValueError, match="did you mean 'embedded'"):
        vocab.load("embeded")
    with pytest.raises(ValueError, match="there are embedded, bytes, qwen"):
        vocab.load("zzz")


def test_a_missing_package_or_file_is_named_with_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = vocab._Source("no-such-package-here", ("x.tiktoken",), vocab._read_tiktoken)
    monkeypatch.setitem(vocab._SOURCES, "absent", absent)
    with pytest.raises(ModuleNotFoundError, match="pip install no-such-package-here"):
        vocab.load("absent")
    older = vocab._Source("tiktoken", ("tiktoken/no_such_file",), vocab._read_tiktoken)
    monkeypatch.setitem(vocab._SOURCES, "older", older)
    with pytest.raises(ModuleNotFoundError, match="no_such_file for 'older'; install a version that ships it"):
        vocab.load("older")


def test_importing_the_modules_imports_no_tiktoken() -> None:
    code = (
        "import sys, gateway_args.strict_json.acceptor, gateway_args.tokens, gateway_args.tokens.vocab\n"
        "print(sorted({'tiktoken', 'orjson', 'regex', 'importlib.metadata'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("name", KNOWN)
def test_a_real_vocabulary_spells_texts_and_has_its_markers(name: str) -> None:
    encoding = real(name)
    marker, id = KNOWN[name]
    assert encoding.encode(marker, allowed_special="all") == [id]
    ids = encoding.encode_ordinary(SAMPLE)
    assert len(ids) < len(SAMPLE)
    decoder = TokenDecoder(encoding)
    assert "".join([*(decoder.feed(id).text for id in ids), decoder.finish().text]) == SAMPLE


def test_two_packages_say_the_same_of_qwens_vocabulary() -> None:
    one, other = real("qwen"), real("qwen3")
    assert one.special_tokens_set == other.special_tokens_set
    assert one.n_vocab == other.n_vocab == 151_669
    assert one.token_byte_values() == other.token_byte_values()
    assert one.encode(SAMPLE + "<think>", allowed_special="all") == other.encode(
        SAMPLE + "<think>", allowed_special="all"
    )


@pytest.mark.parametrize("group", GROUPS)
def test_recorded_ids_decode_to_the_recorded_text_and_encode_back(group: str, cases: Path) -> None:
    encoding = real(GROUPS[group])
    lines = (cases / "recorded.jsonl").read_text(encoding="utf-8").splitlines()
    recorded = [case for case in map(json.loads, lines) if case["group"] == group]
    assert recorded
    for case in recorded:
        decoder = TokenDecoder(encoding)
        deltas = [*map(decoder.feed, case["token_ids"]), decoder.finish()]
        assert "".join(delta.text for delta in deltas) == case["output_text"]
        assert [token.id for delta in deltas for token in delta.tokens] == case["token_ids"]
        assert encoding.encode(case["output_text"], allowed_special="all") == case["token_ids"]
