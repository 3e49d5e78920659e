// What both clients do. A request is {"era": "session" or "stateless", "steps": [[METHOD, PARAMS], ...]}.

export const [request, ...target] = process.argv.slice(2).map((text, index) => (index ? text : JSON.parse(text)));

const calls = {
  "tools/list": (client) => client.listTools(),
  "resources/list": (client) => client.listResources(),
  "resources/templates/list": (client) => client.listResourceTemplates(),
  "prompts/list": (client) => client.listPrompts(),
  "tools/call": (client, params) => client.callTool(params),
  "resources/read": (client, params) => client.readResource(params),
  "prompts/get": (client, params) => client.getPrompt(params),
};

// Prints what the client sees as one JSON document.
export async function see(client, version) {
  const results = [];
  for (const [method, params] of request.steps) {
    try {
      results.push(await calls[method](client, params));
    } catch ({ code, message, data }) {
      results.push({ error: { code, message, data } });
    }
  }
  const server = {
    version: version(),
    info: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
  };
  await client.close();
  console.log(JSON.stringify({ server, results }));
}

// A server's program gets the whole environment, as an agent's configuration would give it.
export const program = () => ({ command: target[0], args: target.slice(1), env: process.env, stderr: "inherit" });
export const isUrl = target[0].startsWith("http");
