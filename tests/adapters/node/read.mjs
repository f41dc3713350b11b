// Reads streams with the Vercel AI SDK: `node read.mjs BASE_URL KIND '["model", …]' '["tool", …]'` writes, a line a model,
// what the SDK says of the stream that the server at BASE_URL has for it. KIND: chat, responses or messages.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, streamText, tool } from "ai";

globalThis.AI_SDK_LOG_WARNINGS = false; // they would stand between the lines
const [baseURL, kind, models, names] = [...process.argv.slice(2, 4), ...process.argv.slice(4).map((list) => JSON.parse(list))];
const compatible = createOpenAICompatible({ name: "loopback", baseURL, includeUsage: true });
const openai = createOpenAI({ baseURL, apiKey: "none" });
const anthropic = createAnthropic({ baseURL, apiKey: "none" });
const provider = { chat: compatible, responses: (model) => openai.responses(model), messages: anthropic }[kind];
const tools = Object.fromEntries(
  names.map((name) => [name, tool({ inputSchema: jsonSchema({ type: "object", additionalProperties: true }) })]),
);

for (const model of models) {
  const said = { text: "", reasoning: "", inputs: [], calls: [], finish: null, error: null };
  const places = new Map();
  const { fullStream } = streamText({ model: provider(model), prompt: "?", tools, maxRetries: 0, onError() {} });
  for await (const part of fullStream) {
    if (part.type === "text-delta") said.text += part.text;
    if (part.type === "reasoning-delta") said.reasoning += part.text;
    if (part.type === "tool-input-start") places.set(part.id, said.inputs.push([part.toolName, ""]) - 1);
    if (part.type === "tool-input-delta") said.inputs[places.get(part.id)][1] += part.delta;
    if (part.type === "tool-call" && !part.invalid) said.calls.push([part.toolName, part.input]);
    if (part.type === "finish") [said.finish, said.usage] = [part.finishReason, part.totalUsage];
    if (part.type === "error") said.error = String(part.error?.message ?? part.error);
  }
  console.log(JSON.stringify(said));
}
