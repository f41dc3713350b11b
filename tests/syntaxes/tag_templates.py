"""Calls as the vendors' templates write them, for tests: the arguments in, the output's text out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Arguments = dict[str, Any]


def as_json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_python(value: Any) -> str:
    return str(value)


def qwen3_coder(name: str, arguments: Arguments) -> str:
    body = "".join(f"<parameter={key}>\n{as_python(value)}\n</parameter>\n" for key, value in arguments.items())
    return f"<tool_call>\n<function={name}>\n{body}</function>\n</tool_call>"


def mimo(name: str, arguments: Arguments) -> str:
    body = "".join(f"<parameter={key}>{as_python(value)}</parameter>\n" for key, value in arguments.items())
    return f"<tool_call>\n<function={name}>\n{body}</function>\n</tool_call>"


def glm45(name: str, arguments: Arguments) -> str:
    pairs = (f"<arg_key>{key}</arg_key>\n<arg_value>{as_json(value)}</arg_value>\n" for key, value in arguments.items())
    return f"<tool_call>{name}\n{''.join(pairs)}</tool_call>"


def glm47(name: str, arguments: Arguments) -> str:
    return glm45(name, arguments).replace("</arg_key>\n", "</arg_key>")


def minimax_m2(name: str, arguments: Arguments) -> str:
    body = "".join(f'<parameter name="{key}">{as_json(value)}</parameter>\n' for key, value in arguments.items())
    return f'<minimax:tool_call>\n<invoke name="{name}">\n{body}</invoke>\n</minimax:tool_call>'


def deepseek_v4(name: str, arguments: Arguments) -> str:
    body = "\n".join(
        f'<｜DSML｜parameter name="{key}" string="{str(isinstance(value, str)).lower()}">'
        f"{as_json(value)}</｜DSML｜parameter>"
        for key, value in arguments.items()
    )
    return f'\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="{name}">\n{body}\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>'


def kimi_k3(name: str, arguments: Arguments) -> str:
    def kind(value: Any) -> str:
        return {str: "string", bool: "boolean", list: "array", dict: "object", type(None): "null"}.get(
            type(value), "number"
        )

    body = "".join(
        f'<|open|>argument key="{key}" type="{kind(value)}"<|sep|>{as_json(value)}<|close|>argument<|sep|>'
        for key, value in arguments.items()
    )
    call = f'<|open|>call tool="{name}" index="1"<|sep|>{body}<|close|>call<|sep|>'
    return f"<|open|>tools<|sep|>{call}<|close|>tools<|sep|>"


def minimax_m3(name: str, arguments: Arguments) -> str:
    def element(key: str, value: Any) -> str:
        if isinstance(value, dict):
            inner = "".join(element(*pair) for pair in value.items())
        elif isinstance(value, list):
            inner = "".join(element("item", item) for item in value)
        else:
            inner = "" if value is None else as_json(value)
        return f"]<]minimax[>[<{key}>{inner}]<]minimax[>[</{key}>"

    body = "".join(element(key, value) for key, value in arguments.items())
    invoke = f']<]minimax[>[<invoke name="{name}">{body}]<]minimax[>[</invoke>'
    return f"]<]minimax[>[<tool_call>\n{invoke}\n]<]minimax[>[</tool_call>"


def minicpm5(name: str, arguments: Arguments) -> str:
    def text(value: Any) -> str:
        if isinstance(value, str) and any(sign in value for sign in "<&\n"):
            return f"<![CDATA[{value}]]>"
        return as_python(value)

    body = "".join(f'<param name="{key}">{text(value)}</param>' for key, value in arguments.items())
    return f'<function name="{name}">{body}</function>'


def step3(name: str, arguments: Arguments) -> str:
    body = "".join(
        f'<steptml:parameter name="{key}">{as_python(value)}</steptml:parameter>' for key, value in arguments.items()
    )
    call = f'<｜tool_call_begin｜>\nfunction<｜tool_sep｜><steptml:invoke name="{name}">{body}</steptml:invoke>'
    return f"<｜tool_calls_begin｜>\n{call}<｜tool_call_end｜>\n<｜tool_calls_end｜>"


TEMPLATES: dict[str, Callable[[str, Arguments], str]] = {
    write.__name__: write
    for write in (
        qwen3_coder,
        mimo,
        glm45,
        glm47,
        minimax_m2,
        deepseek_v4,
        kimi_k3,
        minimax_m3,
        minicpm5,
        step3,
    )
}
"""By table. What a template writes for a value that is no string is Python's `str` or JSON, as the vendor's does."""
