"""What the documents and the deployment examples say is so."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gateway_args.serve import Settings, load
from gateway_args.serve.settings import OPTIONS, default_of
from gateway_args.serve.upstreams import UPSTREAMS

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/serve.md").read_text(encoding="utf-8")
NONE: dict[str, Any] = {option.name: None for option in OPTIONS}


def test_the_guide_names_every_setting_and_no_other() -> None:
    table = GUIDE.partition("| setting |")[2].partition("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == {option.name for option in OPTIONS}


def test_the_guide_has_the_defaults() -> None:
    shown = {
        "max_body": 16 << 20,
        "max_streams": 1024,
        "max_line": 4 << 20,
        "max_held": 1 << 20,
        "max_output": 16 << 20,
    }
    for option in OPTIONS:
        if option.name in shown:
            assert default_of(option) == shown[option.name]
    assert "| `connect_timeout`, `idle_timeout`, `total_timeout` | 10, 120, 1800 s |" in GUIDE
    made = Settings()
    assert (made.connect_timeout, made.idle_timeout, made.total_timeout) == (10, 120, 1800)
    assert (made.grace, made.keep_alive, made.listen) == (30, 15, "127.0.0.1:8790")


def test_the_guide_has_each_engines_route() -> None:
    for kind, upstream in UPSTREAMS.items():
        assert re.search(rf"^\| `{re.escape(kind)}` \| `{upstream.routes[0]}`", GUIDE, re.MULTILINE)


def test_the_guides_file_is_read(tmp_path: Path) -> None:
    text = GUIDE.partition("```toml\n")[2].partition("```")[0]
    file = tmp_path / "serve.toml"
    file.write_text(text)
    said = load(NONE, file=str(file), environ={})
    assert said.models["our-model"].upstream == "Qwen/Qwen3-8B"
    assert said.max_streams == 500


def test_the_deployment_examples_lint_and_their_settings_are_read(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="pip install pyyaml, to read the deployment examples")
    deploy = ROOT / "examples/deploy"
    gateway = yaml.safe_load((deploy / "compose.yaml").read_text())["services"]["gateway"]
    said = load(NONE, environ=gateway["environment"])
    assert (said.engine, said.grace) == ("vllm", 60)
    assert float(gateway["stop_grace_period"].removesuffix("s")) > said.grace
    deployment, config, service = yaml.safe_load_all((deploy / "kubernetes.yaml").read_text())
    file = tmp_path / "serve.toml"
    file.write_text(config["data"]["serve.toml"])
    said = load(NONE, file=str(file), environ={})
    pod = deployment["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > said.grace + 5
    assert said.address[1] == pod["containers"][0]["ports"][0]["containerPort"]
    assert service["spec"]["selector"] == deployment["spec"]["template"]["metadata"]["labels"]
    assert tomllib.loads(config["data"]["serve.toml"])["no_lab"] is True


def test_what_the_security_page_claims_of_the_clients_headers() -> None:
    from gateway_args.serve.client import passed_on

    said = {"x-api-key": "k", "cookie": "c", "x-forwarded-for": "1", "traceparent": "t", "host": "h"}
    assert passed_on(said, Settings()) == {
        "accept-encoding": "identity",
        "authorization": "Bearer k",
        "traceparent": "t",
    }
    own = passed_on({"authorization": "Bearer client"}, Settings(upstream_key="own"))
    assert own["authorization"] == "Bearer own"


def test_model_names_in_metrics_are_bounded() -> None:
    pytest.importorskip("prometheus_client", reason="the extra `serve` is not installed")
    from gateway_args.serve.metrics import Metrics

    metrics = Metrics()
    labels = {metrics.model(f"m{number}") for number in range(1000)}
    assert len(labels) == 65
    assert "other" in labels
