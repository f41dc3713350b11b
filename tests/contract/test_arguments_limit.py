"""`max_arguments` at every corpus: a cut call is a prefix within the bound, whole at it, and the same in every cut."""

from __future__ import annotations

import random

import pytest

from gateway_args import Limits, Tools, contract, formats, read
from gateway_args.contract import oracle


@pytest.mark.full
@pytest.mark.parametrize("name", formats.names())
def test_a_bound_on_arguments_cuts_them_alike_however_they_arrive(name: str) -> None:
    format = formats.load(name)
    for case in contract.load(name).cases:
        if len(case.text) > 400 or case.start is not None:
            continue
        tools = Tools.of(list(case.tools)) if case.tools is not None else None
        longest = max((len(call.arguments) for call in read(format, [case.text], tools).calls), default=0)
        rng = random.Random(case.name)
        for limit in {max(longest + by, 2) for by in (-1, 0, 1)} | {rng.randint(2, longest + 2) for _ in range(3)}:
            half = len(case.text) // 2
            readings = [
                read(
                    format,
                    pieces,
                    tools,
                    prompt=case.prompt,
                    finish=case.finish,
                    limits=Limits(max_arguments=limit),
                )
                for pieces in ([case.text], list(case.text), [case.text[:half], case.text[half:]])
            ]
            assert readings[1:] == readings[:1] * 2, (case.name, limit)
            for call in readings[0].calls:
                assert len(call.arguments) <= limit, (case.name, limit)
                assert oracle.refused_at(call.arguments) is None, (case.name, limit)
                assert not call.complete or oracle.is_whole(call.arguments), (case.name, limit)
