#!/usr/bin/env python3
"""Shows one commit of a git repository beneath a root directory, with its changes.

Arguments:  {"repository": ".", "revision": "HEAD", "path": "src/lib.rs"}      all may be left out
Answer:     {"commit": "...", "author": "Ada <ada@example.org>", "authored_at": "...", "message": "...",
             "patch": "...", "complete": true, "exact": true}

`complete` is false when the patch was longer than allowed and is cut; `exact` is false when bytes of it that are no
UTF-8 were replaced.
"""

import sys

sys.dont_write_bytecode = True

import beneath
import git_call
import tool_call


def git_show(command_line, arguments):
    repository = arguments.text("repository", default=".")
    revision = arguments.text("revision", default="HEAD")
    path = arguments.text("path", default=".")
    arguments.finish()
    paths = ["/".join(beneath.parts_of(path))] if path != "." else []
    git_call.enter(command_line.root, repository)
    commit = git_call.commit_id(revision)
    [shown] = git_call.history(commit, 1)

    most = command_line.max_bytes
    code, patch = git_call.git(
        "show", "--format=", "--patch", "--no-ext-diff", "--no-textconv", "--no-color", "--no-show-signature",
        "--submodule=short", commit, "--", *paths, most_bytes=most,
    )
    complete = len(patch) <= most
    if complete and code != 0:
        tool_call.refuse(f"git show ended with {code}")
    # A character that the cut went through is left out.
    patch = patch if complete else patch[:most].rpartition(b"\n")[0]
    text = patch.decode("utf-8", "replace")
    return {**shown, "patch": text, "complete": complete, "exact": text.encode() == patch}


if __name__ == "__main__":
    tool_call.run(
        git_show,
        __doc__,
        git_call.ROOT_OPTION,
        ("--max-bytes", {"type": int, "default": 100_000, "help": "the longest patch (default: %(default)s)"}),
    )
