"""What the sample tools have in common: arguments in, one answer out, and exit codes that can be relied on.

A tool is called with its fixed command line and reads one JSON object, the call's arguments, from standard input. It
prints one JSON object, its answer, to standard output and exits with 0. Otherwise it explains itself on standard error
and exits with one of these codes:

    64  the command line is wrong: nothing was done
    65  the call is refused, and will be refused again: nothing was done
    75  not now, perhaps later (EX_TEMPFAIL): nothing was done
    70  something failed; a tool that acts may have acted

Only 70, and whatever is not in this list (a signal, a crash of Python), leaves the outcome open.
"""

import argparse
import contextlib
import errno
import json
import sys

USAGE = 64
REFUSED = 65
FAILED = 70
LATER = 75

MAX_ARGUMENT_BYTES = 4 << 20

_TEMPORARY = {
    errno.EAGAIN,
    errno.EBUSY,
    errno.EDQUOT,
    errno.EINTR,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOLCK,
    errno.ENOMEM,
    errno.ENOSPC,
    errno.ESTALE,
    errno.ETXTBSY,
}


class Stop(Exception):
    """Ends the tool without an answer."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def refuse(message):
    """Refuses the call for good; only before anything was done."""
    raise Stop(REFUSED, message)


@contextlib.contextmanager
def before_acting():
    """Turns the system's errors into a refusal, or into "later"; only around what leaves nothing behind."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EIO:  # A failing disk or network proves nothing.
            code = FAILED
        else:
            code = LATER if error.errno in _TEMPORARY else REFUSED
        raise Stop(code, error.strerror or "the system refused") from error


def run(tool, description, *options):
    """Runs `tool(command_line, arguments)` and prints its answer; never returns.

    `options` are pairs of names and keyword arguments for `argparse`.
    """
    parser = _Parser(
        description=description,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, settings in options:
        parser.add_argument(name, **settings)
    command_line = parser.parse_args()
    try:
        arguments = Arguments(_read_arguments())
        answer = tool(command_line, arguments)
        text = json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        sys.stdout.buffer.write(text.encode() + b"\n")
        sys.stdout.buffer.flush()
    except Stop as stop:
        _explain(stop)
        sys.exit(stop.code)
    except Exception as error:  # Nobody knows what was done by then.
        _explain(f"{type(error).__name__}: {error}")
        sys.exit(FAILED)
    sys.exit(0)


class Arguments:
    """The call's arguments. Every member is asked for by its type and bounds; a member nobody asked for is refused."""

    def __init__(self, members):
        self._members = members
        self._known = set()

    def text(self, name, default=None, longest=4096):
        value = self._take(name, default)
        return self._text(name, value, longest)

    def texts(self, name, default=None, most=100, longest=4096):
        values = self._take(name, default)
        if not isinstance(values, list) or len(values) > most:
            refuse(f"`{name}` must be a list of at most {most} texts")
        return [self._text(name, value, longest) for value in values]

    def integer(self, name, default, lowest, highest):
        value = self._take(name, default)
        if type(value) is not int or not lowest <= value <= highest:
            refuse(f"`{name}` must be an integer from {lowest} to {highest}")
        return value

    def choice(self, name, choices):
        value = self._take(name, None)
        if not isinstance(value, str) or value not in choices:
            refuse(f"`{name}` must be one of: {', '.join(choices)}")
        return value

    def finish(self):
        """Refuses members that were not asked for; to be called before anything is done."""
        if self._members.keys() - self._known:
            refuse(f"there are unknown arguments; known are: {', '.join(sorted(self._known))}")

    def _take(self, name, default):
        self._known.add(name)
        if name in self._members:
            return self._members[name]
        if default is None:
            refuse(f"`{name}` is missing")
        return default

    @staticmethod
    def _text(name, value, longest):
        if not isinstance(value, str) or len(value) > longest:
            refuse(f"`{name}` must be text of at most {longest} characters")
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            refuse(f"`{name}` contains characters that are no text")
        return value


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        _explain(message)
        sys.exit(USAGE)


def _read_arguments():
    data = sys.stdin.buffer.read(MAX_ARGUMENT_BYTES + 1)
    if len(data) > MAX_ARGUMENT_BYTES:
        refuse(f"the arguments are larger than {MAX_ARGUMENT_BYTES} bytes")
    try:
        members = json.loads(
            data.decode("utf-8", "strict"),
            object_pairs_hook=_unique,
            parse_constant=lambda name: refuse(f"{name} is no JSON"),
        )
    except (ValueError, RecursionError):
        refuse("the arguments are not valid JSON")
    if not isinstance(members, dict):
        refuse("the arguments are not a JSON object")
    return members


def _unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        refuse("an object of the arguments has a member twice")
    return members


def _explain(message):
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()
