"""Tables: each mistake is one error with its place and its mend, and what ships is whole and found by its names."""

from __future__ import annotations

import gc
import json
import os
import re
import tomllib
import weakref
from pathlib import Path

import jsonschema_rs
import pytest

from gateway_args import FormatError, contract, formats, read
from gateway_args.engine.compiled import compiled
from gateway_args.tokens import vocab

ROOT = Path(__file__).parents[2]

SOUND = """
summary = "An object in <call>"
turn_end = ["<end>"]

[markers]
call = { text = "<call>", before = "\\n" }
call_end = { text = "</call>", token = true }

[states.content]
kind = "content"
on = { call = "call" }

[states.call]
kind = "call"
calls = ["object"]
on = { call_end = "content" }

[calls.object]
syntax = "json"
"""


def error_of(tmp_path: Path, text: str) -> str:
    """The one line that a table with this text is refused with."""
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        formats.read(file)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_sound_table_reads_calls(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(SOUND, encoding="utf-8")
    reading = read(formats.load(str(file)), ['Hi.\n<call>{"name": "f", "arguments": {}}</call>'])
    assert (reading.content, [call.name for call in reading.calls]) == ("Hi.", ["f"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('call = "call" }', 'call = "cal" }', "states.content.on.call: no state named 'cal' (did you mean 'call'?)"),
        ('{ call = "call"', '{ cal = "call"', "states.content.on.cal: no marker named 'cal' (did you mean 'call'?)"),
        ("token = true", 'token = "yes"', 'markers.call_end.token: "yes" is no truth value; write true or false'),
        ('text = "<call>"', 'text = ""', "markers.call.text: a marker needs a text that is not empty"),
        ('before = "\\n"', 'bfore = "\\n"', "markers.call.bfore: unknown key (did you mean 'before'?)"),
        ('syntax = "json"', 'syntax = "jsn"', "calls.object.syntax: no call syntax named 'jsn' (did you mean 'json'?)"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place_and_its_mend(tmp_path, old, new, message):
    assert SOUND.count(old) == 1
    assert error_of(tmp_path, SOUND.replace(old, new)) == f"mine: {message}"


def test_a_table_without_states_has_nowhere_to_start(tmp_path):
    message = error_of(tmp_path, 'summary = "x"\n')
    assert message == "mine: states: no state to start in; the first state is where an output starts"


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('kind = "call"', 'kind = "tool"', "states.call.kind"),
        ('kind = "call"\n', "", "states.call.kind"),
        ('calls = ["object"]\n', "", "states.call.calls"),
        ('calls = ["object"]', 'calls = ["objects"]', "states.call.calls[0]"),
        ('calls = ["object"]', 'calls = "object"', "states.call.calls"),
        ('on = { call_end = "content" }\n', "", "states.call.on"),
        ('on = { call_end = "content" }', 'then = "contents"', "states.call.then"),
        ('before = "\\n"', 'before = "x"', "markers.call.before"),
        ('text = "</call>"', 'text = "<call>"', "markers.call_end.text"),
        ('text = "</call>"', 'text = " "', "markers.call_end.text"),
        ('syntax = "json"', 'shape = "list"', "calls.object.syntax"),
        ('syntax = "json"', 'syntax = "json"\nshape = "array"', "calls.object.shape"),
        ('syntax = "json"', 'syntax = "framed"\nheader = ["{nme}"]', "calls.object.header[0]"),
        ('syntax = "json"', 'syntax = "framed"', "calls.object.header"),
        ('syntax = "json"', 'syntax = "framed"\nheader = ["call:"]', "calls.object.header[0]"),
        ('syntax = "json"', 'syntax = "tagged"\nheader = [">"]\nparameter = ["<p {name}>"]', "calls.object.header[0]"),
        ('turn_end = ["<end>"]', "turn_end = [1]", "turn_end[0]"),
        ('summary = "An object in <call>"\n', "", "summary"),
        ('summary = "An object in <call>"', 'sumary = "x"', "sumary"),
        ('kind = "content"', 'kind = "content"\nbare = "start"', "states.content.bare"),
    ],
)
def test_other_mistakes_are_named_with_their_place(tmp_path, old, new, place):
    message = error_of(tmp_path, SOUND.replace(old, new, 1))
    assert re.fullmatch(rf"mine: {re.escape(place)}: .{{4,}}", message), message


def test_a_word_that_resembles_none_is_told_what_there_is(tmp_path):
    assert error_of(tmp_path, SOUND.replace('call = "call" }', 'call = "zzz" }')).endswith(
        "no state named 'zzz'; there are 'content', 'call'"
    )


def test_text_that_is_no_toml_is_a_format_error(tmp_path):
    assert error_of(tmp_path, "summary = ").startswith("mine: no TOML: ")
    (tmp_path / "mine.toml").write_bytes(b'summary = "\xff"')
    with pytest.raises(FormatError, match="mine: not UTF-8: byte 11"):
        formats.read(tmp_path / "mine.toml")


# ------------------------------------------------------------------------------------ names


def test_a_name_that_is_none_is_told_near_ones():
    with pytest.raises(FormatError, match="hermse: no format of that name; near names: hermes"):
        formats.load("hermse")
    with pytest.raises(FormatError, match="`gateway-args formats` lists them"):
        formats.load("\N{SNOWMAN}")


@pytest.mark.parametrize("given", [None, 7, b"hermes", ["hermes"], Path("my.toml")])
def test_what_is_no_text_is_told_what_was_expected(given):
    with pytest.raises(TypeError, match=r"expected a format's name, got .*; formats\.read takes a path"):
        formats.load(given)
    with pytest.raises(TypeError, match="expected a model id, got "):
        formats.for_model(given)


def test_constrained_formats_are_told_what_was_expected():
    with pytest.raises(TypeError, match="expected a function's name, got None"):
        formats.forced(None)
    with pytest.raises(TypeError, match=r"forced: expected a Format as base, got 'hermes'; load one with formats.load"):
        formats.forced("f", "hermes")
    with pytest.raises(TypeError, match="required: expected a Format as base, got 'hermes'"):
        formats.required("hermes")


def test_every_alias_means_one_table_and_hides_none():
    written = [alias for entry in models().values() for alias in entry["aliases"]]
    assert len(written) == len(set(written))
    assert not set(written) & set(formats.names())
    assert {formats.load(alias).name for alias in written} <= set(formats.names())
    assert formats.aliases() == {alias: table for table, entry in models().items() for alias in entry["aliases"]}


def test_every_table_is_in_models_toml_and_no_other():
    assert set(models()) == set(formats.names())


def test_every_model_glob_means_one_table_and_a_model_of_it_is_found():
    written = [glob for entry in models().values() for glob in entry["models"]]
    assert len(written) == len(set(written))
    for table, entry in models().items():
        for glob in entry["models"]:
            model = glob.replace("*", "")
            found = formats.for_model(model).name
            better = [other for name, item in models().items() if name == found for other in item["models"]]
            # a more specific glob of another table may take the model
            assert found == table or max(map(len, better)) >= len(glob), (glob, found)


@pytest.mark.parametrize(
    ("model", "table"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3_json"),
        ("META-LLAMA/llama-3.3-70b-instruct", "llama3_json"),
        ("Llama-3.2-3B-Instruct", "llama3_json"),
        ("Salesforce/Llama-xLAM-2-8b-fc-r", "xlam"),
        ("CohereLabs/c4ai-command-r7b-12-2024", "cohere_command"),
        ("mistralai/Mistral-Nemo-Instruct-2407", "mistral_v3"),
        ("mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistral"),
        ("ibm-granite/granite-3.0-8b-instruct", "granite"),
        ("ibm-granite/granite-4.0-h-small", "hermes"),
        ("MiniMaxAI/MiniMax-M1-80k", "minimax_m1"),
    ],
)
def test_a_model_is_read_with_its_table(model, table):
    assert formats.for_model(model).name == table


def test_a_model_that_is_not_known_is_told_near_ones_and_what_to_do():
    with pytest.raises(FormatError) as caught:
        formats.for_model("Qwen/Qwen9-8B")
    message = str(caught.value)
    assert message.startswith("Qwen/Qwen9-8B: no table is known for this model; near ones: ")
    assert "Qwen/Qwen3-* is qwen3" in message
    assert "GATEWAY_ARGS_FORMATS" in message


def test_a_folder_adds_tables_and_models_and_wins_over_ours(tmp_path, monkeypatch):
    (tmp_path / "mine.toml").write_text(SOUND, encoding="utf-8")
    (tmp_path / "hermes.toml").write_text(SOUND, encoding="utf-8")
    (tmp_path / "models.toml").write_text(
        '[mine]\naliases = ["ours"]\nmodels = ["acme/*"]\n[hermes]\nmodels = ["acme/other-*"]\n', encoding="utf-8"
    )
    monkeypatch.setenv("GATEWAY_ARGS_FORMATS", str(tmp_path))
    assert "mine" in formats.names()
    assert formats.load("ours").name == "mine"
    assert formats.load("hermes").summary == "An object in <call>"
    assert formats.for_model("acme/small").name == "mine"
    assert formats.for_model("acme/other-1").name == "hermes"
    assert formats.for_model("Qwen/Qwen3-8B").name == "qwen3"  # ours still count
    assert formats.load("qwen25").name == "hermes"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[mine]\nmodel = ["acme/*"]', "models: mine.model: unknown key; there are 'aliases', 'models'"),
        ('[mine]\nmodels = "acme/*"', "models: mine.models: no list of texts"),
        ('mine = ["acme/*"]', "models: mine: no table; write [mine] above its aliases and models"),
        (
            '[mein]\nmodels = ["acme/*"]',
            "models: mein: no table of that name; a table is a file beside models.toml, mein.toml",
        ),
    ],
)
def test_a_mistake_in_models_toml_is_one_error_with_its_place(text, said, tmp_path, monkeypatch):
    (tmp_path / "mine.toml").write_text(SOUND, encoding="utf-8")
    (tmp_path / "models.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("GATEWAY_ARGS_FORMATS", str(tmp_path))
    with pytest.raises(FormatError) as caught:
        formats.for_model("acme/small")
    assert str(caught.value) == said


def test_a_mistake_in_models_toml_hides_no_table(tmp_path, monkeypatch):
    (tmp_path / "mine.toml").write_text(SOUND, encoding="utf-8")
    (tmp_path / "models.toml").write_text("[mine", encoding="utf-8")
    monkeypatch.setenv("GATEWAY_ARGS_FORMATS", str(tmp_path))
    assert formats.load("mine").name == "mine"
    assert formats.load("hermes").name == "hermes"
    with pytest.raises(FormatError, match="models: no TOML"):
        formats.load("qwen25")


def test_a_changed_table_is_read_anew(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(SOUND, encoding="utf-8")
    first = formats.read(file)
    assert formats.read(file) is first
    file.write_text(SOUND.replace("An object", "One object"), encoding="utf-8")
    os.utime(file, (1, 1))
    assert formats.read(file).summary == "One object in <call>"
    assert formats.read(file).digest == first.digest  # what a table says of itself changes no reading
    file.write_text(SOUND.replace("<call>", "<kall>"), encoding="utf-8")
    os.utime(file, (2, 2))
    assert formats.read(file).digest != first.digest


def test_a_change_in_the_folder_counts_from_the_next_call_on(tmp_path, monkeypatch):
    monkeypatch.setenv("GATEWAY_ARGS_FORMATS", str(tmp_path))
    with pytest.raises(FormatError, match="mine: no format of that name"):
        formats.load("mine")
    (tmp_path / "mine.toml").write_text(SOUND, encoding="utf-8")
    first = formats.load("mine")
    assert formats.load("mine") is first
    (tmp_path / "mine.toml").write_text(SOUND.replace("An object", "One object"), encoding="utf-8")
    assert formats.load("mine").summary == "One object in <call>"
    with pytest.raises(FormatError, match="acme/small: no table is known"):
        formats.for_model("acme/small")
    (tmp_path / "models.toml").write_text('[mine]\nmodels = ["acme/*"]\n', encoding="utf-8")
    assert formats.for_model("acme/small") is formats.load("mine")
    (tmp_path / "models.toml").write_text('[hermes]\nmodels = ["acme/*"]\n', encoding="utf-8")
    assert formats.for_model("acme/small").name == "hermes"
    (tmp_path / "mine.toml").unlink()
    with pytest.raises(FormatError, match="mine: no format of that name"):
        formats.load("mine")
    monkeypatch.delenv("GATEWAY_ARGS_FORMATS")
    with pytest.raises(FormatError, match="acme/small: no table is known"):
        formats.for_model("acme/small")


def test_a_corpus_beside_a_table_is_no_table(tmp_path, monkeypatch):
    (tmp_path / "mine.toml").write_text(SOUND, encoding="utf-8")
    (tmp_path / "mine_corpus.toml").write_text('format = "mine"\n', encoding="utf-8")
    (tmp_path / "contract").mkdir()
    (tmp_path / "contract" / "other.toml").write_text('format = "other"\n', encoding="utf-8")
    monkeypatch.setenv("GATEWAY_ARGS_FORMATS", str(tmp_path))
    assert "mine" in formats.names()
    assert not {"mine_corpus", "other"} & set(formats.names())


def test_constrained_formats_are_kept_within_a_bound():
    """They are a request's: what is kept must not grow with the names that strangers send."""
    base = formats.load("qwen3")
    assert formats.forced("f", base) is formats.forced("f", base)
    assert formats.required(base) is formats.required(base)
    assert formats.forced("f") is not formats.forced("f", base)
    alive = weakref.WeakSet()
    for n in range(600):
        fmt = formats.forced(f"f{n}", base)
        compiled(fmt)
        alive.add(fmt)
    long = formats.forced("f" * 1000, base)
    assert formats.forced("f" * 1000, base) is not long
    del fmt, long
    gc.collect()
    assert len(alive) <= 128


# ------------------------------------------------------------------------------ what ships


def models() -> dict:
    return tomllib.loads((ROOT / "formats" / "models.toml").read_text(encoding="utf-8"))


def test_the_published_schema_is_the_one_that_is_made():
    """Made by `python -m gateway_args.formats > formats/schema.json`."""
    assert json.loads((ROOT / "formats" / "schema.json").read_text(encoding="utf-8")) == formats.schema()


@pytest.mark.parametrize("name", formats.names())
def test_every_table_that_ships_fits_the_published_schema(name):
    table = tomllib.loads((ROOT / "formats" / f"{name}.toml").read_text(encoding="utf-8"))
    jsonschema_rs.Draft202012Validator(formats.schema()).validate(table)


@pytest.mark.parametrize(("old", "new"), [("token = true", 'token = "yes"'), ('"json"', '"jsn"'), ("before", "bfore")])
def test_the_published_schema_refuses_mistakes(old, new):
    validator = jsonschema_rs.Draft202012Validator(formats.schema())
    assert validator.is_valid(tomllib.loads(SOUND))
    assert not validator.is_valid(tomllib.loads(SOUND.replace(old, new)))


@pytest.mark.parametrize("name", formats.names())
def test_every_table_says_where_its_facts_come_from(name):
    fmt = formats.load(name)
    assert fmt.summary
    assert fmt.source or name == "plain"


LARGE = ("llama3_json", "mistral", "deepseek_v3", "deepseek_v3_1", "kimi_k2", "harmony")


@pytest.mark.parametrize("name", [name for name in formats.names() if name != "plain"])
def test_every_corpus_is_large_enough(name):
    assert len(contract.load(name).cases) >= (35 if name in LARGE else 25)


@pytest.mark.parametrize("name", formats.names())
def test_every_marker_that_is_a_token_is_one_of_the_embedded_vocabulary(name):
    shipped = (vocab.FOLDER / "markers.txt").read_text(encoding="utf-8").split("\n")
    assert [text for text in formats.load(name).marker_texts() if text not in shipped] == []
