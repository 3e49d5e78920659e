// The official client for Node, of the package for versions with a session.
//
// Usage: client_1.mjs REQUEST (COMMAND [ARGUMENT...] | URL)

import { load } from "./packages.mjs";
import { isUrl, program, see, target } from "./request.mjs";

const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");

const client = new Client({ name: "tests", version: "1" });
const transport = isUrl ? new StreamableHTTPClientTransport(new URL(target[0])) : new StdioClientTransport(program());
let version;
transport.setProtocolVersion = (named) => (version = named);
await client.connect(transport);
await see(client, () => version);
