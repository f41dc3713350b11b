"""The checks under every Python at hand: `nox` runs the tests and linters, `nox -s full` everything."""

from __future__ import annotations

import nox

nox.options.sessions = ["tests", "lint", "types"]
nox.options.error_on_missing_interpreters = False


@nox.session(python=["3.11", "3.12", "3.13", "3.14", "3.14t"])
def tests(session: nox.Session) -> None:
    """The quick tests."""
    session.install(".[test]")
    session.run("pytest", *session.posargs)


@nox.session(python="3.11")
def full(session: nox.Session) -> None:
    """Everything: each test, the whole contract, a minute of the fuzzer."""
    session.install(".[test]")
    session.run("pytest", "--full", *session.posargs)
    session.run("gateway-args", "contract")
    session.run("python", "tests/fuzz/run.py", "--seconds", "60")


@nox.session(python="3.11")
def coverage(session: nox.Session) -> None:
    """The quick tests, and how much of the package they run; the least is in pyproject.toml."""
    session.install("-e", ".[test]", "pytest-cov")
    session.run("pytest", "--cov", "--cov-report=term", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    session.install("ruff>=0.14")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    session.install(".[dev]")
    session.run("mypy")
    session.run("pyright")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation's site; a link that leads nowhere is an error."""
    session.install(".[docs]")
    session.run("mkdocs", "build", "--strict", "--site-dir", session.create_tmp())
