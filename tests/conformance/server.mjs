// The server that the conformance suite asks for: its own example server is not in its package. What each tool, resource
// and prompt does is what the suite's scenarios describe. It serves every version, over HTTP, on a port of its own.
//
// Usage: server.mjs, which prints its URL as the first line of standard output.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

import { load } from "../../crates/countersign/tests/mcp/node/packages.mjs";

const {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ResourceNotFoundError,
  Server,
  WebStandardStreamableHTTPServerTransport,
  acceptedContent,
  createMcpHandler,
  createRequestStateCodec,
  hostHeaderValidationResponse,
  inputRequired,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} = await load("@modelcontextprotocol/server");

const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
const SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";
const states = createRequestStateCodec({ key: randomUUID() });

const text = (words) => ({ type: "text", text: words });
const says = (words) => ({ content: [text(words)] });
const picture = { type: "image", data: PICTURE, mimeType: "image/png" };
const object = (properties, required = Object.keys(properties)) => ({ type: "object", properties, required });
const string = { type: "string" };

// The two ways of asking a client: a request of the server's own in a session, a result that asks elsewhere.
const asksFor = (message, property, type = "string") => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: object({ [property]: { type } }) },
});
const asksModel = (words, maxTokens) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: text(words) }], maxTokens },
});
const asksRoots = { method: "roots/list", params: {} };
const answers = (ctx) => ctx.mcpReq.inputResponses ?? {};

async function elicits(ctx, message, requestedSchema) {
  const { action, content } = await ctx.mcpReq.elicitInput({ mode: "form", message, requestedSchema });
  return says(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
}

const options = (name, ...values) => values.map((value, index) => ({ const: value, title: `${name[index]}` }));

// Each tool: what it does, the schema of its arguments where it has some, and its description.
const tools = {
  test_simple_text: [() => says("This is a simple text response for testing.")],
  test_image_content: [() => ({ content: [picture] })],
  test_audio_content: [() => ({ content: [{ type: "audio", data: SOUND, mimeType: "audio/wav" }] })],
  test_embedded_resource: [
    () => ({
      content: [
        {
          type: "resource",
          resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource content." },
        },
      ],
    }),
  ],
  test_multiple_content_types: [
    () => ({
      content: [
        text("Multiple content types test:"),
        picture,
        {
          type: "resource",
          resource: {
            uri: "test://mixed-content-resource",
            mimeType: "application/json",
            text: JSON.stringify({ test: "data", value: 123 }),
          },
        },
      ],
    }),
  ],
  test_tool_with_logging: [
    async (_, ctx) => {
      await ctx.mcpReq.log("info", "Tool execution started");
      await pause(50);
      await ctx.mcpReq.log("info", "Tool processing data");
      await pause(50);
      await ctx.mcpReq.log("info", "Tool execution completed");
      return says("Three messages were logged.");
    },
  ],
  test_logging_tool: [
    async (_, ctx) => {
      await ctx.mcpReq.log("info", "Nobody may have asked for this.");
      return says("A message was logged, for whoever asked for messages.");
    },
  ],
  test_error_handling: [() => ({ ...says("This tool intentionally returns an error for testing"), isError: true })],
  test_tool_with_progress: [
    async (_, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
        }
        await pause(50);
      }
      return says("The progress was reported.");
    },
  ],
  test_sampling: [
    async ({ prompt }, ctx) => {
      const { content } = await ctx.mcpReq.requestSampling(asksModel(prompt, 100).params);
      return says(`LLM response: ${content.text}`);
    },
    object({ prompt: string }),
  ],
  test_elicitation: [
    async ({ message }, ctx) => {
      const schema = object({
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      });
      const { action, content } = await ctx.mcpReq.elicitInput({ mode: "form", message, requestedSchema: schema });
      return says(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`);
    },
    object({ message: string }),
  ],
  test_elicitation_sep1034_defaults: [
    (_, ctx) =>
      elicits(
        ctx,
        "Please review the defaults.",
        object(
          {
            name: { type: "string", default: "John Doe" },
            age: { type: "integer", default: 30 },
            score: { type: "number", default: 95.5 },
            status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
            verified: { type: "boolean", default: true },
          },
          [],
        ),
      ),
  ],
  test_elicitation_sep1330_enums: [
    (_, ctx) =>
      elicits(
        ctx,
        "Please choose.",
        object(
          {
            untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
            titledSingle: {
              type: "string",
              oneOf: options(["First Option", "Second Option", "Third Option"], "value1", "value2", "value3"),
            },
            legacyEnum: {
              type: "string",
              enum: ["opt1", "opt2", "opt3"],
              enumNames: ["Option One", "Option Two", "Option Three"],
            },
            untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
            titledMulti: {
              type: "array",
              items: { anyOf: options(["First Choice", "Second Choice", "Third Choice"], "value1", "value2", "value3") },
            },
          },
          [],
        ),
      ),
  ],
  json_schema_2020_12_tool: [
    () => says("The arguments were what the schema says."),
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { address: { $anchor: "address", type: "object", properties: { street: string, city: string } } },
      properties: { name: string, address: { $ref: "#/$defs/address" } },
      allOf: [{ anyOf: [{ required: ["name"] }, { required: ["address"] }] }],
      if: { required: ["address"] },
      then: { required: ["name"] },
      else: { required: ["name"] },
      additionalProperties: false,
    },
  ],
  test_custom_headers: [
    ({ region }) => says(`The region is ${region}.`),
    object({ region: { type: "string", "x-mcp-header": "Region" } }),
  ],
  test_missing_capability: [
    (_, ctx) => {
      needs(ctx, "sampling");
      return says("The client has the capability.");
    },
  ],
  test_streaming_elicitation: [
    (_, ctx) => {
      needs(ctx, "elicitation");
      return inputRequired({ inputRequests: { name: asksFor("What is your name?", "name") } });
    },
  ],
  test_trigger_tool_change: [
    async (_, ctx, server) => {
      modern.notify.toolsChanged();
      if (server) await server.sendToolListChanged();
      return says("The list of tools was said to have changed.");
    },
  ],
  test_trigger_prompt_change: [
    async (_, ctx, server) => {
      modern.notify.promptsChanged();
      if (server) await server.sendPromptListChanged();
      return says("The list of prompts was said to have changed.");
    },
  ],
  test_input_required_result_elicitation: [
    (_, ctx) => {
      const given = acceptedContent(answers(ctx), "user_name");
      return typeof given?.name === "string"
        ? says(`Hello, ${given.name}!`)
        : inputRequired({ inputRequests: { user_name: asksFor("What is your name?", "name") } });
    },
  ],
  test_input_required_result_sampling: [
    (_, ctx) => {
      const given = answers(ctx).capital_question;
      return given?.content
        ? says(`The model says: ${given.content.text}`)
        : inputRequired({ inputRequests: { capital_question: asksModel("What is the capital of France?", 100) } });
    },
  ],
  test_input_required_result_list_roots: [
    (_, ctx) => {
      const given = answers(ctx).client_roots;
      return given?.roots
        ? says(`The roots are: ${given.roots.map(({ uri }) => uri).join(", ")}`)
        : inputRequired({ inputRequests: { client_roots: asksRoots } });
    },
  ],
  test_input_required_result_request_state: [confirms("state-ok")],
  test_input_required_result_tampered_state: [confirms("The state came back as it was.")],
  test_input_required_result_multiple_inputs: [
    async (_, ctx) => {
      const { user_name, greeting, client_roots } = answers(ctx);
      if (user_name && greeting && client_roots && ctx.mcpReq.requestState()) {
        return says("All three were answered.");
      }
      return inputRequired({
        inputRequests: {
          user_name: asksFor("What is your name?", "name"),
          greeting: asksModel("Generate a greeting", 50),
          client_roots: asksRoots,
        },
        requestState: await states.mint({ asked: "all" }),
      });
    },
  ],
  test_input_required_result_multi_round: [
    async (_, ctx) => {
      const state = ctx.mcpReq.requestState();
      const name = acceptedContent(answers(ctx), "step1")?.name ?? state?.name;
      const color = acceptedContent(answers(ctx), "step2")?.color;
      if (state?.round === 2 && color) return says(`${name} likes ${color}.`);
      if (state?.round === 1 && name) {
        return inputRequired({
          inputRequests: { step2: asksFor("Step 2: What is your favorite color?", "color") },
          requestState: await states.mint({ round: 2, name }),
        });
      }
      return inputRequired({
        inputRequests: { step1: asksFor("Step 1: What is your name?", "name") },
        requestState: await states.mint({ round: 1 }),
      });
    },
  ],
  test_input_required_result_capabilities: [
    (_, ctx) => {
      if (Object.keys(answers(ctx)).length) return says("What could be asked was answered.");
      const can = capabilities(ctx);
      const inputRequests = {};
      if (can.elicitation) inputRequests.name = asksFor("What is your name?", "name");
      if (can.sampling) inputRequests.greeting = asksModel("Generate a greeting", 50);
      if (can.roots) inputRequests.roots = asksRoots;
      return inputRequired({ inputRequests, requestState: "asked" });
    },
  ],
};

function confirms(words) {
  return async (_, ctx) =>
    ctx.mcpReq.requestState() && answers(ctx).confirm
      ? says(words)
      : inputRequired({
          inputRequests: { confirm: asksFor("Please confirm", "ok", "boolean") },
          requestState: await states.mint({ asked: "confirm" }),
        });
}

function capabilities(ctx) {
  return ctx.mcpReq.envelope?.["io.modelcontextprotocol/clientCapabilities"] ?? {};
}

function needs(ctx, capability) {
  if (!capabilities(ctx)[capability]) {
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { [capability]: {} } });
  }
}

const resources = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PICTURE },
  "test://watched-resource": { mimeType: "text/plain", text: "This resource can be watched." },
};

function read(uri) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id) {
    const data = { id, templateTest: true, data: `Data for ID: ${id}` };
    return { mimeType: "application/json", text: JSON.stringify(data) };
  }
  if (!resources[uri]) throw new ResourceNotFoundError(uri);
  return resources[uri];
}

const says_user = (content) => ({ role: "user", content });
const prompts = {
  test_simple_prompt: [() => [says_user(text("This is a simple prompt for testing."))]],
  test_prompt_with_arguments: [
    ({ arg1, arg2 }) => [says_user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    "arg1",
    "arg2",
  ],
  test_prompt_with_embedded_resource: [
    ({ resourceUri }) => [
      says_user({
        type: "resource",
        resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
      }),
      says_user(text("Please process the embedded resource above.")),
    ],
    "resourceUri",
  ],
  test_prompt_with_image: [() => [says_user(picture), says_user(text("Please analyze the image above."))]],
  test_input_required_result_prompt: [
    (_, ctx) => {
      const given = acceptedContent(answers(ctx), "user_context");
      return given
        ? [says_user(text(`The context is: ${given.context}`))]
        : inputRequired({ inputRequests: { user_context: asksFor("What context should the prompt use?", "context") } });
    },
  ],
};

function makeServer(era) {
  const server = new Server(
    { name: "conformance-server", version: "1.0.0" },
    {
      capabilities: {
        completions: {},
        logging: {},
        prompts: { listChanged: true },
        resources: { subscribe: true },
        tools: { listChanged: true },
      },
      requestState: { verify: states.verify },
    },
  );
  const legacy = era === "legacy" ? server : undefined;
  server.setRequestHandler("tools/list", () => ({
    tools: Object.entries(tools).map(([name, [, inputSchema]]) => ({
      name,
      description: `Does what the conformance suite asks of ${name}.`,
      inputSchema: inputSchema ?? { type: "object", properties: {} },
    })),
  }));
  server.setRequestHandler("tools/call", ({ params }, ctx) => {
    if (!tools[params.name]) throw new ProtocolError(-32602, "There is no such tool.");
    return tools[params.name][0](params.arguments ?? {}, ctx, legacy);
  });
  server.setRequestHandler("resources/list", () => ({
    resources: Object.entries(resources).map(([uri, { mimeType }]) => ({
      uri,
      name: uri.slice("test://".length),
      description: "A resource for the conformance suite.",
      mimeType,
    })),
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [
      { uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json", description: "A template." },
    ],
  }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => ({ contents: [{ uri, ...read(uri) }] }));
  server.setRequestHandler("prompts/list", () => ({
    prompts: Object.entries(prompts).map(([name, [, ...names]]) => ({
      name,
      description: `Says what the conformance suite asks of ${name}.`,
      arguments: names.map((name) => ({ name, description: "Stands in the prompt.", required: true })),
    })),
  }));
  server.setRequestHandler("prompts/get", ({ params }, ctx) => {
    const messages = prompts[params.name][0](params.arguments ?? {}, ctx);
    return Array.isArray(messages) ? { messages } : messages;
  });
  server.setRequestHandler("completion/complete", ({ params: { argument } }) => {
    const values = ["paris", "park", "party"].filter((value) => value.startsWith(argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
  if (legacy) {
    server.setRequestHandler("resources/subscribe", () => ({}));
    server.setRequestHandler("resources/unsubscribe", () => ({}));
  }
  return server;
}

const modern = createMcpHandler(({ era }) => makeServer(era), { legacy: "reject" });
const sessions = new Map();

async function serveSession(request) {
  const known = sessions.get(request.headers.get("mcp-session-id"));
  if (known) return known.handleRequest(request);
  if (request.headers.has("mcp-session-id")) return new Response("There is no such session.", { status: 404 });
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  await makeServer("legacy").connect(transport);
  return transport.handleRequest(request);
}

// An argument whose schema has `x-mcp-header` stands in that header too. The package leaves the comparison to its user.
async function mismatch(request) {
  if (request.method !== "POST") return;
  const { id, method, params } = await request.clone().json().catch(() => ({}));
  const properties = method === "tools/call" ? tools[params?.name]?.[1]?.properties : undefined;
  for (const [name, { "x-mcp-header": header }] of Object.entries(properties ?? {})) {
    const given = header && params.arguments?.[name];
    if (given === undefined || decoded(request.headers.get(`Mcp-Param-${header}`)) === given) continue;
    const error = { code: -32020, message: `The header Mcp-Param-${header} is not what the arguments say.` };
    return Response.json({ jsonrpc: "2.0", id, error }, { status: 400 });
  }
}

function decoded(value) {
  const coded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (coded === undefined) return value;
  const bytes = Buffer.from(coded, "base64");
  return bytes.toString("base64") === coded ? bytes.toString() : undefined;
}

async function serve(request) {
  const rejected =
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins());
  if (rejected) return rejected;
  if (await isLegacyRequest(request)) return serveSession(request);
  return (await mismatch(request)) ?? modern.fetch(request);
}

const listener = createServer(async (incoming, outgoing) => {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  try {
    const response = await serve(
      new Request(new URL(incoming.url, `http://${incoming.headers.host}`), {
        method: incoming.method,
        headers: incoming.headers,
        body: incoming.method === "POST" ? Readable.toWeb(incoming) : undefined,
        duplex: "half",
        signal: gone.signal,
      }),
    );
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    if (response.body) Readable.fromWeb(response.body).on("error", () => outgoing.destroy()).pipe(outgoing);
    else outgoing.end();
  } catch (error) {
    console.error(error);
    outgoing.destroy();
  }
});
listener.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`));
