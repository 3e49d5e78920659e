"""A server of the official Python package that notes down, and may hold its answer back after it has.

Usage: noting_server.py FILE [PORT]

`note` appends a line to FILE, and answers when there is no FILE.hold. With a port, it serves clients at
http://127.0.0.1:PORT/mcp.
"""

import os
import sys

import anyio
from mcp.server import MCPServer
from mcp.types import ToolAnnotations

file, *port = sys.argv[1:]
server = MCPServer("noting")


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def count() -> int:
    """Counts the lines."""
    if not os.path.exists(file):
        return 0
    with open(file) as lines:
        return len(lines.readlines())


@server.tool()
async def note(text: str) -> str:
    """Notes a line down."""
    with open(file, "a") as lines:
        lines.write(text + "\n")
    while os.path.exists(file + ".hold"):
        await anyio.sleep(0.02)
    return "noted"


if port:
    server.run("streamable-http", port=int(port[0]))
else:
    server.run()
