#!/usr/bin/env python3
"""Sends a plain text mail through the local `sendmail` program.

Arguments:  {"to": ["ada@example.org"], "cc": [], "subject": "...", "text": "..."}      `cc` may be left out
Answer:     {"message_id": "<...@example.com>", "recipients": ["ada@example.org"]}

The sender is the operator's choice, not the model's; so are, with --allow-domain, the domains that mail may go to. The
answer says that `sendmail` took the mail over, not that it arrived. When `sendmail` reports a failure, mail may have
been queued or sent all the same, and the outcome is open.
"""

import sys

sys.dont_write_bytecode = True

import email.message
import email.policy
import email.utils
import re
import subprocess
import unicodedata
from datetime import datetime, timezone

import tool_call

_MOST_RECIPIENTS = 50
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS = re.compile(rf"{_ATOM}(?:\.{_ATOM})*@({_LABEL}(?:\.{_LABEL})*)")


def send_mail(command_line, arguments):
    to = arguments.texts("to", most=_MOST_RECIPIENTS, longest=254)
    cc = arguments.texts("cc", default=[], most=_MOST_RECIPIENTS, longest=254)
    subject = arguments.text("subject", longest=400)
    text = arguments.text("text", longest=200_000)
    arguments.finish()

    recipients = to + cc
    if not to or len(recipients) > _MOST_RECIPIENTS:
        tool_call.refuse(f"there must be somebody in `to`, and at most {_MOST_RECIPIENTS} recipients")
    allowed = {domain.casefold() for domain in command_line.allow_domain}
    for recipient in recipients:
        domain = _domain_of(recipient) or tool_call.refuse("a recipient is no plain mail address")
        if allowed and domain not in allowed:
            tool_call.refuse("mail to this recipient's domain is not allowed")
    if not subject.strip() or any(_is_control(character) for character in subject):
        tool_call.refuse("the subject must be one line of text")
    sender_name, sender = email.utils.parseaddr(command_line.sender)
    sender_domain = _domain_of(sender)
    if sender_domain is None or any(_is_control(character) for character in sender_name):
        raise tool_call.Stop(tool_call.USAGE, "--from is no mail address")

    message = email.message.EmailMessage(policy=email.policy.SMTP.clone(linesep="\n", cte_type="7bit"))
    message["From"] = email.utils.formataddr((sender_name, sender))
    message["To"] = ", ".join(to)
    if cc:
        message["Cc"] = ", ".join(cc)
    message["Subject"] = subject
    message["Date"] = email.utils.format_datetime(datetime.now(timezone.utc))
    message["Message-ID"] = email.utils.make_msgid(domain=sender_domain)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    _hand_over(command_line.sendmail, message.as_bytes())
    return {"message_id": message["Message-ID"], "recipients": recipients}


def _domain_of(address):
    match = _ADDRESS.fullmatch(address)
    return match.group(1).casefold() if match else None


def _is_control(character):
    return unicodedata.category(character) in ("Cc", "Zl", "Zp")


def _hand_over(program, mail):
    try:
        # -t: recipients are in the headers, never on the command line. -i: a line with a single dot ends nothing.
        process = subprocess.Popen(
            [program, "-t", "-i"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd="/"
        )
    except OSError as error:
        raise tool_call.Stop(tool_call.LATER, f"sendmail cannot be started: {error.strerror}") from error
    process.communicate(mail)
    if process.returncode != 0:
        # Even 75 of sendmail may mean "queued": not ours to pass on as "nothing was done".
        raise tool_call.Stop(tool_call.FAILED, f"sendmail ended with {process.returncode}")


if __name__ == "__main__":
    tool_call.run(
        send_mail,
        __doc__,
        ("--from", {"dest": "sender", "required": True, "help": "the sender, such as 'Desk <desk@example.com>'"}),
        ("--sendmail", {"default": "/usr/sbin/sendmail", "help": "the program (default: %(default)s)"}),
        ("--allow-domain", {"action": "append", "default": [], "metavar": "DOMAIN",
                            "help": "a domain that mail may go to; may be repeated; without it, any"}),
    )
