"""Opens files beneath a root directory, and nothing outside it.

A path is taken apart and walked one directory at a time from an open root, following no symbolic link on the way or at
the end. There is no moment between check and use in which somebody could swap a directory for a link.
"""

import contextlib
import os
import stat

from tool_call import refuse

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_MOST_PARTS = 64


def parts_of(path):
    """Takes a relative path apart; `.` alone is the root itself."""
    if path == ".":
        return []
    parts = path.split("/")
    if path.startswith("/"):
        refuse("the path is absolute; it must be relative to the root")
    if len(parts) > _MOST_PARTS or any(part in ("", ".", "..") for part in parts):
        refuse("the path must be names joined by single slashes, without `.` and `..`")
    return parts


@contextlib.contextmanager
def directory(root, parts):
    """Opens a directory beneath the root; the root itself may be a symbolic link, since the operator named it."""
    opened = os.open(root, _DIRECTORY)
    try:
        for part in parts:
            below = os.open(part, _DIRECTORY | os.O_NOFOLLOW, dir_fd=opened)
            os.close(opened)
            opened = below
        yield opened
    finally:
        os.close(opened)


def open_regular_file(parent, name):
    """Opens a regular file for reading; never waits for the other side of a pipe."""
    opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            refuse("the path names no regular file")
        return os.fdopen(opened, "rb")
    except BaseException:
        os.close(opened)
        raise
