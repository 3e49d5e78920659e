#!/usr/bin/env python3
"""Lists one directory beneath a root directory.

Arguments:  {"path": "notes", "max_entries": 200}      both may be left out; "." is the root
Answer:     {"path": "notes", "entries": [{"name": "today.txt", "kind": "file", "bytes": 12}],
             "total": 1, "complete": true}

Entries come in the order of their names; `kind` is file, directory, symlink or other, and `bytes` counts for files.
`complete` is false when there are more entries than were asked for, or names that are no UTF-8 text.
"""

import sys

sys.dont_write_bytecode = True

import heapq
import os
import stat

import beneath
import tool_call

_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink"}


def list_files(command_line, arguments):
    path = arguments.text("path", default=".")
    most = arguments.integer("max_entries", default=200, lowest=1, highest=1000)
    arguments.finish()
    with tool_call.before_acting(), beneath.directory(command_line.root, beneath.parts_of(path)) as opened:
        names = os.listdir(opened)
        readable = [name for name in names if _is_text(name)]
        entries = [_entry(opened, name) for name in heapq.nsmallest(most, readable)]
    entries = [entry for entry in entries if entry is not None]
    return {"path": path, "entries": entries, "total": len(names), "complete": len(entries) == len(names)}


def _is_text(name):
    try:
        name.encode("utf-8", "strict")
    except UnicodeEncodeError:
        return False
    return True


def _entry(directory, name):
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:  # It went away in between.
        return None
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "other")
    return {"name": name, "kind": kind, "bytes": status.st_size if kind == "file" else 0}


if __name__ == "__main__":
    tool_call.run(
        list_files,
        __doc__,
        ("--root", {"required": True, "help": "the directory that is listed, with all below it"}),
    )
