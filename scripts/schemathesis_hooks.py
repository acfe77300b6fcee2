"""Keeps Schemathesis from being refused for what it cannot know, so that the rest of its requests is tried.

A made-up grant is refused before anything else is looked at, a key that was used before is answered as a repeat, and a
cursor is only good where it was given. Keys that are ill-formed or missing are sent as they were made, and so are
cursors in requests that are meant to be wrong.
"""

import uuid

import schemathesis

KEY = "Idempotency-Key"
GRANT = "Skein-Grant"
CURSORS = ("cursor", "after")


def is_uuid(text):
    try:
        return isinstance(text, str) and str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.headers is not None:
        case.headers.pop(GRANT, None)
        if is_uuid(case.headers.get(KEY)):
            case.headers[KEY] = str(uuid.uuid4())
    if case.query and case.meta is not None and case.meta.generation.mode.is_positive:
        for name in CURSORS:
            case.query.pop(name, None)
