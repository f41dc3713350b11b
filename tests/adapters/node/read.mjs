// Reads streams with the Vercel AI SDK: `node read.mjs BASE_URL '["model", …]' '["tool", …]'` writes, a line a model,
// what the SDK says of the stream that the server at BASE_URL has for it.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, streamText, tool } from "ai";

const [baseURL, models, names] = [process.argv[2], ...process.argv.slice(3).map((list) => JSON.parse(list))];
const provider = createOpenAICompatible({ name: "loopback", baseURL, includeUsage: true });
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
