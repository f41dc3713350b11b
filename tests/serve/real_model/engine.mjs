// A chat endpoint over a small real model that a CPU runs: ChatML in, the model's own text out, a token a chunk.
import http from "node:http";
import { getLlama } from "node-llama-cpp";

const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
const model = await llama.loadModel({ modelPath: process.argv[2] });
const context = await model.createContext({ contextSize: 2048, threads: 1 });
const sequence = context.getSequence();

function said(message) {
  const calls = (message.tool_calls ?? []).map((call) => {
    const { name, arguments: given } = call.function;
    const text = typeof given === "string" ? given : JSON.stringify(given);
    return `<tool_call>\n{"name": "${name}", "arguments": ${text}}\n</tool_call>`;
  });
  return [message.content, ...calls].filter(Boolean).join("\n");
}

function prompt(body) {
  const turns = body.messages.map((message) => `<|im_start|>${message.role}\n${said(message)}<|im_end|>\n`);
  return `${turns.join("")}<|im_start|>assistant\n`;
}

async function* generated(body) {
  await sequence.clearHistory();
  let count = 0;
  for await (const token of sequence.evaluate(model.tokenize(prompt(body), true), { temperature: 0 })) {
    if (model.isEogToken(token)) return;
    yield model.detokenize([token], true);
    if (++count >= (body.max_tokens ?? 96)) break;
  }
  throw Object.assign(new Error("length"), { reason: "length" });
}

const server = http.createServer(async (request, response) => {
  let data = "";
  for await (const piece of request) data += piece;
  if (request.method !== "POST") return response.end(JSON.stringify({ object: "list", data: [{ id: "smollm2" }] }));
  const body = JSON.parse(data);
  const head = { id: "chatcmpl-1", created: 1, model: "smollm2" };
  const chunk = (delta, finish_reason = null) =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  let text = "";
  let reason = "stop";
  if (body.stream) response.writeHead(200, { "content-type": "text/event-stream" });
  try {
    for await (const piece of generated(body)) {
      text += piece;
      if (body.stream) response.write(chunk({ content: piece }));
    }
  } catch (error) {
    reason = error.reason;
    if (!reason) throw error;
  }
  if (body.stream) return response.end(`${chunk({}, reason)}data: [DONE]\n\n`);
  const message = { role: "assistant", content: text };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason: reason }] }));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
