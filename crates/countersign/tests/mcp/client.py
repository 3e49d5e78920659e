"""The official Python client: does what a request says, and prints what it sees as one JSON document.

Usage: client.py REQUEST (COMMAND [ARGUMENT...] | URL)

REQUEST is {"era": "session" or "stateless", "steps": [[METHOD, PARAMS], ...]}. Lists come in one page.
"""

import asyncio
import json
import os
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

MODES = {"session": "legacy", "stateless": "2026-07-28"}


async def step(client, method, params=None):
    calls = {
        "tools/list": client.list_tools,
        "resources/list": client.list_resources,
        "resources/templates/list": client.list_resource_templates,
        "prompts/list": client.list_prompts,
        "tools/call": lambda: client.call_tool(params["name"], params["arguments"]),
        "resources/read": lambda: client.read_resource(params["uri"]),
        "prompts/get": lambda: client.get_prompt(params["name"], params.get("arguments")),
    }
    try:
        return json.loads((await calls[method]()).model_dump_json(by_alias=True))
    except MCPError as error:
        return {"error": json.loads(error.error.model_dump_json(by_alias=True))}


async def main(request, target, *arguments):
    request = json.loads(request)
    if not target.startswith("http"):
        target = stdio_client(StdioServerParameters(command=target, args=list(arguments), env=dict(os.environ)))
    async with Client(target, mode=MODES[request["era"]]) as client:
        seen = {
            "server": {
                "version": client.protocol_version,
                "info": client.server_info and json.loads(client.server_info.model_dump_json(by_alias=True)),
                "capabilities": json.loads(client.server_capabilities.model_dump_json(by_alias=True)),
                "instructions": client.instructions,
            },
            "results": [await step(client, *parts) for parts in request["steps"]],
        }
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
