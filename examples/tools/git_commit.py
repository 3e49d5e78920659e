#!/usr/bin/env python3
"""Commits the named files of a git repository beneath a root directory, as they are in the working tree.

Arguments:  {"repository": ".", "paths": ["src/lib.rs"], "message": "..."}      `repository` may be left out
Answer:     {"commit": "...", "parent": "...", "paths": ["src/lib.rs"], "index_updated": true}

Exactly these files are committed: changed, new or deleted. Whatever else is staged stays staged. Directories, ignored
files and an unfinished merge or rebase are refused. `parent` is "" for the first commit of a repository.

The commit is prepared aside, and one step, which fails if the branch has moved meanwhile, makes it the branch's head:
until that step nothing is visible, after it the commit is made.
"""

import sys

sys.dont_write_bytecode = True

import os
import stat
import tempfile

import beneath
import git_call
import tool_call

_UNFINISHED = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"]


def git_commit(command_line, arguments):
    repository = arguments.text("repository", default=".")
    paths = arguments.texts("paths", most=100)
    message = arguments.text("message", longest=10_000)
    arguments.finish()
    if not paths or not message.strip():
        tool_call.refuse("there must be paths and a message")
    git_call.enter(command_line.root, repository)
    for path in paths:
        _check_path(path)
    if any(os.path.lexists(os.path.join(".git", name)) for name in _UNFINISHED):
        tool_call.refuse("the repository is in the middle of a merge, rebase or the like")

    parent = _head()
    commit = _prepare(command_line, parent, paths, message)
    # An empty old value means: only if the branch does not exist yet.
    code, _ = git_call.git("update-ref", "-m", "commit (countersign)", "HEAD", commit, parent or "")
    if code != 0 and _head() != commit:
        raise tool_call.Stop(tool_call.LATER, "the branch has moved, or is being moved, by someone else")
    # The commit is made; the index may follow or, while someone else holds its lock, not.
    code, _ = git_call.git("reset", "--quiet", "HEAD", "--", *paths)
    return {"commit": commit, "parent": parent or "", "paths": paths, "index_updated": code == 0}


def _head():
    code, output = git_call.git("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return output.decode("ascii").strip() if code == 0 else None


def _check_path(path):
    """Refuses what is not a file, or a deleted one."""
    parts = beneath.parts_of(path) or tool_call.refuse("a path names a directory")
    if any(part.casefold() == ".git" for part in parts):
        tool_call.refuse("a path leads into a `.git` directory")
    *folders, name = parts
    with tool_call.before_acting():
        try:
            with beneath.directory(".", folders) as parent:
                mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return
    if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
        tool_call.refuse("a path names no file")


def _prepare(command_line, parent, paths, message):
    """Makes the commit's objects, which nothing refers to yet."""
    with tool_call.before_acting(), tempfile.TemporaryDirectory(prefix="countersign-") as scratch:
        index = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
        if parent:
            git_call.read("read-tree", parent, variables=index)
        git_call.read("add", "--all", "--", *paths, variables=index)
        tree = git_call.read("write-tree", variables=index).decode("ascii").strip()
    if parent and tree == git_call.read("rev-parse", f"{parent}^{{tree}}").decode("ascii").strip():
        tool_call.refuse("these files have no changes to commit")
    person = {
        "GIT_AUTHOR_NAME": command_line.author_name,
        "GIT_AUTHOR_EMAIL": command_line.author_email,
        "GIT_COMMITTER_NAME": command_line.author_name,
        "GIT_COMMITTER_EMAIL": command_line.author_email,
    }
    parents = ["-p", parent] if parent else []
    commit = git_call.read(
        "commit-tree", tree, *parents, "-F", "-", stdin=message.strip().encode() + b"\n", variables=person
    )
    return commit.decode("ascii").strip()


if __name__ == "__main__":
    tool_call.run(
        git_commit,
        __doc__,
        git_call.ROOT_OPTION,
        ("--author-name", {"required": True, "help": "who commits; the operator's choice, not the model's"}),
        ("--author-email", {"required": True, "help": "the author's mail address"}),
    )
