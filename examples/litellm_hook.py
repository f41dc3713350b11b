"""A hook for a LiteLLM proxy: an engine that writes its calls as text answers with real tool calls.

Name it in the proxy's configuration, with this file beside it:

    litellm_settings: { callbacks: litellm_hook.handler }

The engine must leave special tokens in the text (vLLM: `skip_special_tokens: false`) and run without a tool parser.
"""

from gateway_args.integrations.litellm import ToolCalls

TABLES = {"my-qwen": "qwen3"}  # the proxy's models whose names do not tell their format

handler = ToolCalls(TABLES)
