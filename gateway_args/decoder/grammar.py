"""The grammar's state: what the schema still demands of the document, one value at a time.

Theory of operation. A *demand* is a shape of the graph together with the branch it stands in. The root branch is the
document itself. Where a plan has a choice, each alternative opens a branch of its own in a group; a demand that fails
kills its branch, a group with no branch left kills the branch it stands in, and when the root branch dies the document
is refused: no alternative is left with which it could be valid. Values inside a value inherit the branches of their
demands, so a discriminator deep inside settles a choice far outside. Every demand sees every byte once; nothing is
re-read and nothing is tried twice.

The scanner calls in document order: `begin` at a value's first byte, `key`, `item` and `comma` and `close` for
containers, `spell` for the characters of keys and strings, `digits`, `fraction` and `end_number` for numbers. Each may
raise `Refusal`. Work is charged for each demand looked at and for each byte compared, never for where a chunk ended,
so the bound is met at the same byte under every chunking.
"""

from __future__ import annotations

import copy
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from ..schema.graph import ARRAY, NUMBER, OBJECT, STRING, as_float, encode, starts_one
from ..schema.path import show
from .branches import Branch, Frame, Group, Record, Twins
from .digits import DigitRange
from .messages import (
    no_more_properties,
    out_of_range,
    unexpected_kind,
    unexpected_number,
    unexpected_property,
    unexpected_text,
)
from .outcomes import Refusal, StreamCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..schema.graph import ArrayShape, Node, NumberShape, Plan, StringShape
    from .bounds import StreamLimits

MAX_DIGITS = 4300
"""Characters of a number that are compared with bounds; a longer one is refused by the whole-document decoder."""
CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
MINUS = 0x2D
INTEGER = re.compile(rb"-?[0-9]+")


class Grammar:
    """The demands on one document."""

    def __init__(self, root: Node, limits: StreamLimits, *, ordered: bool) -> None:
        self.ordered = ordered
        self.max_work = limits.max_work
        self.max_stack = limits.max_stack
        self.max_alternatives = limits.max_alternatives
        self.work = 0
        self.kills = 0
        self.stack = 0
        self.started = False
        self.frames: list[Frame] = []
        self.pending: list[tuple[Node, Branch]] = [] if root.free else [(root, Branch(None))]
        # The key or string that is open: whether its characters are followed at all, and by whom.
        self.watching = False
        self.is_key = False
        self.spelled: list[tuple[list[bytes], Branch]] = []
        self.measured: list[tuple[StringShape, Branch]] = []
        self.room = 0
        self.chars = 0
        self.text = bytearray()
        # The number that is open.
        self.numbers: list[tuple[NumberShape, Branch]] = []
        self.number = bytearray()
        self.ranges: list[tuple[DigitRange, NumberShape, Branch]] = []

    def copy(self) -> Grammar:
        """A grammar in the same state; the graph is shared, the branches are not."""
        other = copy.copy(self)
        twin = Twins().branch
        other.frames = []
        for frame in self.frames:
            made = copy.copy(frame)
            made.records = [record.copy(twin(record.branch)) for record in frame.records]
            made.items = [(shape, twin(branch)) for shape, branch in frame.items]
            made.seen = None if frame.seen is None else set(frame.seen)
            other.frames.append(made)
        other.pending = [(node, twin(branch)) for node, branch in self.pending]
        other.spelled = [(texts, twin(branch)) for texts, branch in self.spelled]
        other.measured = [(shape, twin(branch)) for shape, branch in self.measured]
        other.numbers = [(shape, twin(branch)) for shape, branch in self.numbers]
        other.ranges = [(range, shape, twin(branch)) for range, shape, branch in self.ranges]
        other.text = self.text.copy()
        other.number = self.number.copy()
        return other

    # Branches

    def kill(self, branch: Branch, why: str | Callable[[], str], ahead: int = 0, *, around: bool = False) -> None:
        """A demand failed: its branch dies, and with the last of a group the branch that the group stands in."""
        if branch.alive:
            self.kills += 1
        while branch.alive:
            branch.alive = False
            group = branch.group
            if group is None:
                code = StreamCode.GRAMMAR if self.started else StreamCode.START
                raise Refusal(code, f"{self.path(around)}: {why if isinstance(why, str) else why()}", ahead)
            group.live -= 1
            if group.live:
                return
            branch = group.owner

    def charge(self, steps: int, ahead: int = 0) -> None:
        self.work += steps
        if self.work > self.max_work:
            raise Refusal(StreamCode.GRAMMAR, f"more than {self.max_work} grammar transitions (max_work)", ahead)

    def path(self, around: bool = False) -> str:
        """Where the document stands, as `$.items[3].name`; `around` the item that is or was open."""
        steps = [frame.name if frame.seen is not None else frame.count - 1 for frame in self.frames]
        if around:
            steps.pop()
        return show([step for step in steps if step is not None and step != -1])

    def _open(self, plan: Plan, branch: Branch, demands: list[tuple[Any, Branch]]) -> None:
        """Adds a plan's demands; the nesting of choices is the schema's, and bounded when the plan was made."""
        for shape in plan.shapes:
            demands.append((shape, branch))
        for choice in plan.choices:
            group = Group(len(choice), branch)
            for alternative in choice:
                self._open(alternative, Branch(group), demands)

    def _records(self, frame: Frame) -> list[Record]:
        """The demands on the open object that still count."""
        if frame.kills != self.kills:
            self.charge(len(frame.records))
            frame.records = [record for record in frame.records if record.branch.living()]
            frame.kills = self.kills
        return frame.records

    def _lists(self, frame: Frame) -> list[tuple[ArrayShape, Branch]]:
        if frame.kills != self.kills:
            self.charge(len(frame.items))
            frame.items = [demand for demand in frame.items if demand[1].living()]
            frame.kills = self.kills
        return frame.items

    # Values

    def begin(self, kind: int, byte: int) -> None:
        """A value of this kind begins with this byte."""
        demands: list[tuple[Any, Branch]] = []
        height = 0
        for node, branch in self.pending:
            plan = node.plans[kind]
            if plan is None:
                self.kill(branch, partial(unexpected_kind, kind, self.pending))
            elif plan.size:
                if len(demands) + plan.size <= self.max_alternatives:
                    self._open(plan, branch, demands)
                height = max(height, plan.height)
        self.started = True
        self.pending = []
        self.charge(1 + len(demands))
        if self.stack + height >= self.max_stack:
            raise Refusal(StreamCode.GRAMMAR, f"{self.path()}: the grammar's stack is full (max_stack)")
        if kind <= ARRAY:
            frame = Frame(height, self.kills)
            if kind == OBJECT:
                frame.seen = set()
                frame.records = [Record(shape, branch) for shape, branch in demands]
            else:
                frame.items = demands
            self.frames.append(frame)
            self.stack += 1 + height
        elif kind == STRING:
            self._watch(demands)
        elif kind == NUMBER:
            self.numbers = demands
            if demands:
                self.number.clear()
                self.number.append(byte)
                negative = byte == MINUS
                for shape, branch in demands:
                    if shape.excludes_sign(negative):
                        self.kill(branch, partial(out_of_range, shape))
                self.ranges = self._ranges(negative)
                if not negative:
                    self._within(b"%c" % byte, 0)

    def close(self) -> None:
        """The innermost object or list closes."""
        frame = self.frames[-1]
        if frame.seen is None:
            for shape, branch in self._lists(frame):
                if frame.count < shape.least:
                    self.kill(branch, f"expected at least {shape.least} items, got {frame.count}", around=True)
        else:
            frame.name = None
            for record in self._records(frame):
                demanded = record.shape
                if not demanded.required <= frame.seen:
                    missing = sorted(demanded.required - frame.seen)
                    self.kill(record.branch, f"missing property {missing[0]!r}")
                elif len(frame.seen) < demanded.least:
                    count = len(frame.seen)
                    self.kill(record.branch, f"expected at least {demanded.least} properties, got {count}")
        self.charge(1)
        self.frames.pop()
        self.stack -= 1 + frame.height

    def comma(self) -> None:
        """A comma in an object: another key must follow."""
        frame = self.frames[-1]
        frame.name = None
        assert frame.seen is not None
        for record in self._records(frame):
            most = record.shape.most
            if most is not None and len(frame.seen) >= most:
                self.kill(record.branch, partial(no_more_properties, record.shape))

    def item(self) -> None:
        """Another item of the innermost list must follow."""
        frame = self.frames[-1]
        index = frame.count
        pending = self.pending
        demands = self._lists(frame)
        for shape, branch in demands:
            if shape.most is not None and index >= shape.most:
                self.kill(branch, f"expected at most {shape.most} items", around=True)
                continue
            node = shape.prefix[index] if index < len(shape.prefix) else shape.rest
            if node is None or node.free:
                continue
            if node.kinds:
                pending.append((node, branch))
            else:
                self.kill(branch, f"unexpected item {index}; expected the end of the array", around=True)
        frame.count += 1
        self.charge(1 + len(demands))

    # Keys and strings

    def begin_key(self) -> None:
        """A key's opening quote."""
        frame = self.frames[-1]
        if not frame.seen:
            self.comma()  # a first key asks for room as every other does
        records = self._records(frame)
        self.spelled = [
            (self._next_names(record) if self.ordered else record.shape.names, record.branch)
            for record in records
            if record.shape.names is not None
        ]
        self.measured = []
        self.watching = self.is_key = True
        self.chars = 0
        self.text.clear()

    def _next_names(self, record: Record) -> list[bytes]:
        """The sorted names that may come next in declared order: up to the first required one that is missing."""
        shape = record.shape
        assert shape.names is not None
        if not shape.ranks:  # a constant
            return shape.names
        self.charge(len(shape.ranks))
        seen = self.frames[-1].seen or ()
        missing = (shape.ranks[name] for name in shape.required if name not in seen and name in shape.ranks)
        stop = min(missing, default=len(shape.ranks))
        return sorted(
            encode(name)
            for name, rank in shape.ranks.items()
            if record.last <= rank <= stop and shape.properties[name].kinds
        )

    def end_key(self) -> None:
        """A key's closing quote: it is new, known where only known ones may stand, and in order where one counts."""
        frame = self.frames[-1]
        name = self.text.decode("utf-8", "surrogatepass")
        self.watching = self.is_key = False
        assert frame.seen is not None
        if name in frame.seen:
            raise Refusal(StreamCode.GRAMMAR, f"{self.path()}: duplicate property {name!r}")
        frame.seen.add(name)
        records = self._records(frame)
        self.charge(1 + len(records))
        for record in records:
            shape = record.shape
            branch = record.branch
            child = shape.properties.get(name)
            known = child is not None
            if child is not None and not child.free:
                self._follow(child, record, name)
            for matches, node in shape.patterns:
                if matches(name):
                    known = True
                    self._follow(node, record, name)
            if not known and shape.rest is not None:
                self._follow(shape.rest, record, name)
            if self.ordered and name in shape.ranks:
                rank = shape.ranks[name]
                if rank < record.last:
                    self.kill(branch, f"property {name!r} is out of order")
                late = min((shape.ranks.get(name, rank) for name in shape.required - frame.seen), default=rank)
                if late < rank:
                    first = next(name for name, order in shape.ranks.items() if order == late)
                    self.kill(branch, f"property {name!r} is out of order: expected {first!r} before it")
                record.last = rank
        frame.name = name

    def _follow(self, node: Node, record: Record, name: str) -> None:
        if node.kinds:
            self.pending.append((node, record.branch))
        else:
            self.kill(record.branch, partial(unexpected_property, name, record.shape.properties))

    def _watch(self, demands: list[tuple[StringShape, Branch]]) -> None:
        self.measured = demands
        self.watching = bool(demands)
        if demands:
            self.spelled = [(shape.texts, branch) for shape, branch in demands if shape.texts is not None]
            self.chars = 0
            self.text.clear()
            self._measure()

    def _measure(self) -> None:
        """Sets `room`, the characters that surely break no demand's length."""
        self.room = min((s.most for s, _ in self.measured if s.most is not None), default=1 << 62)

    def spell(self, run: bytes, *, escaped: bool = False) -> None:
        """The next bytes of the open key or string, decoded; those of an escape all stand at its last byte."""
        chars = (
            self.chars + len(run) - (0 if run.isascii() else len(run) - len(run.translate(None, CONTINUATION_BYTES)))
        )
        text = self.text
        spelled = self.spelled
        if self.is_key or spelled:
            text += run
        work = self.work + len(run) * len(spelled)
        if (self.is_key or chars <= self.room) and work <= self.max_work:
            for texts, _ in spelled:
                if not starts_one(texts, text):
                    break
            else:
                self.chars = chars
                self.work = work
                return
        if self.is_key or spelled:
            del text[len(text) - len(run) :]
        self._spell_by_byte(run, escaped)

    def _spell_by_byte(self, run: bytes, escaped: bool) -> None:
        """The same, where some demand fails within the run: finds at which byte."""
        for index, byte in enumerate(run):
            ahead = 0 if escaped else index
            self.text.append(byte)
            self.work += len(self.spelled)
            if self.work > self.max_work:
                raise Refusal(StreamCode.GRAMMAR, f"more than {self.max_work} grammar transitions (max_work)", ahead)
            kills = self.kills
            if byte & 0xC0 != 0x80:
                self.chars += 1
                if not self.is_key and self.chars > self.room:
                    for shape, branch in self.measured:
                        if shape.most is not None and self.chars > shape.most:
                            self.kill(branch, f"expected at most {shape.most} characters", ahead)
            for texts, branch in self.spelled:
                if not starts_one(texts, self.text):
                    self.kill(branch, partial(self._unexpected, texts), ahead)
            if self.kills != kills:
                self.spelled = [pair for pair in self.spelled if pair[1].living()]
                self.measured = [pair for pair in self.measured if pair[1].living()]
                self._measure()

    def _unexpected(self, texts: list[bytes]) -> str:
        """What to say of the key or string that is open, where only these may stand."""
        written = self.text.decode("utf-8", "replace")
        known = [text.decode("utf-8", "replace") for text in texts]
        return unexpected_property(written, known) if self.is_key else unexpected_text(written, known)

    def end_text(self) -> None:
        """A string's closing quote."""
        self.watching = False
        for shape, branch in self.measured:
            if self.chars < shape.least:
                self.kill(branch, f"expected at least {shape.least} characters, got {self.chars}")
            elif branch.living() and not shape.is_one(self.text):
                self.kill(branch, partial(self._unexpected, shape.texts or []))

    # Numbers

    def _exact(self, shape: NumberShape) -> bool:
        """Whether the number must be spelled without fraction or exponent: in canonical form every integer is."""
        return shape.exact or (shape.integral and self.ordered)

    def _ranges(self, negative: bool) -> list[tuple[DigitRange, NumberShape, Branch]]:
        """The ranges in which the digits of the open number must stay, where it can only be an integer."""
        exact = {id(branch) for shape, branch in self.numbers if self._exact(shape)}
        return [
            (found, shape, branch)
            for shape, branch in self.numbers
            if id(branch) in exact and (found := DigitRange.of(shape, negative=negative)) is not None
        ]

    def _within(self, digits: bytes, ahead: int) -> None:
        """The open number has these digits so far."""
        for range, shape, branch in self.ranges:
            if branch.alive and not range.admits(digits):
                self.kill(branch, partial(out_of_range, shape), ahead)

    def digits(self, run: bytes) -> None:
        """The next digits of the open number; one spelled without fraction or exponent can only grow."""
        number = self.number
        steps = 1 + len(self.ranges)
        room = max(0, MAX_DIGITS + 1 - len(number))
        if not self.ranges and self.work + len(run) <= self.max_work:
            self.work += len(run)
            number += run[:room]
            return
        for index, digit in enumerate(run):
            self.charge(steps, index)
            if index < room:
                number.append(digit)
                if len(number) <= MAX_DIGITS:
                    self._within(bytes(number).lstrip(b"-"), index)

    def fraction(self, byte: int) -> None:
        """A point, an exponent's letter or its sign."""
        self.number.append(byte)
        self.ranges = []
        self.charge(1)
        for shape, branch in self.numbers:
            if self._exact(shape):
                self.kill(branch, "expected an integer, without fraction or exponent")

    def end_number(self) -> None:
        """The open number is over."""
        numbers = self.numbers
        self.numbers = []
        self.ranges = []
        if not numbers:
            return
        if len(self.number) > MAX_DIGITS:
            return
        text = bytes(self.number)
        value: int | float = int(text) if INTEGER.fullmatch(text) else float(text)
        for shape, branch in numbers:
            if shape.excludes(value):
                self.kill(branch, partial(out_of_range, shape))
            elif shape.integral and isinstance(value, float) and not value.is_integer():
                self.kill(branch, "expected an integer")
            elif shape.values is not None and as_float(value) not in shape.values:
                self.kill(branch, partial(unexpected_number, text, shape))
