#!/bin/sh
# Keeps what it is given, in the directory that the test names.
cat >"$FAKE_SENDMAIL_DIRECTORY/mail"
printf '%s\n' "$@" >"$FAKE_SENDMAIL_DIRECTORY/arguments"
exit "${FAKE_SENDMAIL_EXIT:-0}"
