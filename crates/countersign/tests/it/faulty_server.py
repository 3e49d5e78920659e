"""A server of the Model Context Protocol that does whatever its calls tell it to. What its writes do, it adds to a file,
and what else is to be known of it, to FILE.told.

Usage: faulty_server.py FILE [JSON]

The JSON is an object of options: `tools` (a list that takes the place of its own), `count` and `page` (so many tools, on pages
so long), `padding` (bytes of description each), `ignores` (["end", "TERM"]: what does not end it), `orphans` (a child of its own
keeps its output open), `lists` ("hangs": never lists its tools; "loops": the list never ends), `meta` (what stands in its list's `_meta`), `stateless` (it speaks 2026-07-28, too), `stderr` (what it
writes there).

Tools: `look` and `promised_look` read, `act` and `promised_act` write. Their argument `how` says what happens:
    none        answers that all is well
    raw         writes `lines`, in each of which ID stands for the id of the request and UP for that of the call before
    gate        answers once the file `path` is there
    huge        answers with `bytes` bytes on one line
    hang        answers nothing
    freeze      reads nothing any more either
    exit, kill  ends with the code `code`, or is killed
    lock        holds the database `path` until the file `until` is there, and answers at once
    relist      replaces its tools by `tools`, says so, and answers
"""

import json
import os
import signal
import sqlite3
import sys
import threading
import time

NOTES = sys.argv[1]
OPTIONS = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
ANY = {"type": "object"}
PROMISE = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
READS = {"readOnlyHint": True}
TOOLS = OPTIONS.get("tools") or [
    {"name": "look", "inputSchema": ANY, "annotations": READS},
    {"name": "promised_look", "inputSchema": ANY, "annotations": READS, "outputSchema": PROMISE},
    {"name": "act", "inputSchema": ANY},
    {"name": "promised_act", "inputSchema": ANY, "outputSchema": PROMISE},
]
if "count" in OPTIONS:
    filler = "x" * OPTIONS.get("padding", 0)
    TOOLS = [{"name": f"tool{n}", "inputSchema": ANY, "description": filler} for n in range(OPTIONS["count"])]
PAGE = OPTIONS.get("page", 100)
turn = threading.Lock()
seen = []


def say(text):
    with turn:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def tell(line):
    with open(NOTES + ".told", "a", encoding="utf-8") as told:
        told.write(line + "\n")


def lasts():
    """Does nothing any more, and ends when the test's directory goes."""
    while os.path.isdir(os.path.dirname(NOTES)):
        time.sleep(0.1)
    os._exit(0)


def answer(identity, result='{"content":[{"type":"text","text":"done"}]}'):
    say('{"jsonrpc":"2.0","id":%s,"result":%s}' % (json.dumps(identity), result))


def when_there(path, body):
    def waits():
        while not os.path.exists(path):
            time.sleep(0.01)
        body()

    threading.Thread(target=waits, daemon=True).start()


def huge(identity, count):
    with turn:
        out = sys.stdout.buffer
        out.write(b'{"jsonrpc":"2.0","id":%s,"result":{"content":[],"x":"' % json.dumps(identity).encode())
        block = b"x" * (1 << 20)
        while count > 0:
            out.write(block[:count])
            count -= len(block)
        out.write(b'"}}\n')
        out.flush()
    tell("huge")


def lock(identity, path, until):
    held = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    held.execute("BEGIN IMMEDIATE")
    when_there(until, lambda: held.execute("ROLLBACK"))
    answer(identity)


def call(identity, name, arguments, line):
    if not name.endswith("look"):
        with open(NOTES, "a", encoding="utf-8") as notes:
            notes.write(line + "\n")
    seen.append(identity)
    how = arguments.get("how")
    if how == "raw":
        before = json.dumps(seen[-2]) if len(seen) > 1 else "0"
        for text in arguments["lines"]:
            say(text.replace("ID", json.dumps(identity)).replace("UP", before))
    elif how == "gate":
        when_there(arguments["path"], lambda: answer(identity))
    elif how == "huge":
        huge(identity, arguments["bytes"])
    elif how == "hang":
        pass
    elif how == "freeze":
        lasts()
    elif how == "exit":
        os._exit(arguments["code"])
    elif how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "lock":
        lock(identity, arguments["path"], arguments["until"])
    elif how == "relist":
        TOOLS[:] = arguments["tools"]
        say('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
        answer(identity)
    else:
        answer(identity)


def listed(identity, cursor):
    if OPTIONS.get("lists") == "hangs":
        return
    start = int(cursor or 0)
    page = {"tools": TOOLS[start : start + PAGE]}
    if "meta" in OPTIONS:
        page["_meta"] = OPTIONS["meta"]
    if OPTIONS.get("lists") == "loops":
        page["nextCursor"] = "0"
    elif start + PAGE < len(TOOLS):
        page["nextCursor"] = str(start + PAGE)
    answer(identity, json.dumps(page))


if "TERM" in OPTIONS.get("ignores", []):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if OPTIONS.get("stderr"):
    sys.stderr.write(OPTIONS["stderr"] + "\n")
    sys.stderr.flush()
if OPTIONS.get("orphans") and os.fork() == 0:
    lasts()

for line in sys.stdin:
    line = line.rstrip("\n")
    message = json.loads(line)
    method, identity = message.get("method"), message.get("id")
    params = message.get("params", {})
    if method == "initialize":
        answer(identity, json.dumps({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "faulty", "version": "1"},
        }))
    elif method == "server/discover" and OPTIONS.get("stateless"):
        answer(identity, json.dumps({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "ttlMs": 0,
            "cacheScope": "private",
        }))
    elif method == "tools/list":
        listed(identity, params.get("cursor"))
    elif method == "tools/call":
        call(identity, params["name"], params.get("arguments", {}), line)
    elif method is None:
        say('{"jsonrpc":"2.0","method":"heard","params":{"line":%s}}' % json.dumps(line))
    elif identity is not None:
        say('{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}' % json.dumps(identity))
    else:
        tell(line)

if "end" in OPTIONS.get("ignores", []):
    lasts()
