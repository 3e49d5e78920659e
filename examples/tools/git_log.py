#!/usr/bin/env python3
"""Lists commits of a git repository beneath a root directory, newest first.

Arguments:  {"repository": ".", "revision": "HEAD", "path": "src/lib.rs", "max_count": 20}      all may be left out
Answer:     {"commits": [{"commit": "...", "author": "Ada <ada@example.org>", "authored_at": "...",
             "subject": "..."}], "complete": true}

`complete` is false when there are more commits than were asked for.
"""

import sys

sys.dont_write_bytecode = True

import beneath
import git_call
import tool_call


def git_log(command_line, arguments):
    repository = arguments.text("repository", default=".")
    revision = arguments.text("revision", default="HEAD")
    path = arguments.text("path", default=".")
    most = arguments.integer("max_count", default=20, lowest=1, highest=200)
    arguments.finish()
    paths = ["/".join(beneath.parts_of(path))] if path != "." else []
    git_call.enter(command_line.root, repository)
    commits = git_call.history(git_call.commit_id(revision), most + 1, paths)
    return {"commits": [_short(commit) for commit in commits[:most]], "complete": len(commits) <= most}


def _short(commit):
    commit["subject"] = commit.pop("message").partition("\n")[0]
    return commit


if __name__ == "__main__":
    tool_call.run(git_log, __doc__, git_call.ROOT_OPTION)
