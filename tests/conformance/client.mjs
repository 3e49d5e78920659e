// The official client for Node, doing what the conformance suite's client scenarios want to see: alone, or with us between it
// and the scenario's server.
//
// Usage: client.mjs [PROGRAM ARGUMENT... --] URL. The program is started with the URL behind its arguments, and says where
// it serves.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { load } from "../../crates/countersign/tests/mcp/node/packages.mjs";

const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");

const words = process.argv.slice(2);
const separator = words.indexOf("--");
const url = words.at(-1);
const between = separator > 0 ? spawn(words[0], [...words.slice(1, separator), url], { stdio: "pipe" }) : undefined;
const isStateless = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === "2026-07-28";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

// The first URL on either of its streams.
function served(program) {
  return new Promise((resolve, reject) => {
    program.on("exit", (code) => reject(new Error(`ended at its start with ${code}`)));
    for (const stream of [program.stdout, program.stderr]) {
      createInterface(stream).on("line", (line) => {
        const found = /http:\/\/127\.0\.0\.1:[^\s"',;]+/.exec(line);
        if (found) resolve(found[0]);
      });
    }
  });
}

// A call that a schema allows.
function sample({ name, inputSchema }) {
  const values = { string: "text", number: 2, integer: 2, boolean: true };
  const known = inputSchema.properties ?? {};
  return {
    name,
    arguments: Object.fromEntries(
      (inputSchema.required ?? Object.keys(known)).map((property) => [property, values[known[property]?.type] ?? "text"]),
    ),
  };
}

const tolerant = (promise) => promise.catch((error) => console.error(String(error)));

async function run(client, target) {
  await client.connect(new StreamableHTTPClientTransport(new URL(target)));
  const { tools } = await client.listTools();
  const calls = context.toolCalls ?? tools.map(sample);
  // At the same time, since some scenarios look whether calls get into each other's way.
  await Promise.all(calls.map((call) => tolerant(client.callTool(call))));
  const capabilities = client.getServerCapabilities() ?? {};
  if (capabilities.resources) {
    const { resources } = await client.listResources();
    for (const { uri } of resources) await tolerant(client.readResource({ uri }));
  }
  if (capabilities.prompts) {
    const { prompts } = await client.listPrompts();
    for (const { name } of prompts) await tolerant(client.getPrompt({ name }));
  }
  await client.close();
}

const client = new Client(
  { name: "conformance-client", version: "1.0.0" },
  {
    capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
    versionNegotiation: { mode: isStateless ? { pin: "2026-07-28" } : "legacy" },
  },
);
client.setRequestHandler("elicitation/create", async ({ params }) => {
  const asked = Object.entries(params.requestedSchema?.properties ?? {}).filter(([, { default: value }]) => value === undefined);
  return { action: "accept", content: Object.fromEntries(asked.map(([name, { type }]) => [name, type === "boolean" ? true : "text"])) };
});
client.setRequestHandler("sampling/createMessage", async () => ({
  role: "assistant",
  content: { type: "text", text: "text" },
  model: "none",
}));
client.setRequestHandler("roots/list", async () => ({ roots: [{ uri: "file:///roots" }] }));
try {
  await run(client, between ? await served(between) : url);
} finally {
  between?.removeAllListeners("exit");
  between?.kill();
}
