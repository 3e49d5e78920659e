"""Runs a program in a session of its own, with or without a terminal that controls it, and types on that terminal.

Reads a JSON request from standard input: {argv, environment, columns, has_terminal, shows_output, stdin, early, passphrase, signal, typed}.
`signal` is sent to the program instead of what is to be typed last; `early` is typed before the program starts; `passphrase` is a question and what is typed whenever it is asked, or null; `typed` is a list of [wait for this on the terminal, then type this]; a null to
type hangs up. `shows_output` puts standard output on the terminal. Prints {code, is_plain, terminal, stdout, stderr} as JSON;
`is_plain` says whether the terminal echoes, takes lines and knows Ctrl-C when it is over.
"""

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

DEADLINE_SECONDS = 60


def main():
    request = json.load(sys.stdin)
    main_end, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, request["columns"], 0, 0))
    os.write(main_end, request["early"].encode())
    start = time.monotonic()

    def take_terminal():
        if request["has_terminal"]:
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        request["argv"],
        env=request["environment"],
        stdin=subprocess.PIPE,
        stdout=terminal if request["shows_output"] else subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    # Our end of the terminal stays open: the program itself opens it only when it asks.
    try:
        process.stdin.write(request["stdin"].encode())
        process.stdin.close()
    except BrokenPipeError:
        pass
    seen = {"terminal": b"", "stdout": b"", "stderr": b""}
    sources = {main_end: "terminal", process.stderr.fileno(): "stderr"}
    if process.stdout:
        sources[process.stdout.fileno()] = "stdout"
    typed, looked = list(request["typed"]), 0
    passphrase, asked = request["passphrase"], 0
    while sources:
        if time.monotonic() - start > DEADLINE_SECONDS:
            process.kill()
            sys.exit(f"no end within {DEADLINE_SECONDS} seconds; seen so far: {seen}")
        has_ended = process.poll() is not None
        ready = select.select(list(sources), [], [], 0.1)[0]
        if has_ended and not ready:
            break
        for source in ready:
            piece = os.read(source, 65536)
            seen[sources[source]] += piece
            if not piece:
                del sources[source]
        if typed:
            found = seen["terminal"].find(typed[0][0].encode(), looked)
            if found >= 0 and main_end in sources:
                looked = found + len(typed[0][0].encode())
                text = typed.pop(0)[1]
                if request["signal"] and not typed:
                    process.send_signal(request["signal"])
                elif text is None:
                    del sources[main_end]
                    os.close(main_end)
                else:
                    os.write(main_end, text.encode())
        if passphrase and main_end in sources:
            found = seen["terminal"].find(passphrase[0].encode(), asked)
            if found >= 0:
                asked = found + len(passphrase[0].encode())
                os.write(main_end, passphrase[1].encode())
    code = process.wait()
    try:
        modes = termios.tcgetattr(terminal)[3]
    except termios.error:
        # It was hung up.
        modes = 0
    is_plain = all(modes & mode for mode in (termios.ECHO, termios.ICANON, termios.ISIG))
    texts = {name: piece.decode("utf-8", "strict") for name, piece in seen.items()}
    json.dump({"code": code, "untyped": len(typed), "is_plain": is_plain, **texts}, sys.stdout)


main()
