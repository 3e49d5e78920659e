"""The official client, with a server named by its command: prints what it sees as one JSON document.

Usage: official_client.py TOOL ARGUMENTS COMMAND [ARGUMENT...]
"""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(tool, arguments, command, *rest):
    server = StdioServerParameters(command=command, args=list(rest), env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = await session.list_tools()
        result = await session.call_tool(tool, json.loads(arguments))
        print(json.dumps({
            "tools": json.loads(tools.model_dump_json(by_alias=True)),
            "result": json.loads(result.model_dump_json(by_alias=True)),
        }))


asyncio.run(main(*sys.argv[1:]))
