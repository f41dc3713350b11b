"""JSON-Schema-Test-Suite, draft 2020-12: the oracle is the suite's own verdict, never the decoder's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from decoder_documents import same_for_every_cut, spellings

from gateway_args.decoder import Accepted, Refused, StreamCode, compile_schema

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

# Semantics that Python's JSON values cannot carry to the validator or that the validator leaves open would stand here.
DISAGREEMENTS: frozenset[tuple[str, str, str]] = frozenset()


def _resources(suites: Path) -> dict[str, Any]:
    folder = suites / "JSON-Schema-Test-Suite" / "remotes"
    return {
        f"http://localhost:1234/{path.relative_to(folder).as_posix()}": json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.json"))
    }


def test_every_case_of_the_suite_is_decided_as_the_suite_says(
    suites: Path, record_property: pytest.RecordProperty, capsys: pytest.CaptureFixture[str]
) -> None:
    resources = _resources(suites)
    counts = {"containers": 0, "scalars": 0, "accepted": 0, "refused early": 0, "refused at the end": 0}
    for path in sorted((suites / "JSON-Schema-Test-Suite" / "tests" / "draft2020-12").glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            schema = compile_schema(group["schema"], resources=resources)
            for case in group["tests"]:
                where = (path.name, group["description"], case["description"])
                instance, valid = case["data"], case["valid"]
                counts["containers" if isinstance(instance, dict | list) else "scalars"] += 1
                for index, document in enumerate(spellings(instance)):
                    said = same_for_every_cut(schema, document, every_split=index == 0)
                    assert isinstance(said, Accepted if valid else Refused), (where, document, said)
                    if isinstance(said, Accepted):
                        assert said.value == instance, where
                        counts["accepted"] += 1
                    else:
                        early = said.code is not StreamCode.SEMANTIC
                        counts["refused early" if early else "refused at the end"] += 1
    with capsys.disabled():
        print(f"\nJSON-Schema-Test-Suite: {counts}")
    record_property("counts", str(counts))
    assert counts["containers"] > 500
    assert counts["refused early"] > counts["refused at the end"] > 0
