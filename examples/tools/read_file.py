#!/usr/bin/env python3
"""Reads a text file beneath a root directory.

Arguments:  {"path": "notes/today.txt"}
Answer:     {"path": "notes/today.txt", "text": "...", "bytes": 12, "sha256": "..."}

The path is relative to the root and follows no symbolic link. A file that is too large, or not UTF-8 text, is refused
as a whole: it is never cut.
"""

import sys

sys.dont_write_bytecode = True

import hashlib

import beneath
import tool_call


def read_file(command_line, arguments):
    path = arguments.text("path")
    arguments.finish()
    *folders, name = beneath.parts_of(path) or tool_call.refuse("the path names a directory")
    with (
        tool_call.before_acting(),
        beneath.directory(command_line.root, folders) as parent,
        beneath.open_regular_file(parent, name) as file,
    ):
        data = file.read(command_line.max_bytes + 1)
    if len(data) > command_line.max_bytes:
        tool_call.refuse(f"the file is larger than {command_line.max_bytes} bytes")
    try:
        text = data.decode("utf-8", "strict")
    except UnicodeDecodeError:
        tool_call.refuse("the file is not UTF-8 text")
    if "\0" in text:
        tool_call.refuse("the file is not text: it contains NUL")
    return {"path": path, "text": text, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


if __name__ == "__main__":
    tool_call.run(
        read_file,
        __doc__,
        ("--root", {"required": True, "help": "the directory that files are read from"}),
        ("--max-bytes", {"type": int, "default": 262_144, "help": "the largest file (default: %(default)s)"}),
    )
