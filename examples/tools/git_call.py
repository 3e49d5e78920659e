"""Calls git in a repository beneath a root, so that neither a caller nor the machine's settings can bend the call.

No shell; no option from a caller; no pager, hook, external diff, text conversion, signature program, credential prompt
or network; no `GIT_*` variable and no configuration of the user or the system. The repository's own configuration
counts, since its owner wrote it: a clean filter that it defines for files does run when they are committed.
"""

import os
import re
import stat
import subprocess

import beneath
import tool_call

_SETTINGS = [
    "core.fsmonitor=false",
    "core.fsync=committed,reference",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "gc.auto=0",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
]
_FIXED = ["--git-dir=.git", "--work-tree=.", "--no-pager", "--literal-pathspecs", "--no-replace-objects"]
_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
}
_REVISION = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_@./^~-]{0,199}")
_MOST_BYTES = 8 << 20

ROOT_OPTION = ("--root", {"required": True, "help": "the directory beneath which repositories may be used"})


def enter(root, path):
    """Makes a repository beneath the root the working directory."""
    with tool_call.before_acting(), beneath.directory(root, beneath.parts_of(path)) as opened:
        status = os.stat(".git", dir_fd=opened, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            tool_call.refuse("the path is no repository with a `.git` directory of its own")
        os.fchdir(opened)


def git(*arguments, stdin=b"", variables=None, most_bytes=_MOST_BYTES):
    """Runs git; gives its exit code and at most one byte more of its output than asked for."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT, **(variables or {})}
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    try:
        process = subprocess.Popen(
            ["git", *_FIXED, *settings, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
    except OSError as error:
        raise tool_call.Stop(tool_call.LATER, f"git cannot be started: {error.strerror}") from error
    with process:
        try:
            process.stdin.write(stdin)
            process.stdin.close()
        except BrokenPipeError:
            pass
        output = process.stdout.read(most_bytes + 1)
        if len(output) > most_bytes:
            process.kill()
    return process.returncode, output


def read(*arguments, **settings):
    """Runs git where it can only succeed or refuse; gives the output."""
    code, output = git(*arguments, **settings)
    if code != 0:
        tool_call.refuse(f"git {arguments[0]} ended with {code}")
    return output


def commit_id(revision):
    """Gives the full id of the commit that a revision names."""
    if _REVISION.fullmatch(revision) is None or ".." in revision:
        tool_call.refuse("the revision must be a plain name or id, such as main, HEAD~2 or 1a2b3c4")
    code, output = git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if code != 0:
        tool_call.refuse("the revision names no commit of this repository")
    return output.decode("ascii").strip()


def history(commit, most, paths=()):
    """Gives up to a number of commits, newest first, as far as they touch the paths."""
    form = "--format=%H%x00%an%x00%ae%x00%aI%x00%B"
    output = read("log", "-z", f"--max-count={most}", form, "--encoding=UTF-8", "--no-color", "--no-show-signature",
                  "--no-mailmap", commit, "--", *paths)
    fields = output.decode("utf-8", "replace").split("\0")
    commits = []
    for start in range(0, len(fields) - 4, 5):
        commit, name, address, authored_at, message = fields[start:start + 5]
        commits.append({"commit": commit, "author": f"{name} <{address}>", "authored_at": authored_at,
                        "message": message.strip()})
    return commits
