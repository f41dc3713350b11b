"""Token ids to deltas: every token once, spans that cover the text, sequences held back, nothing a crash."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_args.tokens import vocab
from gateway_args.tokens.detokenizer import Delta, Token, TokenDecoder

BYTES = vocab.load("bytes")
EMBEDDED = vocab.load("embedded")
THINK = BYTES.encode_single_token("<think>")
UNKNOWN = 10_000


class Pieces:
    """A vocabulary of the tests' own: id n is the n-th piece of bytes, and none is added."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces

    def decode_single_token_bytes(self, token: int, /) -> bytes:
        return self.pieces[token]

    def encode_single_token(self, text_or_bytes: str, /) -> int:
        return self.pieces.index(text_or_bytes.encode())

    def is_special_token(self, token: int, /) -> bool:
        return False


def grouped(ids: list[int], cuts: list[int]) -> list[list[int]]:
    """The ids in groups, cut at these places."""
    places = sorted(cut % (len(ids) + 1) for cut in cuts)
    return [ids[start:end] for start, end in zip([0, *places], [*places, len(ids)], strict=True)]


def joined(deltas: list[Delta]) -> Delta:
    """The deltas as one, its spans checked on the way: in order, without gap or overlap, and covering each text."""
    text, tokens = "", []
    for delta in deltas:
        at = 0
        for token in delta.tokens:
            assert at == token.start <= token.end
            at = token.end
            tokens.append(Token(token.id, token.start + len(text), token.end + len(text)))
        assert at == len(delta.text)
        text += delta.text
    return Delta(text, tokens)


def decoded(decoder: TokenDecoder, groups: list[list[int]]) -> Delta:
    return joined([*map(decoder.feed, groups), decoder.finish()])


ids_of_bytes = st.lists(
    st.integers(0, 255) | st.sampled_from([0x41, 0xC3, 0xA9, 0xE4, 0xB8, 0x96, 0xF0, 0x9F, 0x8C, 0xED, 0xA0])
)
cut_places = st.lists(st.integers(0, 1_000), max_size=8)


@given(ids_of_bytes)
def test_the_text_of_any_bytes_is_what_bytes_decode_with_replace_says(ids: list[int]) -> None:
    assert decoded(TokenDecoder(BYTES), [ids]).text == bytes(ids).decode("utf-8", "replace")


@given(st.lists(st.integers(0, EMBEDDED.n_vocab - 1)))
def test_the_text_of_any_known_tokens_is_what_their_joined_bytes_decode_to(ids: list[int]) -> None:
    whole = b"".join(map(EMBEDDED.decode_single_token_bytes, ids))
    assert decoded(TokenDecoder(EMBEDDED), [ids]).text == whole.decode("utf-8", "replace")


@given(st.lists(st.integers(0, 255) | st.sampled_from([THINK, UNKNOWN, 0xF0, 0x9F, 0xC3, 0xED, 0xA0])), st.booleans())
def test_bytes_before_an_added_token_an_unknown_id_or_the_end_are_decoded_on_their_own(
    ids: list[int], skip: bool
) -> None:
    expected, stretch = "", b""
    for id in ids:
        if id < 256:
            stretch += bytes([id])
        else:
            expected += stretch.decode("utf-8", "replace") + ("<think>" if id == THINK and not skip else "")
            stretch = b""
    expected += stretch.decode("utf-8", "replace")
    assert decoded(TokenDecoder(BYTES, skip_special=skip), [ids]).text == expected


@given(st.lists(st.integers(0, 255) | st.sampled_from([THINK, UNKNOWN, 0xF0, 0x9F, 0xC3, 0xED, 0xA0])), cut_places)
def test_every_token_is_in_one_delta_and_any_grouping_says_the_same(ids: list[int], cuts: list[int]) -> None:
    one = decoded(TokenDecoder(BYTES), [ids])
    assert [token.id for token in one.tokens] == ids
    assert decoded(TokenDecoder(BYTES), grouped(ids, cuts)) == one
    singly = TokenDecoder(BYTES)
    assert joined([*map(singly.feed, ids), singly.finish()]) == one


@given(st.text(), cut_places)
def test_a_character_belongs_to_the_token_that_brought_its_first_byte(text: str, cuts: list[int]) -> None:
    data = text.encode()
    places = sorted(cut % (len(data) + 1) for cut in cuts)
    bounds = [*zip([0, *places], [*places, len(data)], strict=True)]
    decoder = TokenDecoder(Pieces([data[start:end] for start, end in bounds]))
    tokens = decoded(decoder, [[*range(len(bounds))]]).tokens
    first_bytes = [len(text[:at].encode()) for at in range(len(text))]
    for token, (start, end) in zip(tokens, bounds, strict=True):
        owned = [at for at, byte in enumerate(first_bytes) if start <= byte < end]
        assert [*range(token.start, token.end)] == owned


@given(ids_of_bytes)
def test_at_most_three_bytes_worth_of_tokens_are_held(ids: list[int]) -> None:
    decoder = TokenDecoder(BYTES)
    out = 0
    for fed, id in enumerate(ids, start=1):
        out += len(decoder.feed(id).tokens)
        assert 0 <= fed - out <= 3


def test_a_character_cut_between_tokens_is_held_back_with_its_tokens() -> None:
    decoder = TokenDecoder(Pieces([b"a \xf0\x9f", b"\x8c", b"\xa4b", b"c"]))
    assert decoder.feed(0) == Delta("", [])
    assert decoder.feed(1) == Delta("", [])
    assert decoder.feed(2) == Delta("a 🌤b", [Token(0, 0, 3), Token(1, 3, 3), Token(2, 3, 4)])
    assert decoder.feed(3) == Delta("c", [Token(3, 0, 1)])
    assert decoder.finish() == Delta("", [])


def test_a_token_may_complete_one_character_and_begin_the_next() -> None:
    decoder = TokenDecoder(Pieces([b"\xe4\xb8", b"\x96x\xe7", b"\x95\x8c"]))
    assert decoder.feed(0) == Delta("", [])
    assert decoder.feed(1) == Delta("世", [Token(0, 0, 1)])
    assert decoder.feed(2) == Delta("x界", [Token(1, 0, 2), Token(2, 2, 2)])


@pytest.mark.parametrize(
    ("pieces", "text", "spans"),
    [
        ([b"\xf0\x9f", b"a"], "\ufffda", [(0, 1), (1, 2)]),
        ([b"\xf0", b"\x9f", b"\xc3", b"\xa9"], "\ufffdé", [(0, 1), (1, 1), (1, 2), (2, 2)]),
        ([b"\x80", b"\xbf"], "\ufffd\ufffd", [(0, 1), (1, 2)]),
        ([b"\xed", b"\xa0", b"\x80"], "\ufffd\ufffd\ufffd", [(0, 1), (1, 2), (2, 3)]),
        ([b"\xed\xa0"], "\ufffd\ufffd", [(0, 2)]),
        ([b"x\xe4\xb8"], "x\ufffd", [(0, 2)]),
        ([b"\xff\xfe", b"\xc0\x80"], "\ufffd" * 4, [(0, 2), (2, 4)]),
    ],
)
def test_broken_bytes_become_replacement_characters_of_the_tokens_that_brought_them(
    pieces: list[bytes], text: str, spans: list[tuple[int, int]]
) -> None:
    tokens = [Token(id, start, end) for id, (start, end) in enumerate(spans)]
    assert decoded(TokenDecoder(Pieces(pieces)), [[*range(len(pieces))]]) == Delta(text, tokens)


@pytest.mark.parametrize("id", [UNKNOWN, -1, 2**31, 2**40, 2**70])
def test_an_unknown_id_is_a_zero_width_token_that_is_counted_and_kept(id: int) -> None:
    decoder = TokenDecoder(BYTES)
    assert decoder.feed([0x61, id, 0x62]) == Delta("ab", [Token(0x61, 0, 1), Token(id, 1, 1), Token(0x62, 1, 2)])
    decoder.feed(UNKNOWN + 1)
    assert (decoder.unknown, decoder.first_unknown) == (2, id)


def test_an_added_token_in_the_middle_of_a_character_comes_after_the_broken_bytes() -> None:
    decoder = TokenDecoder(BYTES)
    assert decoder.feed([0xF0, 0x9F]) == Delta("", [])
    assert decoder.feed(THINK) == Delta("\ufffd<think>", [Token(0xF0, 0, 1), Token(0x9F, 1, 1), Token(THINK, 1, 8)])
    assert decoder.feed(0x8C) == Delta("\ufffd", [Token(0x8C, 0, 1)])


def test_a_skipped_special_token_is_zero_width_and_keeps_its_id() -> None:
    decoder = TokenDecoder(BYTES, skip_special=True)
    assert decoder.feed([0x61, THINK, 0x62]) == Delta("ab", [Token(0x61, 0, 1), Token(THINK, 1, 1), Token(0x62, 1, 2)])


def test_the_end_gives_up_what_is_held_and_the_decoder_is_as_new() -> None:
    decoder = TokenDecoder(BYTES)
    decoder.feed([0xE4, 0xB8])
    assert decoder.finish() == Delta("\ufffd", [Token(0xE4, 0, 1), Token(0xB8, 1, 1)])
    assert decoder.finish() == Delta("", [])
    assert decoder.feed([0xE4, 0xB8, 0x96]).text == "世"


class Table:
    """A format as far as the decoder looks at one."""

    def marker_texts(self) -> list[str]:
        return ["<think>", "</think>", "<parameter=", "a"]


def test_the_markers_that_are_one_token_are_found_by_their_texts() -> None:
    assert TokenDecoder(BYTES).markers(Table()) == {"<think>": THINK, "</think>": THINK + 1, "a": 0x61}


@given(st.text(), cut_places)
def test_an_encoded_text_comes_back_as_it_was(text: str, cuts: list[int]) -> None:
    ids = EMBEDDED.encode(text, allowed_special="all")
    assert decoded(TokenDecoder(EMBEDDED), grouped(ids, cuts)).text == text
