"""What the adapters are given and what they keep of a call: plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from ..tools import Tools

if TYPE_CHECKING:
    from ..reading import Aside

Chunk = dict[str, Any]
Logprob = Mapping[str, Any]
"""One token's log probability as Chat Completions has it: `token`, `logprob`, and where known `bytes` and
`top_logprobs`."""
MalformedTo = Literal["auto", "content", "extension", "hide"]
Calls = Literal["stream", "complete"]

_CLOSERS: Final = {"{": "}", "[": "]", '"': '"'}
_SPACE: Final = " \t\n\r"  # JSON's
ERROR_MESSAGE: Final = "the engine ended the output with an error"


@dataclass(slots=True)
class Usage:
    """Tokens of a request; what is None is taken from the events, which know it when the parser was fed token ids."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(slots=True)
class Envelope:
    """What the caller knows of a response, given once.

    `id` differs from response to response: the ids of calls are made from it. `usage` and `stop_sequence` (the caller's
    own stop string that ended the output, for Messages) are read when the last chunk is made and may be filled in until
    then. `extra` is fields of the API that are sent as they are: in every chunk (Chat), in the response object
    (Responses: the request's `tools`, `tool_choice`…), in the message (Messages).
    """

    id: str
    model: str
    created: int
    usage: Usage = field(default_factory=Usage)
    stop_sequence: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Options:
    """The choices of an operator and of a request, one set for all three APIs.

    - `malformed`: where malformed text goes, see `core`. `hook` is called at the end with each stretch of it that is no
      content, whatever the client is told.
    - `calls`: "stream" sends a call as it grows; "complete" holds it until it is whole, and a client never sees one
      that broke, was cut or was refused (for agents that run what they see).
    - `parallel=False`: a client is shown one call only.
    - `late_usage`: the engine tells its usage after the finish reason, so the chunk that carries it waits for `end`.
    - `tools`: the request's; needed for its custom tools and namespaces to be answered as such.
    - `reasoning`: Chat: the field of a delta that carries reasoning. `include_usage`: Chat's option of that name.
    - `signature`: Messages: what a thinking block is signed with, "" as an empty field, None leaves the field out.
    - `reasoning_summary`: Responses: reasoning is sent as summary events too.
    """

    malformed: MalformedTo = "auto"
    hook: Callable[[Aside], None] | None = None
    parallel: bool = True
    reasoning: str = "reasoning_content"
    include_usage: bool = False
    signature: str | None = ""
    calls: Calls = "stream"
    late_usage: bool = False
    reasoning_summary: bool = False
    tools: Tools | None = None

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("malformed", self.malformed, get_args(MalformedTo)),
            ("calls", self.calls, get_args(Calls)),
        ):
            if value not in allowed:
                raise ValueError(f"Options: {name} is {value!r}; it is one of {', '.join(allowed)}")
        if self.tools is not None and not isinstance(self.tools, Tools):
            raise TypeError(f"Options: tools is {_kind(self.tools)}; make one with Tools.of(request['tools'])")


@dataclass(slots=True)
class Call:
    """The call being read.

    `number` counts the model's calls, `index` those that the client was shown (-1 before). `show`: "shown" as it grows,
    "held" until it is whole, or "withheld" from the client. `validated`: a guard's outcome decides it; `due` once
    it has ended and waits for that. `direct`: its fragments go to the client as they come. `unfit` is an adapter's word
    that its API cannot show these arguments. `tail` is the beginning of an escape and `closing` the value's end, which
    wait; `held` the fragments not sent, `source` and `asides` what the model wrote for a held call and what of it was
    malformed. `refusal` is the guard's.
    """

    number: int
    id: str
    name: str
    show: str
    validated: bool = False
    index: int = -1
    direct: bool = False
    due: bool = False
    unfit: bool = False
    root: str = ""
    tail: str = ""
    closing: str = ""
    held: list[str] = field(default_factory=list)
    source: list[str] = field(default_factory=list)
    asides: list[list[str]] = field(default_factory=list)
    refusal: Chunk | None = None

    def kept_open(self, json: str) -> str:
        """What of these further arguments may be sent: all but an end that would make them whole."""
        json = self.closing + json
        self.root = self.root or json.lstrip(_SPACE)[:1]
        end = len(json.rstrip(_SPACE))
        closer = _CLOSERS.get(self.root, "")
        keep = end - 1 if closer and json[:end].endswith(closer) else len(json) if closer else 0
        self.closing = json[keep:]
        return json[:keep]

    def entry(self) -> Chunk:
        """The call as extension fields list it: `arguments` where the message itself does not carry them."""
        entry: Chunk = {"id": self.id, "name": self.name}
        if self.held or self.unfit or self.show != "shown":
            entry["arguments"] = "".join(self.held)
        return entry


def logprob(entry: Chunk) -> Chunk:
    """A token's log probability with all the fields that the API requires."""
    token = entry["token"]
    return {"bytes": list(token.encode(errors="replace")), "top_logprobs": [], **entry}


def checked(envelope: object, options: object) -> Options:
    """The options, defaults for None; TypeError when one of the two is something else."""
    if not isinstance(envelope, Envelope):
        raise TypeError(f"expected an Envelope, got {_kind(envelope)}: Envelope(id=…, model=…, created=…)")
    if options is None:
        return Options()
    if not isinstance(options, Options):
        raise TypeError(f"expected Options, got {_kind(options)}: Options(parallel=False, …)")
    return options


def _kind(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
