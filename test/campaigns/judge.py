"""An independent judgement of metadata documents and manifests, written from the contract's text alone.

Reads lines of JSON {"kind": "metadata" | "manifest", "bytes": base64, "id": id or absent}; answers each with one word:
for metadata "malformed" (not strict JSON), "violation" or "ok"; for a manifest "invalid" or "ok".
"""

import base64
import json
import re
import sys

ID = re.compile(r"[0-9a-f]{32}")
KEY = re.compile(r"[a-z][a-z0-9_]{0,63}")
UINT = re.compile(r"0|[1-9][0-9]*")
HEX64 = re.compile(r"[0-9a-f]{64}")
WIDTHS = {sign + "int" + bits: int(bits) // 8 for sign in ("", "u") for bits in ("8", "16", "32", "64")}
SNAPSHOT = {
    "snapshot_id", "parent_id", "source_namespace", "source_version", "source_consistency", "scope",
    "started_at_ns", "finished_at_ns", "resolution", "coverage", "fingerprint",
}
COVERAGE = {"status", "expected_records", "returned_records", "failure_reasons"}
FINGERPRINT = {
    "algorithm_name", "algorithm_id", "context_id", "normalization_profile_id", "source_schema_id", "mode",
}
ENTRY = {"file", "dtype", "count", "byte_length", "endianness", "sha256"}
TOP = {"format": "pipewhy.snapshot", "version": 1, "array_schema_version": "1.0"}


class Number(str):
    """A number as it is spelled."""


def strict(data):
    def once(pairs):
        if len({name for name, _ in pairs}) != len(pairs):
            raise ValueError("twice")
        return dict(pairs)

    def never(name):
        raise ValueError(name)

    return json.loads(
        data.decode("utf-8"), object_pairs_hook=once, parse_constant=never, parse_float=Number, parse_int=Number
    )


def text(value):
    if type(value) is not str or value == "":
        return False
    return not any(0xD800 <= ord(character) <= 0xDFFF for character in value)


def matches(pattern, value):
    return type(value) is str and pattern.fullmatch(value) is not None


def uint64(value):
    return matches(UINT, value) and int(value) < 2**64


def members(value, names, optional=()):
    return type(value) is dict and set(names) - set(optional) <= set(value) <= set(names)


def coverage_holds(coverage):
    if not members(coverage, COVERAGE):
        return False
    expected, returned, reasons = coverage["expected_records"], coverage["returned_records"], coverage["failure_reasons"]
    if not (expected is None or uint64(expected)) or not uint64(returned):
        return False
    if type(reasons) is not list or not all(text(reason) for reason in reasons):
        return False
    if coverage["status"] == "COMPLETE":
        return expected is not None and int(expected) == int(returned) and reasons == []
    if coverage["status"] == "PARTIAL":
        return reasons != [] and (expected is None or int(returned) <= int(expected))
    return coverage["status"] == "UNAVAILABLE" and reasons != [] and int(returned) == 0


def snapshot_holds(snapshot, optional=()):
    if not members(snapshot, SNAPSHOT, optional):
        return False
    parent = snapshot.get("parent_id")
    return (
        matches(ID, snapshot["snapshot_id"])
        and (parent is None or matches(ID, parent) and parent != snapshot["snapshot_id"])
        and all(text(snapshot[name]) for name in ("source_namespace", "source_version", "source_consistency", "scope"))
        and uint64(snapshot["started_at_ns"])
        and uint64(snapshot["finished_at_ns"])
        and int(snapshot["started_at_ns"]) <= int(snapshot["finished_at_ns"])
        and snapshot["resolution"] in ("dataset", "record", "value")
        and coverage_holds(snapshot["coverage"])
        and members(snapshot["fingerprint"], FINGERPRINT)
        and all(text(value) for value in snapshot["fingerprint"].values())
    )


def entry_holds(key, entry, draft):
    if not matches(KEY, key) or not members(entry, ENTRY, ENTRY - {"dtype"} if draft else ()):
        return False
    if type(entry["dtype"]) is not str or entry["dtype"] not in WIDTHS:
        return False
    for name in ("count", "byte_length"):
        if name in entry and not uint64(entry[name]):
            return False
    if "count" in entry and "byte_length" in entry:
        if int(entry["count"]) * WIDTHS[entry["dtype"]] != int(entry["byte_length"]):
            return False
    return (
        ("file" not in entry or entry["file"] == f"array-{key}.bin")
        and ("endianness" not in entry or entry["endianness"] == "little")
        and ("sha256" not in entry or matches(HEX64, entry["sha256"]))
    )


def top_holds(document, draft):
    if not members(document, {*TOP, "snapshot", "arrays"}, TOP if draft else ()):
        return False
    for name, value in TOP.items():
        if name in document:
            found = document[name]
            if name == "version":
                if type(found) is not Number or found != "1":
                    return False
            elif type(found) is not str or found != value:
                return False
    return (
        snapshot_holds(document["snapshot"], ("parent_id",) if draft else ())
        and type(document["arrays"]) is dict
        and all(entry_holds(key, entry, draft) for key, entry in document["arrays"].items())
    )


def canonical(data):
    value = json.loads(data.decode("utf-8"))
    spelled = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return spelled.encode("utf-8") == data


def judge(kind, data, identity):
    try:
        document = strict(data)
    except (ValueError, RecursionError):
        return "malformed" if kind == "metadata" else "invalid"
    if kind == "metadata":
        return "ok" if top_holds(document, True) else "violation"
    try:
        holds = canonical(data) and top_holds(document, False) and document["snapshot"]["snapshot_id"] == identity
    except (ValueError, RecursionError):
        holds = False
    return "ok" if holds else "invalid"


for line in sys.stdin:
    request = json.loads(line)
    print(judge(request["kind"], base64.b64decode(request["bytes"]), request.get("id")), flush=True)
