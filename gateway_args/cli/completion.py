"""`completion`: a script that completes commands, options and formats in a shell.

bash: `source <(gateway-args completion bash)`; zsh: the same with zsh; fish: `gateway-args completion fish | source`.
"""

from __future__ import annotations

import argparse
from typing import Any

_BASH = """_gateway_args() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=""
    case $before in
        -f|--format) words=$(gateway-args formats list 2>/dev/null | cut -f1);;
        *) case ${{COMP_WORDS[1]}} in
{rows}
        esac;;
    esac
    [[ $COMP_CWORD -eq 1 ]] && words="{commands} --help --version"
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [[ $word == -* || $COMP_CWORD -eq 1 || $before == -f || $before == --format ]] ||
        COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -F _gateway_args gateway-args"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def add(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser("completion", help="completion for a shell", description=__doc__)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    parser.set_defaults(run=lambda args: run(args, commands))


def run(args: argparse.Namespace, commands: argparse._SubParsersAction[Any]) -> int:
    known = {name: _options(parser) for name, parser in commands.choices.items()}
    if args.shell == "fish":
        about = {action.dest: action.help or "" for action in commands._get_subactions()}
        print("\n".join(_fish(known, about)))
        return 0
    rows = "\n".join(
        f'            {name}) words="{" ".join(flag for flags, _ in options for flag in flags)}";;'
        for name, options in known.items()
    )
    print((_ZSH if args.shell == "zsh" else "") + _BASH.format(rows=rows, commands=" ".join(known)))
    return 0


def _options(parser: argparse.ArgumentParser) -> list[tuple[list[str], argparse.Action]]:
    """The options of a command, and the words of its actions where it has some (`formats show`)."""
    found: list[tuple[list[str], argparse.Action]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found.append((list(action.choices), action))
        elif action.option_strings:
            found.append((list(action.option_strings), action))
    return found


def _fish(known: dict[str, list[tuple[list[str], argparse.Action]]], about: dict[str, str]) -> list[str]:
    lines = ["complete -c gateway-args -n __fish_use_subcommand -l version"]
    for name, options in known.items():
        lines.append(
            f"complete -c gateway-args -n __fish_use_subcommand -f -a {name} -d {_quoted(about.get(name, ''))}"
        )
        for flags, action in options:
            words = ""
            for flag in flags:
                words += f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}" if flag[0] == "-" else ""
            if not words:
                words = f" -f -a {_quoted(' '.join(flags))}"
            elif "--format" in flags:
                words += " -x -a '(gateway-args formats list | cut -f1)'"
            elif action.choices:
                words += f" -x -a {_quoted(' '.join(map(str, action.choices)))}"
            elif action.nargs != 0:
                words += " -r"
            lines.append(f"complete -c gateway-args -n '__fish_seen_subcommand_from {name}'{words}")
    return lines


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
