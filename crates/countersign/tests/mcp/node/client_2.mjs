// The official client for Node, of the package for all versions.
//
// Usage: client_2.mjs REQUEST (COMMAND [ARGUMENT...] | URL)

import { load } from "./packages.mjs";
import { isUrl, program, request, see, target } from "./request.mjs";

const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");

const mode = request.era === "stateless" ? { pin: "2026-07-28" } : "legacy";
const client = new Client({ name: "tests", version: "1" }, { versionNegotiation: { mode } });
await client.connect(isUrl ? new StreamableHTTPClientTransport(new URL(target[0])) : new StdioClientTransport(program()));
await see(client, () => client.getNegotiatedProtocolVersion());
