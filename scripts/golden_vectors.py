#!/usr/bin/env python3
"""Computes the golden vectors of every hashed or canonical format, apart from the Rust code.

A hash format that only one program has ever computed is whatever that program happens to do. This script
writes the same formats a second time, from their description, with nothing but Python's standard library;
the tests of `skein-core` read the files it writes and must agree with every value. Vectors that the seeds
and `decisions.md` give (X7, M7, M8, the node hashes) and published ones (RFC 6962, XXH64, ULID) are asserted
first, in `assert_published_vectors`, so that both implementations rest on something outside themselves.

    python3 scripts/golden_vectors.py           writes crates/skein-core/tests/golden/*.json
    python3 scripts/golden_vectors.py --check   exits 1 and names each file that differs

JSON that is hashed is stored as JSON *text*, so that the reader's own parser is under test too. The output is
ASCII with sorted keys and depends on no clock and no random source. Start at `FILES`.
"""

import hashlib
import json
import math
import struct
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent / "crates" / "skein-core" / "tests" / "golden"
FORMAT = b"\x01"
I64_MIN, I64_MAX = -(2**63), 2**63 - 1

# --- Formats ---------------------------------------------------------------------------------------------


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def canonical_ascii(value) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def canonical_unicode(value) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def lp(data: bytes) -> bytes:
    """Length-prefixed: four bytes, big-endian, then the bytes."""
    return struct.pack(">I", len(data)) + data


def i64(number: int) -> bytes:
    return struct.pack(">q", number)


CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ulid_bytes(text: str) -> bytes:
    assert len(text) == 26, text
    number = 0
    for character in text:
        number = number * 32 + CROCKFORD.index(character)
    return number.to_bytes(16, "big")


def ulid_text(data: bytes) -> str:
    number = int.from_bytes(data, "big")
    return "".join(CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


def item_preimage(kind: str, id: str, owner: str, realized_at: int, canonical_at: int, payload_hash: bytes) -> bytes:
    header = [kind.encode(), ulid_bytes(id), ulid_bytes(owner), i64(realized_at), i64(canonical_at)]
    return FORMAT + b"".join(map(lp, header)) + payload_hash


def record_hash(document, previous: str | None) -> str:
    """S2's `compute_entity_hash`, on any JSON value."""
    return sha256(f"{canonical_ascii(document)}|{previous or ''}".encode()).hex()


def merkle_leaf(data: bytes) -> bytes:
    return sha256(b"\x00" + data)


def merkle_node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right)


def merkle_split(count: int) -> int:
    """The largest power of two smaller than `count`."""
    return 1 << (count - 1).bit_length() - 1


def merkle_root(leaves: list[bytes]) -> bytes:
    if len(leaves) == 1:
        return leaves[0]
    split = merkle_split(len(leaves))
    return merkle_node(merkle_root(leaves[:split]), merkle_root(leaves[split:]))


def merkle_path(leaves: list[bytes], index: int) -> list[bytes]:
    """Siblings from the leaf to the root, nearest first."""
    if len(leaves) == 1:
        return []
    split = merkle_split(len(leaves))
    if index < split:
        return merkle_path(leaves[:split], index) + [merkle_root(leaves[split:])]
    return merkle_path(leaves[split:], index - split) + [merkle_root(leaves[:split])]


def merkle_root_from_path(leaf: bytes, index: int, count: int, path: list[bytes]) -> bytes:
    """The verifier of RFC 9162, 2.1.3.2, which walks bits instead of splitting lists."""
    first, last, root = index, count - 1, leaf
    for sibling in path:
        assert last > 0, "the path is too long"
        if first & 1 or first == last:
            root = merkle_node(sibling, root)
            while not first & 1 and first:
                first, last = first >> 1, last >> 1
        else:
            root = merkle_node(root, sibling)
        first, last = first >> 1, last >> 1
    assert last == 0, "the path is too short"
    return root


def seal_preimage(owner: str, first: tuple, last: tuple, count: int, root: bytes, previous: bytes) -> bytes:
    fields = [b"seal", ulid_bytes(owner), i64(first[0]) + i64(first[1]), i64(last[0]) + i64(last[1])]
    return FORMAT + b"".join(map(lp, [*fields, i64(count), root, previous]))


def head_hash(seals: dict[str, str]) -> str:
    by_owner = sorted((ulid_bytes(owner), bytes.fromhex(seal)) for owner, seal in seals.items())
    return sha256(b"".join(owner + seal for owner, seal in by_owner)).hex()


NODE_DELIMITER = "=|d|="


def raw_response(headers, body: bytes) -> bytes:
    return canonical_unicode(headers).encode() + b"\n\n" + body


def node_preimage(content, parents: list[str], created_at: str, author: str, raw: bytes | None) -> str:
    parts = [canonical_unicode(content), ",".join(sorted(parents)), created_at, author]
    if raw is not None:
        parts.append(sha256(raw).hex())
    return NODE_DELIMITER.join(parts)


def fragment_number(content: str) -> int:
    return int.from_bytes(sha256(content.encode())[:2], "big")


def fragment_id(content: str) -> str:
    digits, number = "", fragment_number(content)
    while number > 0:
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36] + digits
        number //= 36
    return f"^{digits.zfill(3)}"


MASK64 = 2**64 - 1
PRIME1, PRIME2, PRIME3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
PRIME4, PRIME5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def rotate_left(number: int, bits: int) -> int:
    return (number << bits | number >> 64 - bits) & MASK64


def xxh64_round(lane: int, word: int) -> int:
    return rotate_left((lane + word * PRIME2) & MASK64, 31) * PRIME1 & MASK64


def xxh64_stripes(data: bytes) -> int:
    """Folds all whole 32-byte stripes into one number."""
    lanes = [(PRIME1 + PRIME2) & MASK64, PRIME2, 0, -PRIME1 & MASK64]
    for words in struct.iter_unpack("<4Q", data[: len(data) // 32 * 32]):
        lanes = [xxh64_round(lane, word) for lane, word in zip(lanes, words)]
    total = sum(rotate_left(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18)))
    for lane in lanes:
        total = ((total ^ xxh64_round(0, lane)) * PRIME1 + PRIME4) & MASK64
    return total


def xxh64_tail(total: int, tail: bytes) -> int:
    """Folds in the last 0 to 31 bytes: by eight, then one four, then single bytes."""
    while len(tail) >= 8:
        word, tail = int.from_bytes(tail[:8], "little"), tail[8:]
        total = (rotate_left(total ^ xxh64_round(0, word), 27) * PRIME1 + PRIME4) & MASK64
    if len(tail) >= 4:
        word, tail = int.from_bytes(tail[:4], "little"), tail[4:]
        total = (rotate_left(total ^ (word * PRIME1 & MASK64), 23) * PRIME2 + PRIME3) & MASK64
    for byte in tail:
        total = rotate_left(total ^ (byte * PRIME5 & MASK64), 11) * PRIME1 & MASK64
    return total


def xxh64(data: bytes) -> str:
    """XXH64 with seed 0, as 16 lower-case hexadecimal digits."""
    start = xxh64_stripes(data) if len(data) >= 32 else PRIME5
    total = xxh64_tail((start + len(data)) & MASK64, data[len(data) // 32 * 32 :])
    total = (total ^ total >> 33) * PRIME2 & MASK64
    total = (total ^ total >> 29) * PRIME3 & MASK64
    return f"{total ^ total >> 32:016x}"


EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def time_text(ms: int) -> str:
    moment = EPOCH + timedelta(milliseconds=ms)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def time_ms(text: str) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(milliseconds=1)


# --- Vectors given elsewhere -----------------------------------------------------------------------------

HUMAN_ROOT = "184e851e121e72c6fa05072cba3c033e9db1f953dc0ae99a052daa38e39c3ff5"
MODEL_CHILD = "4f2095f60cb032ef2aecea65ca83b705dbc1d20c86f40bde515bb2865966963d"
HUMAN, MODEL = "01HQ3K4N7Y8M2P5R6T9W0X1Z2A", "01HQ3K9B2C4D5E6F7G8H9J0K1M"
RFC6962_LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", bytes(range(0x60, 0x70)).hex()]
RFC6962_ROOT = "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"


def assert_published_vectors() -> None:
    assert xxh64(b"{}") == "2e1472b57af294d1"
    assert xxh64(b'{"query":"quarterly report"}') == "0c1d95ddc3184642"
    assert xxh64(b"") == "ef46db3751d8e999"
    assert xxh64(b"Nobody inspects the spammish repetition") == "fbcea83c8a378bf1"
    assert fragment_id("hello world") == "^10lp" and fragment_id("") == "^18z4"
    assert ulid_bytes("01ARZ3NDEKTSV4RRFFQ69G5FAV").hex() == "01563e3ab5d3d6764c61efb99302bd5b"
    assert merkle_root([merkle_leaf(bytes.fromhex(leaf)) for leaf in RFC6962_LEAVES]).hex() == RFC6962_ROOT
    assert_record_vectors()
    assert_node_vectors()


def assert_record_vectors() -> None:
    original = {"description": "Café", "amount": 10.0}
    previous = None
    for document, start, end in [
        (original, "77d52b17", "0195"),
        (original | {"amount": 15.0}, "3d1eb1aa", "624c"),
        (original, "410ca926", "f699"),
    ]:
        previous = record_hash(document, previous)
        assert previous.startswith(start) and previous.endswith(end), previous


def assert_node_vectors() -> None:
    cases = {case["name"]: case["contentHash"] for case in nodes()}
    assert cases["human root"] == HUMAN_ROOT
    assert cases["model child"] == MODEL_CHILD


# --- Cases -----------------------------------------------------------------------------------------------


def sample_ulid(label: str) -> str:
    """A ULID of early 2024 whose random part depends on the label alone."""
    return ulid_text(bytes.fromhex("018d8f3a") + sha256(b"skein id " + label.encode())[:12])


CANONICAL_INPUTS = {
    "empty object": "{}",
    "empty array": "[]",
    "empty string": '""',
    "literals": "[null, true, false]",
    "whitespace is dropped": ' {\n\t"b" : [ 1 , 2 ] ,\r\n "a" : { } } ',
    "nested keys are sorted at every depth": '{"z":{"b":1,"a":[{"y":2,"x":1}]},"a":{"d":{},"c":[[],[[]]]}}',
    "array order is kept": "[3,1,2]",
    "prefix sorts first": '{"ab":1,"a":2,"":3,"aa":4,"b":5}',
    "digits sort as text": '{"10":1,"9":2,"1":3,"02":4}',
    "upper case before lower case": '{"a":1,"B":2,"_":3,"A":4,"b":5,"~":6," ":7}',
    "BMP key before non-BMP key": '{"\\ud83d\\ude00":1,"\\uffee":2,"\\ue000":3,"z":4,"\\u00e9":5}',
    "composed and decomposed keys differ": '{"e\\u0301":1,"\\u00e9":2,"e":3}',
    "escaped key sorts by its character": '{"\\u0062":1,"a":2,"\\u0000":3,"\\n":4,"\\"":5,"\\\\":6}',
    "control characters": json.dumps("".join(map(chr, range(0x20)))),
    "short escapes": '"\\b\\t\\n\\f\\r\\"\\\\\\/"',
    "solidus stays plain": '"a/b\\/c"',
    "printable ASCII": json.dumps("".join(map(chr, range(0x20, 0x7F)))),
    "delete is escaped in ASCII mode only": '"\\u007f"',
    "C1 controls and no-break space": '"\\u0080\\u0085\\u009f\\u00a0\\u00ad"',
    "line and paragraph separators": '"\\u2028\\u2029"',
    "byte order mark and noncharacters": '"\\ufeff\\ufffe\\uffff\\ufffd"',
    "HTML characters stay plain": '"<script>&amp;\'</script>"',
    "accents": '"Café naïve ÅÄÖ ß"',
    "scripts": '["日本語","русский","العربية","हिन्दी","ไทย"]',
    "emoji": '"😀 👩\u200d👩\u200d👧 🇸🇪"',
    "surrogate pairs at the edges": '"\\ud800\\udc00\\udbff\\udfff\\ud834\\udd1e"',
    "hexadecimal escapes are lower case": '"\\u00AB\\u2ABC\\uD83E\\uDDEF"',
    "i64 limits": f"[{I64_MIN},{I64_MAX},{I64_MIN + 1},{I64_MAX - 1}]",
    "integers": "[0,1,-1,10,100,1000000000000000,10000000000000000,123456789012345678]",
    "integers beyond 2^53": "[9007199254740991,9007199254740992,9007199254740993,-9007199254740993]",
    "whole floats keep their point": "[0.0,1.0,-1.0,10.0,100.0,1e2,1E2,1.50,1e0]",
    "negative zero float": "[-0.0,-0e0,-0.0e5]",
    "negative zero integer is zero": "-0",
    "float exponent threshold": "[1e15,1e16,1e17,9999999999999998.0,123456789012345680.0,1e-4,1e-5,0.00012345]",
    "float extremes": "[5e-324,2.2250738585072014e-308,1.7976931348623157e308,-1.7976931348623157e+308]",
    "float underflow": "[1e-400,-1e-400,2e-324,3e-324]",
    "floats round correctly when read": "[0.1000000000000000055511151231257827,9007199254740993.0,9007199254740995.0,"
    "2.2250738585072011e-308,1.00000000000000011102230246251565,1.00000000000000011102230246251566,"
    "8.988465674311580e307,6.631236846766476e-316,7.8459735791271921e65,3.5844466002796428e298]",
    "sums": "[0.1,0.2,0.30000000000000004,0.3]",
    "float as key text": '{"1.0":1.0,"1":1}',
    "query": '{"query":"quarterly report"}',
    "record": '{"description":"Caf\\u00e9","amount":10.0}',
    "long string": json.dumps("0123456789abcdef" * 20 + "é" * 20),
    "deep nesting": "[" * 40 + "]" * 40,
    "mixed document": '{"type":"mixed","blocks":[{"type":"text","text":"α → β"},{"type":"image","ref":"blob:1",'
    '"width":640,"height":480,"scale":1.0,"altText":null}],"meta":{"tags":[],"ok":true}}',
}


def canonical() -> list:
    return [
        {"name": name, "input": text, "ascii": canonical_ascii(value), "unicode": canonical_unicode(value)}
        for name, text, value in ((name, text, json.loads(text)) for name, text in CANONICAL_INPUTS.items())
    ]


def float_from_bits(bits: int) -> float:
    return struct.unpack(">d", struct.pack(">Q", bits))[0]


def named_floats() -> list[float]:
    whole = [0.0, 1.0, 2.0, 10.0, 100.0, 255.0, 65536.0, 1e6, 123456789.0, 2.0**31, 2.0**32, 2.0**53, 2.0**53 - 1, 2.0**53 + 2]
    edges = [2.0**63, 2.0**64, 1e15, 1e16, 1e17, 9999999999999998.0, 123456789012345680.0, 999999999999999.9, 1e-3, 1e-4, 1e-5]
    small = [0.00012345, 9.999e-5, 0.0001234567890123456, 5e-324, 1e-323, 1.5e-323, 2.2250738585072014e-308, 2.225073858507201e-308]
    plain = [0.1, 0.2, 0.1 + 0.2, 0.3, 0.5, 1.5, 2.5, 1 / 3, 2 / 3, 1.1, 4.35, 10.5, 99.99, 3.141592653589793, 1e21, 1e22, 1e23]
    large = [9.999999999999999e22, 1.7976931348623157e308, 8.98846567431158e307, 1e100, 1e200, 1e300, 1.2345678901234567e19]
    return [*whole, *edges, *small, *plain, *large]


def halfway_floats() -> list[float]:
    """Doubles with two equally near shortest spellings (n.25 and n.75 at 2^50), and powers of two,
    whose neighbours lie at uneven distances."""
    quarters = [2.0**50 + n + part for n in range(6) for part in (0.25, 0.75)]
    uneven = [2.0**exponent for exponent in range(-1074, 1024, 30)]
    return [*quarters, *uneven, 2.0**-44, 2.0**-24, 2.0**89, 2.0**122, 2.0**-1022, 2.0**-1023]


def floats() -> list:
    values = named_floats() + [-value for value in named_floats()[:40]]
    values += [float(f"1e{exponent}") for exponent in range(-30, 31, 2)] + halfway_floats()
    values += [float_from_bits(int.from_bytes(sha256(b"skein float %d" % n)[:8], "big")) for n in range(150)]
    values += [float_from_bits(1 + int.from_bytes(sha256(b"skein subnormal %d" % n)[:6], "big")) for n in range(20)]
    values += [int.from_bytes(sha256(b"skein cent %d" % n)[:3], "big") / 100 for n in range(30)]
    unique = {struct.pack(">d", value).hex(): repr(value) for value in values if math.isfinite(value)}
    return [{"bits": bits, "text": text} for bits, text in unique.items()]


def item(name: str, kind: str, realized_at: int, canonical_at: int, document=None, data=b"", id=None, owner=None) -> dict:
    """A document is given as JSON text and wins over `data`, the bytes of a payload that is not JSON."""
    text = None if document is None else canonical_unicode(json.loads(document))
    payload = data if text is None else text.encode()
    id, owner = id or sample_ulid(name), owner or sample_ulid("owner A")
    preimage = item_preimage(kind, id, owner, realized_at, canonical_at, sha256(payload))
    case = {"name": name, "type": kind, "id": id, "owner": owner, "realizedAt": realized_at, "canonicalAt": canonical_at}
    case |= {"idHex": ulid_bytes(id).hex(), "ownerHex": ulid_bytes(owner).hex()}
    case |= {"document": document, "payload": text, "payloadHex": payload.hex(), "payloadHash": sha256(payload).hex()}
    return case | {"preimage": preimage.hex(), "hash": sha256(preimage).hex()}


def items() -> list:
    now = 1736937000000
    long_text = json.dumps({"text": "line\n" * 40})
    return [
        item("node", "Node", now, now, '{"type":"text","text":"Hello"}', id=HUMAN, owner=MODEL),
        item("same payload, keys in another order", "Node", now, now, '{"text":"Hello","type":"text"}', id=HUMAN, owner=MODEL),
        item("other owner", "Node", now, now, '{"type":"text","text":"Hello"}', id=HUMAN),
        item("times swapped: realized first", "Node", now, now + 1, "{}", id=HUMAN),
        item("times swapped: canonical first", "Node", now + 1, now, "{}", id=HUMAN),
        item("non-ASCII payload", "Node", now, now - 1, '{"text":"Caf\\u00e9 😀 \\u2028 \\u007f"}'),
        item("before 1970", "Node", now, -14182940000, '{"text":"moon"}'),
        item("one millisecond before 1970", "Node", now, -1, "{}"),
        item("both times zero", "EntityDelta", 0, 0, '{"patch":[]}'),
        item("first and last day of four-digit years", "EntityDelta", time_ms("9999-12-31T23:59:59.999Z"), time_ms("0001-01-01T00:00:00.000Z"), "null"),
        item("floats", "ToolCall", now, now, '{"cost":10.0,"rate":1e-7,"latency":1e16,"count":3}'),
        item("nested", "ToolCall", now, now, '{"tool":"search","inputs":{"query":"x","limit":10},"tags":["b","a"]}'),
        item("lowest ids", "Redaction", now, now, '{"reason":"asked"}', id=ulid_text(bytes(16)), owner=ulid_text(bytes(16))),
        item("highest ids", "Redaction", now, now, '{"reason":"asked"}', id=ulid_text(b"\xff" * 16), owner=ulid_text(b"\xff" * 16)),
        item("longer than one hash block", "Node", now, now, long_text),
        item("empty bytes", "RawResponse", now, now),
        item("zero byte", "RawResponse", now, now, data=b"\x00"),
        item("bytes that are not UTF-8", "RawResponse", now, now, data=bytes(range(256))),
        item("bytes equal to a document", "RawResponse", now, now, data=b'{"text":"Hello","type":"text"}'),
        item("non-ASCII type", "Überschrift", now, now, "{}"),
    ]


def record_step(previous: str | None, kind: str, data: str, shared=False, group=None, derived=None, superseded=None) -> dict:
    links = {"groupId": group, "derivedFrom": derived, "supersededBy": superseded}
    document = {"type": kind, "data": json.loads(data), "shared": shared, **links}
    step = {"type": kind, "data": data, "shared": shared, **links, "previous": previous}
    return step | {"canonical": canonical_ascii(document), "hash": record_hash(document, previous)}


def record_chain(name: str, steps: list[dict]) -> dict:
    chain = []
    for step in steps:
        chain.append(record_step(chain[-1]["hash"] if chain else None, **step))
    return {"name": name, "steps": chain}


def bare_chain(name: str, documents: list[str]) -> dict:
    steps, previous = [], None
    for document in documents:
        hash = record_hash(json.loads(document), previous)
        steps.append({"document": document, "canonical": canonical_ascii(json.loads(document)), "previous": previous, "hash": hash})
        previous = hash
    return {"name": name, "steps": steps}


def records() -> dict:
    ten, fifteen = '{"amount":10.0,"description":"Caf\\u00e9"}', '{"amount":15.0,"description":"Caf\\u00e9"}'
    coffee = {"kind": "Transaction", "data": ten}
    tool = {"kind": "Tool", "data": '{"name":"search","limits":{"timeoutSeconds":30,"rate":0.5},"tags":[]}'}
    group, source, successor = sample_ulid("group"), sample_ulid("source"), sample_ulid("successor")
    linked = tool | {"group": group, "derived": source}
    chains = [
        record_chain("revert differs from the original", [coffee, coffee | {"data": fifteen}, coffee]),
        record_chain("unchanged document still moves the chain", [coffee, coffee, coffee]),
        record_chain("links and sharing", [tool, tool | {"group": group}, linked, linked | {"shared": True}, linked | {"superseded": successor}]),
        record_chain("empty data", [{"kind": "Project", "data": "{}"}]),
        record_chain("type matters", [{"kind": "Actor", "data": "{}"}]),
        record_chain("integer is not float", [coffee | {"data": '{"amount":10}'}, coffee | {"data": '{"amount":10.0}'}]),
        record_chain("non-ASCII", [{"kind": "Artifact", "data": '{"title":"日本 😀","κ":"\\u007f\\u2028","\\ud83d\\ude00":1,"\\uffee":2}'}]),
        record_chain("separator in the data", [{"kind": "Artifact", "data": '{"title":"a|b|"}'}]),
    ]
    odd = ["null", "true", "[]", "{}", '""', '"|"', "0", "-1.5", '[1,{"b":null,"a":[]}]']
    return {"chains": chains, "bare": [bare_chain("M7", [ten, fifteen, ten]), bare_chain("any JSON value", odd)]}


MERKLE_RULE = (
    "Leaf i (from 0) of every tree has id = first 16 bytes of SHA-256(ASCII 'skein leaf id i') and "
    "itemHash = SHA-256(ASCII 'skein leaf hash i'), with i in decimal, e.g. 'skein leaf id 0'."
)
MERKLE_PROOFS = {n: range(n) for n in range(1, 10)} | {13: (0, 7, 8, 12), 17: (0, 15, 16), 64: (0, 31, 63), 100: (0, 63, 64, 95, 96, 99)}


def merkle_sample(index: int) -> tuple[bytes, bytes]:
    return sha256(b"skein leaf id %d" % index)[:16], sha256(b"skein leaf hash %d" % index)


def merkle_leaves(count: int, start: int = 0) -> list[bytes]:
    return [merkle_leaf(b"".join(merkle_sample(index))) for index in range(start, start + count)]


def merkle_proof(count: int, index: int) -> dict:
    leaves = merkle_leaves(count)
    path = merkle_path(leaves, index)
    assert merkle_root_from_path(leaves[index], index, count, path) == merkle_root(leaves)
    return {"size": count, "index": index, "path": [sibling.hex() for sibling in path]}


def merkle() -> dict:
    samples = [(index, *merkle_sample(index)) for index in range(5)]
    return {
        "rule": MERKLE_RULE,
        "leaves": [
            {"index": index, "id": id.hex(), "itemHash": hash.hex(), "leaf": merkle_leaf(id + hash).hex()} for index, id, hash in samples
        ],
        "roots": [{"size": size, "root": merkle_root(merkle_leaves(size)).hex()} for size in [*range(1, 18), 64, 100]],
        "proofs": [merkle_proof(size, index) for size, indexes in MERKLE_PROOFS.items() for index in indexes],
    }


def seal(owner: str, first: tuple, last: tuple, count: int, root: bytes, previous: str | None) -> dict:
    preimage = seal_preimage(owner, first, last, count, root, bytes.fromhex(previous or ""))
    cursors = {name: {"tx": cursor[0], "position": cursor[1]} for name, cursor in (("first", first), ("last", last))}
    case = {"owner": owner, "ownerHex": ulid_bytes(owner).hex(), **cursors, "count": count, "root": root.hex(), "previous": previous}
    return case | {"preimage": preimage.hex(), "hash": sha256(preimage).hex()}


def seal_chain(owner: str, counts: list[int]) -> list[dict]:
    chain, taken = [], 0
    for count in counts:
        root = merkle_root(merkle_leaves(count, taken))
        previous = chain[-1]["hash"] if chain else None
        chain.append(seal(owner, (10 + taken, 0), (10 + taken + count - 1, count - 1), count, root, previous))
        taken += count
    return chain


def head(chains: list[list[dict]]) -> dict:
    last = {chain[-1]["owner"]: chain[-1]["hash"] for chain in chains}
    return {"seals": [{"owner": owner, "hash": hash} for owner, hash in last.items()], "head": head_hash(last)}


def seals() -> dict:
    owner_b, lowest, highest = sample_ulid("owner B"), ulid_text(bytes(16)), ulid_text(b"\xff" * 16)
    chains = [
        seal_chain(sample_ulid("owner A"), [1, 2, 7, 64]),
        seal_chain(owner_b, [3]),
        seal_chain(highest, [5, 1]),
        seal_chain(lowest, [1]),
        [seal(owner_b, (0, 0), (I64_MAX, I64_MAX), I64_MAX, b"\xff" * 32, "00" * 32)],
    ]
    a, b, high, low, _ = chains
    return {"chains": chains, "heads": [head(some) for some in ([], [a], [a[:1]], [a, b], [b, a], [high, a, low, b])]}


def node(name: str, kind: str, content: str, parents: list[str], created_at: str, author: str, headers=None, body=b"") -> dict:
    """`headers` is JSON text; a node has a raw response exactly when headers are given."""
    raw = None if headers is None else raw_response(json.loads(headers), body)
    preimage = node_preimage(json.loads(content), parents, created_at, author, raw)
    response = raw and {"headers": headers, "bodyHex": body.hex(), "rawHex": raw.hex(), "rawHash": sha256(raw).hex()}
    case = {"name": name, "authorType": kind, "content": content, "canonicalContent": canonical_unicode(json.loads(content))}
    case |= {"parents": parents, "createdAt": created_at, "createdAtMs": time_ms(created_at), "author": author}
    return case | {"response": response, "preimage": preimage, "contentHash": sha256(preimage.encode()).hex()}


NODE_MIXED = (
    '{"type":"mixed","blocks":[{"type":"text","text":"Schöne Grüße 😀"},{"type":"image","ref":"blob:1","mimeType":"image/png",'
    '"width":640,"height":480,"altText":"日本"},{"type":"audio","ref":"blob:2","mimeType":"audio/wav","durationMs":1500}]}'
)
NODE_STREAM = b'data: {"delta":"Hel"}\n\ndata: {"delta":"lo"}\n\ndata: [DONE]\n\n'


def nodes() -> list:
    hello, hi = '{"text":"Hello","type":"text"}', '{"type":"text","text":"Hi there"}'
    at, later = "2025-01-15T10:30:00.000Z", "2025-01-15T10:30:01.000Z"
    system, importer = sample_ulid("system"), sample_ulid("imported (unverified)")
    three = [sha256(b"parent %d" % n).hex() for n in (1, 2, 3)]
    headers = '{"x-request-id":"req_1"}'
    return [
        node("human root", "human", hello, [], at, HUMAN),
        node("model child", "model", hi, [HUMAN_ROOT], later, MODEL, headers, b'{"id":"r1"}'),
        node("human child", "human", '{"text":"And you?","type":"text"}', [MODEL_CHILD], "2025-01-15T10:30:02.500Z", HUMAN),
        node("system author", "system", '{"text":"Folded.","type":"text"}', [MODEL_CHILD], later, system),
        node("imported model text has no response", "imported", hi, [HUMAN_ROOT], later, importer),
        node("several parents are sorted", "human", hello, three, at, HUMAN),
        node("several parents in another order", "human", hello, three[::-1], at, HUMAN),
        node("model with several parents", "model", hi, [*three, HUMAN_ROOT], later, MODEL, headers, b"{}"),
        node("mixed content", "human", NODE_MIXED, [HUMAN_ROOT], "2024-02-29T23:59:59.999Z", HUMAN),
        node("mixed content of a model", "model", NODE_MIXED, [HUMAN_ROOT], later, MODEL, headers, "ü".encode()),
        node("delete and line separator stay plain", "human", '{"type":"text","text":"\\u007f\\u2028\\u0001\\n"}', [], at, HUMAN),
        node("delimiter in the text", "human", '{"type":"text","text":"a=|d|=b"}', [HUMAN_ROOT], at, HUMAN),
        node("empty text", "human", '{"type":"text","text":""}', [], at, HUMAN),
        node("before 1970", "imported", hello, [], "1969-07-20T20:17:40.123Z", importer),
        node("headers are sorted", "model", hi, [HUMAN_ROOT], later, MODEL, '{"x-b":"2","content-type":"text/plain","x-a":"1"}', b"ok"),
        node("non-ASCII header", "model", hi, [HUMAN_ROOT], later, MODEL, '{"x-note":"Caf\\u00e9"}', b"ok"),
        node("empty response", "model", hi, [HUMAN_ROOT], later, MODEL, "{}"),
        node("streamed body", "model", hi, [HUMAN_ROOT], later, MODEL, '{"content-type":"text/event-stream"}', NODE_STREAM),
        node("body that is not UTF-8", "model", hi, [HUMAN_ROOT], later, MODEL, headers, b"\x1f\x8b\xff\x00\n\n"),
        node("whole float in the content", "human", '{"type":"image","ref":"r","mimeType":"image/png","width":640.0,"height":480}', [], at, HUMAN),
    ]


FRAGMENT_TEXTS = [
    *("hello world", "", " ", "a", "A", "b", "\n", "0", "Hello world", "hello world ", "hello\nworld", "Hello, world!"),
    *("- a list item", "# Heading", "> quoted", "```rust\nfn main() {}\n```", "see ^10lp", "a\tb", "a\u0000b", "x" * 1000),
    *("é", "e\u0301", "Café", "日本語", "русский", "😀", "👩\u200d👩\u200d👧", "\u2028", "\u007f", "𝄞 clef", "ß", "العربية"),
]
FRAGMENT_NUMBERS = (0, 1, 35, 36, 1295, 1296, 46655, 46656, 65535)


def fragments_at_edges() -> list[str]:
    """For each number where the width or padding changes, the first 'fragment n' that hashes to it."""
    wanted, found, n = set(FRAGMENT_NUMBERS), {}, 0
    while wanted:
        text = f"fragment {n}"
        if fragment_number(text) in wanted:
            found[fragment_number(text)] = text
            wanted.discard(fragment_number(text))
        n += 1
    return [found[number] for number in FRAGMENT_NUMBERS]


def fragments() -> list:
    return [
        {"content": text, "sha256": sha256(text.encode()).hex(), "id": fragment_id(text)}
        for text in [*FRAGMENT_TEXTS, *fragments_at_edges()]
    ]


XXH64_INPUTS = [
    *("{}", "[]", "null", '""', '{"query":"quarterly report"}', '{"b":1,"a":2}', '{"limit":10,"query":"x"}', '{"limit":10.0,"query":"x"}'),
    *('{"rate":1e-7,"big":1e16}', '{"path":"notes/a","recursive":true,"exclude":["*.o","*.d"],"depth":null}', json.dumps({"text": "x" * 500})),
    *('{"query":"Café"}', '{"query":"Caf\\u00e9"}', '{"query":"日本語 😀"}', '{"\\ud83d\\ude00":1,"\\uffee":2}', '{"q":"\\u007f\\u2028"}'),
]


def xxh64_vectors() -> dict:
    canonicals = [(text, canonical_unicode(json.loads(text))) for text in XXH64_INPUTS]
    stream = b"".join(sha256(b"skein xxh64 %d" % n) for n in range(8))
    lengths = [*range(0, 72), 95, 96, 97, 127, 128, 255, 256]
    return {
        "inputs": [{"input": text, "canonical": form, "hash": xxh64(form.encode())} for text, form in canonicals],
        "bytes": [{"hex": stream[:length].hex(), "hash": xxh64(stream[:length])} for length in lengths],
    }


TIME_TEXTS = [
    *("1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.001Z", "1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.000Z"),
    *("1969-12-31T00:00:00.000Z", "1969-07-20T20:17:40.123Z", "1900-02-28T23:59:59.999Z", "1900-03-01T00:00:00.000Z"),
    *("2000-02-29T12:00:00.500Z", "2024-02-29T23:59:59.999Z", "2024-03-01T00:00:00.000Z", "2023-02-28T23:59:59.999Z"),
    *("2100-02-28T23:59:59.999Z", "2100-03-01T00:00:00.000Z", "2024-12-31T23:59:59.999Z", "2025-01-01T00:00:00.000Z"),
    *("2025-01-15T10:30:00.000Z", "2025-01-15T10:30:01.000Z", "2025-01-15T10:30:00.010Z", "2001-09-09T01:46:40.000Z"),
    *("2038-01-19T03:14:07.999Z", "2038-01-19T03:14:08.000Z", "1901-12-13T20:45:52.000Z", "2016-12-31T23:59:59.999Z"),
    *("1582-10-15T00:00:00.000Z", "1582-10-04T23:59:59.999Z", "1600-02-29T00:00:00.000Z", "0001-01-01T00:00:00.000Z"),
    *("0004-02-29T01:02:03.004Z", "0999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z", "9999-01-01T00:00:00.000Z"),
]
TIME_NUMBERS = [1, 999, 1000, 1001, -1000, -1001, 86399999, 86400000, -86400000, -86400001, 946684799999, 4102444800000]


def times() -> list:
    cases = [(text, time_ms(text)) for text in TIME_TEXTS] + [(time_text(ms), ms) for ms in TIME_NUMBERS]
    assert all(time_text(ms) == text and time_ms(text) == ms for text, ms in cases)
    return [{"text": text, "ms": ms} for text, ms in cases]


# --- Files -----------------------------------------------------------------------------------------------

FILES = {
    "canonical.json": canonical,
    "floats.json": floats,
    "fragments.json": fragments,
    "items.json": items,
    "merkle.json": merkle,
    "nodes.json": nodes,
    "records.json": records,
    "seals.json": seals,
    "times.json": times,
    "xxh64.json": xxh64_vectors,
}


def rendered() -> dict[str, str]:
    return {name: json.dumps(build(), sort_keys=True, indent=1) + "\n" for name, build in FILES.items()}


def differing(files: dict[str, str]) -> list[str]:
    """Files that are missing or hold something else."""
    present = {path.name: path.read_bytes() for path in GOLDEN.glob("*.json")}
    return [name for name, text in files.items() if present.get(name) != text.encode()]


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print("usage: golden_vectors.py [--check]", file=sys.stderr)
        return 2
    assert_published_vectors()
    files = rendered()
    if arguments == ["--check"]:
        wrong = differing(files)
        for name in wrong:
            print(f"{name} differs from what this script computes", file=sys.stderr)
        return 1 if wrong else 0
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (GOLDEN / name).write_bytes(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
