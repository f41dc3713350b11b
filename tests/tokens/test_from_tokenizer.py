"""`vocab.from_tokenizer` against the `tokenizers` package, which trains and decodes the vocabularies of these tests."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from gateway_args import Parser, Reading, TokenDecoder, formats, vocab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gateway_args.tokens.tokenizer_json import FastVocabulary

tokenizers = pytest.importorskip("tokenizers")
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers  # noqa: E402

TEXTS = [
    "The tide turns at noon; the harbour is full of boats and the boats are full of fish.",
    '{"name": "lookup_tide", "arguments": {"port": "Zürich", "day": 3}}',
    "naïve café — 東京 の 天気 は 晴れ です 😀👩‍🚀 “quoted” ½ ﷺ",
    "def f(x):\n\treturn  x   +  1\n\n\nprint('<b>')",
]
SPECIAL = ["<s>", "</s>", "<|im_end|>", "<｜tool▁calls▁begin｜>"]
ADDED = ["<tool_call>", "</tool_call>", "<think>", "</think>"]


def byte_level() -> Any:
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, show_progress=False))
    return made


def llama_like() -> Any:
    """SentencePiece's BPE as converted for Llama 2, Mistral and Gemma: `▁`, bytes for what has no piece."""
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    made = tokenizers.Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    seen = TEXTS[:2]  # the other letters have to be written in bytes
    made.train_from_iterator(
        seen, trainers.BpeTrainer(vocab_size=460, special_tokens=["<unk>", *bytes_], show_progress=False)
    )
    said = json.loads(made.to_str())
    said["added_tokens"] = said["added_tokens"][:1]  # a byte's piece is an ordinary token
    return tokenizers.Tokenizer.from_str(json.dumps(said))


def unigram() -> Any:
    made = tokenizers.Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.train_from_iterator(
        TEXTS, trainers.UnigramTrainer(vocab_size=200, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)
    )
    return made


KINDS = {"byte-level BPE": byte_level, "BPE with byte fallback": llama_like, "Unigram": unigram}


@pytest.fixture(scope="module", params=KINDS, ids=str)
def kind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, FastVocabulary]:
    made = KINDS[request.param]()
    made.add_special_tokens(SPECIAL)
    made.add_tokens([tokenizers.AddedToken(text, normalized=False) for text in ADDED])  # as models ship them
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(str(path))
    return made, vocab.from_tokenizer(path)


def outputs(seed: int) -> Iterator[str]:
    dice = random.Random(seed)
    for _ in range(60):
        words = [*ADDED, *SPECIAL[:3], *(word for text in TEXTS for word in text.split(" ")), "\n", "  ", "😀", "é"]
        yield dice.choice(["", " "]).join(dice.choices(words, k=dice.randrange(1, 30)))


def decoded(vocabulary: FastVocabulary, ids: list[int]) -> str:
    decoder = TokenDecoder(vocabulary)
    return "".join([*(decoder.feed(id).text for id in ids), decoder.finish().text])


def test_ids_become_the_text_that_the_tokenizer_itself_writes(kind: tuple[Any, FastVocabulary]) -> None:
    made, vocabulary = kind
    start = made.encode("a", add_special_tokens=False).ids  # behind a prompt, where no first space is stripped
    before = made.decode(start, skip_special_tokens=False)
    tried = 0
    for text in [*TEXTS, *outputs(7)]:
        ids = made.encode(text, add_special_tokens=False).ids
        whole = made.decode([*start, *ids], skip_special_tokens=False)
        assert decoded(vocabulary, ids) == whole.removeprefix(before), text
        tried += len(ids)
    assert tried > 500


def test_every_token_alone_is_the_text_that_the_tokenizer_writes(kind: tuple[Any, FastVocabulary]) -> None:
    made, vocabulary = kind
    start = made.encode("a", add_special_tokens=False).ids
    before = made.decode(start, skip_special_tokens=False)
    assert vocabulary.n_vocab == made.get_vocab_size(with_added_tokens=True)
    for id in range(vocabulary.n_vocab):
        if id == made.token_to_id(SPECIAL[3]):
            continue  # `decode` writes its `▁` as a space; the model's vendor did not
        assert decoded(vocabulary, [id]) == made.decode([*start, id], skip_special_tokens=False).removeprefix(before)


def test_special_and_added_tokens_are_their_texts_and_found_by_them(kind: tuple[Any, FastVocabulary]) -> None:
    made, vocabulary = kind
    for text in (*SPECIAL, *ADDED):
        id = made.token_to_id(text)
        assert vocabulary.encode_single_token(text) == id
        assert vocabulary.decode_single_token_bytes(id) == text.encode()
        assert vocabulary.is_special_token(id) == (text in SPECIAL)
    with pytest.raises(KeyError):
        vocabulary.encode_single_token("<|no such token|>")


def test_markers_match_by_id_with_a_real_tokenizer(kind: tuple[Any, FastVocabulary]) -> None:
    made, vocabulary = kind
    fmt = formats.load("hermes")
    decoder = TokenDecoder(vocabulary)
    parser = Parser(fmt, markers=decoder.markers(fmt))
    reading = Reading()
    text = '<tool_call>\n{"name": "lookup_tide", "arguments": {"port": "Zürich"}}\n</tool_call>'
    for id in made.encode(text, add_special_tokens=False).ids:
        for event in parser.feed(decoder.feed(id)):
            reading.add(event)
    for event in [*parser.feed(decoder.finish()), *parser.finish("stop")]:
        reading.add(event)
    if isinstance(made.decoder, decoders.ByteLevel):
        assert [(call.name, call.arguments) for call in reading.calls] == [("lookup_tide", '{"port": "Zürich"}')]
    assert decoder.markers(fmt)["<tool_call>"] == made.token_to_id("<tool_call>")
    assert decoder.unknown == 0
    assert vocab.doubts(decoder, fmt) == []


def test_a_wrong_vocabulary_is_said(kind: tuple[Any, FastVocabulary]) -> None:
    _, vocabulary = kind
    decoder = TokenDecoder(vocabulary)
    decoder.feed([0, 151_657, 151_658])
    said = vocab.doubts(decoder, formats.load("hermes"))
    assert len(said) == 1
    assert "2 of the ids (first: 151657)" in said[0]
    said = vocab.doubts(decoder, formats.load("mistral"))
    assert any("none of the markers of the format's calls as one token ([TOOL_CALLS]" in doubt for doubt in said)


GOOD: dict[str, Any] = {"model": {"type": "BPE", "vocab": {"a": 0}}, "decoder": {"type": "ByteLevel"}}


@pytest.mark.parametrize(
    ("said", "where"),
    [
        ([], "no model in it"),
        ({"model": 3}, "model: expected an object, got int"),
        ({**GOOD, "decoder": None}, "decoder: there is none"),
        ({**GOOD, "decoder": {"type": "WordPiece"}}, "decoder: 'WordPiece' is no decoder"),
        (
            {**GOOD, "decoder": {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "CTC"}]}},
            "decoder.decoders[1]: 'CTC'",
        ),
        ({**GOOD, "decoder": {"type": "Sequence"}}, "decoder.decoders: expected a list"),
        ({**GOOD, "model": {"vocab": {"a": "0"}}}, "model.vocab['a']: expected an id"),
        ({**GOOD, "model": {"vocab": [["a", 0.0], "b"]}}, "model.vocab[1]: expected a list"),
        ({**GOOD, "model": {}}, "model.vocab: expected an object"),
        ({**GOOD, "added_tokens": [{"content": "x"}]}, "added_tokens[0]: expected an object with content and id"),
        ({**GOOD, "added_tokens": 3}, "added_tokens: expected a list"),
    ],
)
def test_a_broken_file_is_one_error_that_names_the_place(tmp_path: Path, said: object, where: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(said))
    with pytest.raises(ValueError, match=r"tokenizer\.json: ") as caught:
        vocab.from_tokenizer(tmp_path)  # the folder does as well
    assert where in str(caught.value)


def test_what_is_no_tokenizer_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(ValueError, match="no JSON"):
        vocab.from_tokenizer(tmp_path / "x.json")
    with pytest.raises(FileNotFoundError):
        vocab.from_tokenizer(tmp_path / "none.json")
