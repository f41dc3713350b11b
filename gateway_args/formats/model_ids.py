"""Model ids and the tables they mean: globs over `owner/name`, read so that copies of a model are found too.

A served model seldom keeps its vendor's id: it is re-quantised (`nvidia/Qwen3-8B-NVFP4`), converted
(`unsloth/Qwen3-8B-GGUF`), renamed by a server (`Qwen3-8B`, `qwen3:8b`) or given as a path (`/models/Qwen3-8B`,
`…/models--Qwen--Qwen3-8B/snapshots/9c92…`). An id is looked up as it stands first, then by what stands behind its
owner, each with and without the suffixes that say how weights are stored. Upper and lower case are one, and so are
`_` and `-`. Of several globs the most specific counts: the one that fixes the most characters.
"""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_ID: Final = 512
"""Characters of an id that is looked up; a longer one is no model's."""

_SUFFIX: Final = re.compile(
    r"[-.:](?:"
    r"gguf|ggml|ggufs|safetensors|onnx|mlx|exl[23]|awq|gptq|autoround|bnb|unsloth|torchao|openvino|ov|hf|trtllm|marlin"
    r"|(?:nv|mx)?fp(?:4|6|8|16|32)|bf16|f16|f32|int[48]|u?int[48]sym|w\d{1,2}a\d{1,2}(?:kv\d+)?|\d(?:\.\d+)?bit|\d(?:\.\d+)?bpw"
    r"|i?q\d(?:-\d)?(?:-k)?(?:-(?:xxs|xs|s|m|l|xl|xxl|nl))?|ud|i1|imatrix|qat|dwq|moe-fp4|tq\d-\d"
    r"|quantized|quant|compressed|dynamic|static|block|kv|channel|mixed|g\d{2,3}|gs\d{2,3}"
    r"|\d{5}-of-\d{5}|latest|free|nitro|exacto"
    r")\Z"
)
"""How the weights of a copy are stored, at the end of its name."""

_NO_NAME: Final = re.compile(
    r"[0-9a-f]{7,64}|v?\d{1,8}|main|master|snapshots?|resolve|tree|blob|refs|models?|weights|checkpoints?(?:-\d+)?|final"
    r"|merged|export|engine|ggml-model|consolidated|base|target|default|gguf|awq|gptq|mlx|bf16|f16|(?:nv|mx)?fp\d+|int\d"
)
"""Parts of a path that name no model, so that the one before them is asked."""


class ModelIds:
    """The globs of the tables, compiled; immutable."""

    __slots__ = ("_globs", "tables")

    def __init__(self, tables: Mapping[str, str]) -> None:
        """`tables` maps globs to names of tables."""
        self.tables: Final = dict(sorted(tables.items(), key=lambda item: (-_weight(item[0]), item[0])))
        """Glob -> table, the most specific first."""
        self._globs: Final = tuple((_compiled(_plain(glob)), _bare(glob), table) for glob, table in self.tables.items())

    def table(self, model: str) -> str | None:
        """The name of this model's table, or None."""
        if len(model) > MAX_ID:
            return None
        for owner, name in self._readings(model):
            names = list(_stripped(name))
            if owner:
                candidates = [f"{owner}/{name}" for name in names]
                for glob, _, table in self._globs:
                    if any(map(glob.match, candidates)):
                        return table
            for _, bare, table in self._globs:
                if bare is not None and any(map(bare.match, names)):
                    return table
        return None

    def near(self, model: str) -> list[str]:
        """Up to three globs that resemble this id: of its family where there are any, else by their spelling."""
        import difflib

        if len(model) > MAX_ID:
            return []
        names = [list(_stripped(name))[-1] for _, name in self._readings(model)]
        if not names:
            return []
        name = names[0]
        words = {glob: _plain(glob).rpartition("/")[2].replace("*", "") for glob in self.tables if "/" in glob}
        family = _family(name)
        kin = {glob: word for glob, word in words.items() if family and _family(word) == family}

        def likeness(glob: str) -> float:
            return difflib.SequenceMatcher(None, name[: len(words[glob]) + 1], words[glob], autojunk=False).ratio()

        ordered = sorted(kin or words, key=lambda glob: (-likeness(glob), glob))
        found: dict[str, str] = {}  # the likeliest glob of each table
        for glob in ordered:
            if kin or likeness(glob) >= 0.75:
                found.setdefault(self.tables[glob], glob)
        return list(found.values())[:3]

    def _readings(self, model: str) -> Iterator[tuple[str, str]]:
        """What an id may mean, as (owner or "", name), the likeliest first."""
        parts = [part for part in model.replace("\\", "/").split("/") if part not in ("", ".", "..", "~")]
        for n in range(len(parts) - 1, -1, -1):
            part = parts[n]
            if part.lower().startswith("models--"):  # the cache of Hugging Face's hub
                owner, _, name = part[len("models--") :].partition("--")
                yield (_plain(owner), _plain(name)) if name else ("", _plain(owner))
                return
            name = _plain(part)
            if name.endswith(".gguf"):  # owner_Name-GGUF_Name-Q4_K_M.gguf, as llama.cpp keeps it
                name = name.rpartition("-gguf-")[2]
            if "@" in name[1:]:  # a revision
                name = name.partition("@")[0]
            if n and _NO_NAME.fullmatch(list(_stripped(name))[-1]):
                continue
            yield (_plain(parts[n - 1]) if n else ""), name
            owner, _, renamed = part.partition("_")
            if renamed:  # bartowski/Qwen_Qwen3-8B-GGUF
                yield _plain(owner), _plain(renamed)
            return


def _plain(text: str) -> str:
    """An id's spelling for comparison; `___` is how one cache writes a dot."""
    return text.lower().replace("___", ".").replace("_", "-").replace(":", "-")


def _compiled(glob: str) -> re.Pattern[str]:
    """The glob as a pattern; one that ends `-*` takes the name without the dash too."""
    pattern = fnmatch.translate(glob)
    if glob.endswith("-*"):
        pattern = f"{pattern}|{fnmatch.translate(glob[:-2])}"
    return re.compile(pattern)


def _bare(glob: str) -> re.Pattern[str] | None:
    """The glob without its owner; None where what is left is too little to know a model by."""
    name = _plain(glob).rpartition("/")[2]
    return _compiled(name) if _weight(name) >= 3 else None


def _stripped(name: str) -> Iterator[str]:
    """The name, and each shorter one that is left when a suffix of storage is off."""
    yield name
    while (found := _SUFFIX.search(name)) and found.start():
        name = name[: found.start()]
        yield name


def _weight(glob: str) -> int:
    """How specific a glob is: the characters that it fixes."""
    return sum(1 for char in glob if char not in "*?")


def _family(name: str) -> str:
    """The word that a name begins with, an owner's prefix like `meta-` off."""
    found = re.match(r"(?:meta-|nvidia-|ai21-|c4ai-)?([a-z]{2,})", name)
    return found.group(1) if found else ""
