"""What children hand to their types, however many values came at once."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import pytest

from gateway_args.limits import Limits
from gateway_args.partial.builder import Builder
from gateway_args.partial.children import Children
from gateway_args.partial.source import Source
from gateway_args.schema.type_view import Kind, Slot, TypeView


class _Written(TypeView):
    """Takes a value as the text that it was written in."""

    reads_text = True

    def check(self, value: object, text: str | None = None) -> str | None:
        return None if text is None else text.strip()


class _WrittenList(_Written):
    kind = Kind.ELEMENTS
    item = _Written()


class _WrittenMembers(_WrittenList):
    kind = Kind.MEMBERS


class _Record(_Written):
    kind = Kind.FIELDS

    @cached_property
    def slots(self) -> dict[str, Slot]:
        views = {"single": _Written(), "listed": _WrittenList(), "named": _WrittenMembers(), "rows": _WrittenList()}
        return {name: Slot(name, view) for name, view in views.items()}


@pytest.mark.parametrize("size", [1, 7, 100, 400, 10_000])
@pytest.mark.parametrize("gap", ["", " ", "\n  "])
def test_a_value_that_came_with_others_at_once_is_checked_as_it_was_written(size: int, gap: str) -> None:
    numbers = ["1.10", "2.500", "3e0", "0.40", '"\\u0061,]"'] * 6
    rows = [f'{{"a"{gap}: [{each},{gap}{each}], "b:": "}}"}}' for each in numbers]
    named = f",{gap}".join(f'"k{number}":{gap}{each}{gap}' for number, each in enumerate(numbers))
    whole = [
        f'"single":{gap}1.10',
        f'"listed" :[{gap}{f",{gap}".join(numbers)}{gap}]{gap}',
        f'{gap}"named":{{{named}}}',
        f'"rows":[{f"{gap},{gap}".join(rows)}]',
        f'"unknown":{gap}0.0',
    ]
    text = f"{{{','.join(whole)}}}"
    source = Source()
    builder = Builder(Limits(), source, fields=True)
    children = None
    for at in range(0, len(text), size):
        builder.feed(text[at : at + size])
        if builder.root is not None:
            children = children or Children(_Record(), builder.root, source)
            children.catch_up()
    assert children is not None
    assert builder.root is not None
    assert builder.done
    assert children.values["single"] == "1.10"
    assert children.values["listed"] == numbers
    assert list(children.values["named"].values()) == numbers
    assert children.values["rows"] == rows
    assert all(one <= other for one, other in pairwise(builder.root.marks))
