#!/usr/bin/env python3
"""Writes a text file beneath a root directory, whole or not at all.

Arguments:  {"path": "notes/today.txt", "text": "...", "mode": "create"}
Answer:     {"path": "notes/today.txt", "bytes": 12, "sha256": "...", "mode": "create"}

`create` refuses a path that exists; `replace` refuses one that does not, or that is no regular file, and keeps its
permissions. The directory must exist. No symbolic link is followed, and nothing is written into a `.git` directory.

The text goes to a temporary file beside the target, onto the disk, and takes the target's name in one step: others see
the old file or the new one. After a crash a file `.countersign-*.tmp` may be left.
"""

import sys

sys.dont_write_bytecode = True

import contextlib
import hashlib
import os
import secrets
import stat

import beneath
import tool_call


def write_file(command_line, arguments):
    path = arguments.text("path")
    text = arguments.text("text", longest=command_line.max_bytes)
    mode = arguments.choice("mode", ["create", "replace"])
    arguments.finish()
    data = text.encode("utf-8", "strict")
    if len(data) > command_line.max_bytes:
        tool_call.refuse(f"the text is larger than {command_line.max_bytes} bytes")
    parts = beneath.parts_of(path) or tool_call.refuse("the path names a directory")
    if any(part.casefold() == ".git" for part in parts):
        tool_call.refuse("the path leads into a `.git` directory")

    *folders, name = parts
    with contextlib.ExitStack() as opened:
        with tool_call.before_acting():
            parent = opened.enter_context(beneath.directory(command_line.root, folders))
            permissions = _check_target(parent, name, mode)
            temporary = _write_temporary(parent, data, permissions)
            opened.callback(_remove, parent, temporary)
            if mode == "create":
                # Unlike a rename, a link never replaces what has appeared meanwhile.
                os.link(temporary, name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
            else:
                os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        # The file is there. Failing from here on leaves only open whether it outlives a power cut.
        os.fsync(parent)
    return {"path": path, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "mode": mode}


def _check_target(parent, name, mode):
    """Gives the permissions to keep, if any."""
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        if mode == "replace":
            tool_call.refuse("there is no such file to replace")
        return None
    if mode == "create":
        tool_call.refuse("the path exists already")
    if not stat.S_ISREG(status.st_mode):
        tool_call.refuse("the path names no regular file")
    return stat.S_IMODE(status.st_mode) & 0o777


def _write_temporary(parent, data, permissions):
    name = f".countersign-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o666, dir_fd=parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if permissions is not None:
                os.fchmod(file.fileno(), permissions)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        _remove(parent, name)
        raise
    return name


def _remove(parent, name):
    # After a rename it is gone already.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=parent)


if __name__ == "__main__":
    tool_call.run(
        write_file,
        __doc__,
        ("--root", {"required": True, "help": "the directory that files are written to"}),
        ("--max-bytes", {"type": int, "default": 262_144, "help": "the largest text (default: %(default)s)"}),
    )
