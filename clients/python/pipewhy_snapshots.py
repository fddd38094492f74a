"""A client of the PipeWhy snapshot service in one file to copy: Python 3.9 or newer and its standard library alone.

    from pipewhy_snapshots import SnapshotClient

    client = SnapshotClient("http://127.0.0.1:8750")
    client.publish(metadata, {"ids": numpy_array_or_array_array_or_bytes})
    snapshot = client.open(metadata["snapshot_id"])     # every digest proven on arrival
    snapshot.arrays["ids"]                              # numpy where it is installed, else a memoryview; read-only

Names are those of the contract's own Python API (PW-07.18). What arrives is believed only after its SHA-256 was computed
here. Answers are read within bounds of size and time; redirects are not followed and no proxy of the environment is
used. A client may be shared by threads: each request has a connection of its own.
"""

from __future__ import annotations

import array as _array
import ast
import base64
import hashlib
import http.client
import json
import random
import re
import secrets
import socket
import ssl
import sys
import threading
import time
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Optional, Union
from urllib.parse import urlencode, urlsplit

__all__ = [
    "ChecksumMismatchError",
    "ConnectionFailedError",
    "ContractViolationError",
    "Coverage",
    "Fingerprint",
    "OutcomeUnknownError",
    "ProtocolError",
    "Publication",
    "Snapshot",
    "SnapshotClient",
    "SnapshotError",
    "SnapshotExistsError",
    "SnapshotMetadata",
    "SnapshotNotFoundError",
    "StorageIntegrityError",
    "Violation",
]

# The eight dtypes and the codes of `struct`, whose sizes are the same on every host (PW-07.02).
_CODES = {
    "int8": "b", "int16": "h", "int32": "i", "int64": "q",
    "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
}  # fmt: skip
_WIDTHS = {dtype: int(dtype.lstrip("uint")) // 8 for dtype in _CODES}
# How a .npy file names them.
_DESCRIPTIONS = {("|" if width == 1 else "<") + dtype[0] + str(width): dtype for dtype, width in _WIDTHS.items()}
_ID = re.compile(r"[0-9a-f]{32}")
_KEY = re.compile(r"[a-z][a-z0-9_]{0,63}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_UINT64 = re.compile(r"0|[1-9][0-9]{0,19}")
_BLOCK = 1 << 20
_MIB = 1 << 20
_MAX_DOCUMENT = 64 * _MIB
_MAX_PROBLEM = 16 * _MIB
_MAX_INTERIM = 16
# A body must bring as many bytes in each `timeout` that is spent waiting for it.
_PACE = 1024


class Violation(NamedTuple):
    """One broken rule: `path` is dotted, as in `snapshot.coverage.status`."""

    path: str
    message: str


class SnapshotError(Exception):
    """The base of all errors. `code` is stable; `errors` lists every violation that a refusal names."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: Optional[int] = None,
        problem: Optional[Mapping[str, Any]] = None,
        errors: Iterable[Violation] = (),
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.problem: Mapping[str, Any] = problem or {}
        self.errors = tuple(errors)
        self.retry_after = retry_after

    def __str__(self) -> str:
        shown = "".join(f"\n  {path}: {message}" for path, message in self.errors[:20])
        return f"{self.args[0]} [{self.code}]{shown}"


class StorageIntegrityError(SnapshotError):
    """Stored bytes do not prove what the manifest claims (PW-07.03)."""


class ChecksumMismatchError(StorageIntegrityError):
    """Bytes arrived that are not the ones their SHA-256 stands for."""


class SnapshotNotFoundError(SnapshotError, FileNotFoundError):
    """Nothing is published under this id; there is no latest-version or live-source fallback (PW-07.18)."""


class SnapshotExistsError(SnapshotError, FileExistsError):
    """The id is taken; what is stored stays as it is. `problem["manifest_sha256"]` says what that is."""


class ContractViolationError(SnapshotError, ValueError):
    """The metadata or an array breaks a rule; `errors` has every path."""


class ConnectionFailedError(SnapshotError, ConnectionError):
    """No connection, one that broke, or no answer in time (`code` is then `timeout`)."""


class ProtocolError(SnapshotError):
    """An answer that is not what the contract says: not from a snapshot service, or changed on the way."""


class OutcomeUnknownError(SnapshotError):
    """All was sent and no answer could be had: look with `open(id)` before publishing under another id."""


_CLASSES = {
    "snapshot_not_found": SnapshotNotFoundError,
    "array_not_found": SnapshotNotFoundError,
    "snapshot_exists": SnapshotExistsError,
    "storage_integrity": StorageIntegrityError,
    "contract_violation": ContractViolationError,
    "array_mismatch": ContractViolationError,
    "fingerprint_context_mismatch": ContractViolationError,
    "parent_not_complete": ContractViolationError,
    "invalid_snapshot_id": ContractViolationError,
}


def _violation(path: str, message: str) -> ContractViolationError:
    return ContractViolationError(
        f"{path}: {message}", code="contract_violation", errors=[Violation(path, message)]
    )


def _against(message: str, status: Optional[int] = None, retry_after: Optional[float] = None) -> ProtocolError:
    return ProtocolError(message, code="protocol_violation", status=status, retry_after=retry_after)


@dataclass(frozen=True)
class Coverage:
    """How much of the scope was captured (PW-07.01). `expected_records=None` is unknown, which is not 0."""

    status: str
    expected_records: Optional[int]
    returned_records: int
    failure_reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fingerprint:
    """The full identity of the fingerprints' context, as declared at the service (`GET /contexts`)."""

    algorithm_name: str
    algorithm_id: str
    context_id: str
    normalization_profile_id: str
    source_schema_id: str
    mode: str


@dataclass(frozen=True)
class SnapshotMetadata:
    """What was captured (PW-07.01). Times are whole nanoseconds since 1970; numbers are Python integers."""

    snapshot_id: str
    source_namespace: str
    source_version: str
    source_consistency: str
    scope: str
    started_at_ns: int
    finished_at_ns: int
    resolution: str
    coverage: Coverage
    fingerprint: Fingerprint
    parent_id: Optional[str] = None

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> SnapshotMetadata:
        """From what stands under `snapshot` in a manifest or a metadata document."""
        given = dict(document)
        coverage = dict(given["coverage"])
        for name in ("expected_records", "returned_records"):
            coverage[name] = None if coverage[name] is None else int(coverage[name])
        coverage["failure_reasons"] = tuple(coverage["failure_reasons"])
        for name in ("started_at_ns", "finished_at_ns"):
            given[name] = int(given[name])
        given["coverage"] = Coverage(**coverage)
        given["fingerprint"] = Fingerprint(**given["fingerprint"])
        return cls(**given)


def _plain(value: Any) -> Any:
    """Metadata as JSON: dataclasses by field, tuples as lists."""
    if isinstance(value, (SnapshotMetadata, Coverage, Fingerprint)):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(member) for name, member in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


# Numbers travel as decimal strings so that no JSON library rounds them; booleans and floats are no numbers (PW-07.01).
_NUMBERS = (("started_at_ns",), ("finished_at_ns",), ("coverage", "expected_records"), ("coverage", "returned_records"))


def _snapshot_of(metadata: Any) -> dict[str, Any]:
    snapshot = _plain(metadata)
    if not isinstance(snapshot, dict):
        raise _violation("snapshot", "must be a SnapshotMetadata or a mapping with its fields")
    snapshot.setdefault("parent_id", None)
    for *outer, name in _NUMBERS:
        holder = snapshot.get(outer[0]) if outer else snapshot
        if isinstance(holder, dict) and isinstance(holder.get(name), (int, float)):
            number, path = holder[name], ".".join(["snapshot", *outer, name])
            if isinstance(number, (bool, float)) or not 0 <= number < 1 << 64:
                raise _violation(path, "must be an integer from 0 to 18446744073709551615")
            holder[name] = str(number)
    return snapshot


def _canonical(document: Any) -> bytes:
    """The one spelling of a document (PW-07.01)."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


@dataclass(frozen=True)
class Snapshot:
    """A snapshot in memory, every byte proven. `arrays` are read-only copies of one's own."""

    metadata: SnapshotMetadata
    manifest: Mapping[str, Any]
    manifest_bytes: bytes
    manifest_sha256: str
    arrays: Mapping[str, Any]


@dataclass(frozen=True)
class Publication:
    """`published`: answered by the service, durable. `confirmed`: what is stored was proven to be exactly this."""

    snapshot_id: str
    manifest_sha256: str
    outcome: str


@dataclass
class _Source:
    """One array of a publication: its dtype (None: the document says), its bytes, and whether they can be had again."""

    key: str
    dtype: Optional[str]
    byte_length: Optional[int]
    blocks: Callable[[], Iterable[Any]]
    replayable: bool = True
    npy_header: bytes = b""
    sha256: Optional[str] = field(default=None)

    def checked(self) -> Iterator[Any]:
        """The blocks, held to their length; hashes on the way."""
        digest, length = hashlib.sha256(), 0
        blocks = iter(self.blocks())
        while True:
            try:
                block = next(blocks, None)
            except Exception as error:
                raise SnapshotError(f"arrays.{self.key}: its source failed: {error}", code="source_failed") from error
            if block is None:
                break
            length += len(block)
            if self.byte_length is not None and length > self.byte_length:
                break
            digest.update(block)
            yield block
        if self.byte_length not in (None, length):
            raise _violation(f"arrays.{self.key}", f"must be {self.byte_length} bytes; its source gave another number")
        self.byte_length, self.sha256 = length, digest.hexdigest()


@dataclass
class _Sent:
    """What became of a body: only once the last byte was handed over can the service have the whole snapshot."""

    complete: bool = False


def _unknown(snapshot_id: str) -> OutcomeUnknownError:
    return OutcomeUnknownError(
        f"Snapshot {snapshot_id} was sent, but whether it is published is unknown. Look whether it is there before "
        "publishing it under another id.",
        code="outcome_unknown",
    )


def _source(key: str, given: Any) -> _Source:
    """numpy, array.array, memoryview, bytes, a path, or (dtype, bytes | path | iterable of bytes)."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise _violation(f"arrays.{key}", "is no array key: expected [a-z][a-z0-9_]{0,63}")
    if isinstance(given, tuple):
        dtype, data = given
        if dtype not in _CODES:
            raise _violation(f"arrays.{key}.dtype", f"must be one of {', '.join(_CODES)}")
        if isinstance(data, (str, Path)):
            return _file(key, dtype, Path(data))
        if isinstance(data, (bytes, bytearray, memoryview)):
            return _memory(key, dtype, memoryview(data).cast("B"))
        return _Source(key, dtype, None, lambda: data, replayable=False)
    if isinstance(given, (str, Path)):
        return _file(key, None, Path(given))
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(given, numpy.ndarray):
        name = given.dtype.name
        if name not in _CODES or given.ndim != 1:
            raise _violation(f"arrays.{key}", f"must be one-dimensional integers of 8 to 64 bits; found {given.ndim}-D {name}")
        little = numpy.ascontiguousarray(given, dtype=given.dtype.newbyteorder("<"))
        return _memory(key, name, memoryview(little.view(numpy.uint8)))
    try:
        view = memoryview(given)
    except TypeError:
        raise _violation(f"arrays.{key}", "must be an array of integers, bytes, a path, or (dtype, data)") from None
    code = view.format.lstrip("@=")
    if code not in "bhilqBHILQ" or view.ndim != 1 or not view.contiguous:
        raise _violation(f"arrays.{key}", f"must be contiguous, one-dimensional integers; found the format {view.format!r}")
    dtype = ("int" if code.islower() else "uint") + str(view.itemsize * 8)
    if sys.byteorder == "big" and view.itemsize > 1:
        swapped = _array.array(_CODES[dtype], view.tobytes())
        swapped.byteswap()
        view = memoryview(swapped)
    return _memory(key, dtype, view.cast("B"))


def _memory(key: str, dtype: str, view: memoryview) -> _Source:
    return _Source(key, dtype, len(view), lambda: (view[at : at + _BLOCK] for at in range(0, len(view), _BLOCK)))


def _file(key: str, dtype: Optional[str], path: Path) -> _Source:
    """A file of raw little-endian elements, or a .npy file, whose header says the dtype."""
    with path.open("rb") as file:
        start, found = 0, dtype
        if path.suffix == ".npy":
            found, start = _npy_header(key, file)
            if dtype not in (None, found):
                raise _violation(f"arrays.{key}.dtype", f"is given as {dtype}, but {path.name} holds {found}")
        file.seek(0)
        header = file.read(start)

    def blocks() -> Iterator[bytes]:
        with path.open("rb") as file:
            file.seek(start)
            while block := file.read(_BLOCK):
                yield block

    return _Source(key, found, path.stat().st_size - start, blocks, npy_header=header)


def _npy_header(key: str, file: Any) -> tuple[str, int]:
    prefix = file.read(8)
    size = {1: 2, 2: 4, 3: 4}.get(prefix[6] if prefix[:6] == b"\x93NUMPY" and len(prefix) == 8 else 0)
    if size is None:
        raise _violation(f"arrays.{key}", "is named .npy and is no .npy file; save it with numpy.save")
    length = int.from_bytes(file.read(size), "little")
    try:
        header = ast.literal_eval(file.read(min(length, 65_536)).decode("utf-8"))
        (_,) = header["shape"]
        return _DESCRIPTIONS[header["descr"]], 8 + size + length
    except Exception:
        raise _violation(f"arrays.{key}", "must hold a one-dimensional, little-endian array of integers") from None


def _owned(dtype: str, data: bytearray) -> Any:
    """These little-endian bytes as a read-only array: numpy where it is installed, else a memoryview."""
    view = memoryview(data).toreadonly()
    try:
        import numpy
    except ImportError:
        if sys.byteorder == "big" and _WIDTHS[dtype] > 1:
            swapped = _array.array(_CODES[dtype], data)
            swapped.byteswap()
            return memoryview(swapped).toreadonly()
        return view.cast(_CODES[dtype])
    if not data:
        view = memoryview(bytes(8))
    return numpy.frombuffer(view, dtype=numpy.dtype(dtype).newbyteorder("<"))[: len(data) // _WIDTHS[dtype]]


class _Response(http.client.HTTPResponse):
    """Gives up on a server that sends interim answers for ever."""

    interim = 0

    def _read_status(self) -> Any:
        self.interim += 1
        if self.interim > _MAX_INTERIM:
            raise _against("Interim answers came instead of one that counts.")
        return super()._read_status()  # type: ignore[misc]


class _Answer:
    """The head of an answer and a bounded, paced reading of its body."""

    def __init__(self, response: http.client.HTTPResponse, timeout: float, close: Callable[[], None]) -> None:
        self.status = response.status
        self.close = close
        self._response = response
        self._timeout = timeout

    def header(self, name: str) -> Optional[str]:
        values = self._response.headers.get_all(name) or []
        if len(values) > 1:
            raise _against(f"The header {name} came {len(values)} times; it may stand once.", self.status)
        return values[0].strip() if values else None

    def media_type(self) -> str:
        return (self.header("Content-Type") or "").split(";")[0].strip().lower()

    def expect(self, media_type: str) -> None:
        if self.media_type() != media_type or self.header("Content-Encoding") is not None:
            raise _against(
                f"Expected {media_type} with status {self.status}, found {self.media_type() or 'no Content-Type'}. "
                "Check that the URL is that of a snapshot service.",
                self.status,
            )

    def digest(self) -> str:
        found = re.findall(r"sha-256=:([A-Za-z0-9+/]{43}=):", ", ".join(self._response.headers.get_all("Repr-Digest") or []))
        if len(found) != 1:
            raise _against("The answer carries no SHA-256 in Repr-Digest, so its bytes cannot be proven.", self.status)
        return base64.b64decode(found[0]).hex()

    def body(self, most: int, exactly: Optional[int] = None) -> bytearray:
        """The whole body. Raises `ProtocolError` as soon as it is longer than `most`."""
        declared = self.header("Content-Length")
        expected = exactly if exactly is not None else int(declared) if (declared or "").isdigit() else None
        if declared is not None and declared != str(expected) or (expected or 0) > most:
            raise _against(f"The answer announces {declared} bytes, which is not what such an answer holds.", self.status)
        data, waited = bytearray(), 0.0
        while True:
            began = time.monotonic()
            block = self._response.read1(min(_BLOCK, most + 1 - len(data)))
            waited += time.monotonic() - began
            data += block
            if len(data) > most:
                raise _against(f"The answer goes on after the {most} bytes that it may have.", self.status)
            if not block:
                break
            if waited > self._timeout * (1 + len(data) / _PACE):
                raise ConnectionFailedError(f"{len(data)} bytes in {waited:.0f} s are too few to wait for.", code="timeout")
        if expected not in (None, len(data)):
            raise ConnectionFailedError(f"The answer was cut short after {len(data)} bytes.", code="connection_failed")
        return data


def _retry_after(text: Optional[str]) -> Optional[float]:
    return float(text) if text is not None and text.isdigit() else None


_TRANSIENT = frozenset(["connection_failed", "unavailable"])


class SnapshotClient:
    """Talks to one service. Every method raises `SnapshotError`; missing ids are `FileNotFoundError` too.

    `timeout` bounds the seconds without a byte, `answer_timeout` those until an answer begins, in which the service proves
    or stores. `attempts` counts the tries in all, after a lost connection or while the service is unavailable.
    """

    def __init__(
        self,
        url: str,
        *,
        token: Optional[str] = None,
        timeout: float = 60.0,
        answer_timeout: float = 300.0,
        attempts: int = 4,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
            raise ValueError(f"expected the http:// or https:// URL of a service, without user or query; found {url!r}")
        if token is not None and not re.fullmatch(r"[\x21-\x7e]+", token):
            raise ValueError("the token must be visible ASCII without blanks, as a header carries it")
        self._parts = parts
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._timeout = timeout
        self._answer_timeout = answer_timeout
        self._attempts = attempts
        self._ssl = ssl_context

    # Publishing (PW-07.04)

    def publish(
        self,
        metadata: Union[SnapshotMetadata, Mapping[str, Any]],
        arrays: Mapping[str, Any],
        *,
        if_exists: str = "fail",
    ) -> Publication:
        """Publishes one immutable snapshot; a lost answer is settled by comparing digests, never guessed.

        `metadata` is a `SnapshotMetadata`, the same as a mapping, or a whole document with `snapshot` and `arrays`.
        `arrays` maps keys to numpy arrays, `array.array`, bytes (uint8), paths (`.npy`, or with a dtype in the document),
        or `(dtype, bytes | path | iterable of bytes)`. With `if_exists="confirm"` a taken id is a success if exactly this
        is stored under it; streams can be sent only once and not be compared before they are sent.
        """
        document = dict(metadata) if isinstance(metadata, Mapping) and "snapshot" in metadata else {"snapshot": metadata}
        snapshot = _snapshot_of(document["snapshot"])
        if not _ID.fullmatch(str(snapshot.get("snapshot_id"))):
            raise _violation("snapshot.snapshot_id", "must be a snapshot id: 32 lowercase hex digits")
        sources = [_source(key, given) for key, given in arrays.items()]
        replayable = all(source.replayable for source in sources)
        for source in sources:
            if source.replayable:
                for _ in source.checked():
                    pass
        declared = {**document, "snapshot": snapshot, "arrays": self._declared(document.get("arrays") or {}, sources)}
        lost: Optional[SnapshotError] = None
        for attempt in range(1, self._attempts + 1):
            sent = _Sent()
            try:
                return self._send(declared, sources, sent)
            except SnapshotError as error:
                exists = error.code == "snapshot_exists"
                # Only the service itself says what it did, in a problem document; what stands between cannot know.
                unanswered = not error.problem and (error.status is None or error.status == 201 or error.status >= 500)
                maybe = error.code == "publication_uncertain" or (sent.complete and unanswered)
                if maybe:
                    lost = error
                if exists and lost is None and if_exists != "confirm":
                    raise
                if exists or lost is not None:
                    found = self._confirmed(declared, sources, error, lost)
                    if found is not None:
                        return found
                again = maybe or exists or error.code in (*_TRANSIENT, "timeout", "publication_in_progress")
                if again and replayable and self._pause(attempt, error):
                    continue
                if lost is None:
                    raise
                raise _unknown(snapshot["snapshot_id"]) from error
        raise AssertionError("a last attempt returns or raises")

    def _declared(self, given: Mapping[str, Any], sources: list[_Source]) -> dict[str, Any]:
        arrays: dict[str, Any] = {key: dict(entry) for key, entry in given.items()}
        for source in sources:
            entry = arrays.setdefault(source.key, {})
            dtype = entry.setdefault("dtype", source.dtype)
            if dtype is None or source.dtype not in (None, dtype):
                raise _violation(f"arrays.{source.key}.dtype", f"is {dtype} in the document and {source.dtype} in the array")
            if source.byte_length is not None:
                entry.setdefault("byte_length", str(source.byte_length))
            if source.sha256 is not None:
                entry.setdefault("sha256", source.sha256)
        missing = set(arrays) - {source.key for source in sources}
        if missing:
            raise _violation(f"arrays.{min(missing)}", "is declared, but no bytes were given for it")
        return arrays

    def _send(self, document: Mapping[str, Any], sources: list[_Source], sent: _Sent) -> Publication:
        boundary = f"pipewhy-{secrets.token_hex(24)}"

        def head(name: str, media_type: str) -> bytes:
            disposition = f'Content-Disposition: form-data; name="{name}"'
            return f"\r\n--{boundary}\r\n{disposition}\r\nContent-Type: {media_type}\r\n\r\n".encode()

        first = head("metadata", "application/json")[2:] + _canonical(document)
        heads = [
            head(f"array-{source.key}.bin", "application/x-npy" if source.npy_header else "application/octet-stream")
            + source.npy_header
            for source in sources
        ]
        last = f"\r\n--{boundary}--\r\n".encode()

        def body() -> Iterator[Any]:
            yield first
            for part, source in zip(heads, sources):
                yield part
                yield from source.checked()
            sent.complete = True
            yield last

        lengths = [source.byte_length for source in sources]
        length = None if None in lengths else len(first) + sum(map(len, heads)) + sum(lengths) + len(last)  # type: ignore[arg-type]
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        answer = self._request("POST", "/snapshots", headers, body(), length)
        try:
            data, digest = self._manifest(answer, document["snapshot"]["snapshot_id"], 201)
        finally:
            answer.close()
        if digest != hashlib.sha256(self._expected(document, sources)).hexdigest():
            raise _against("The service stored something else than what was sent.", 201)
        return Publication(json.loads(data)["snapshot"]["snapshot_id"], digest, "published")

    def _expected(self, document: Mapping[str, Any], sources: list[_Source]) -> bytes:
        """The manifest as the service must build it, once every source has been read."""
        arrays = {}
        for source in sources:
            dtype = document["arrays"][source.key]["dtype"]
            arrays[source.key] = {
                "file": f"array-{source.key}.bin",
                "dtype": dtype,
                "count": str((source.byte_length or 0) // _WIDTHS[dtype]),
                "byte_length": str(source.byte_length),
                "endianness": "little",
                "sha256": source.sha256,
            }
        head = {"format": "pipewhy.snapshot", "version": 1, "array_schema_version": "1.0"}
        return _canonical({**head, "snapshot": document["snapshot"], "arrays": arrays})

    def _confirmed(
        self, document: Mapping[str, Any], sources: list[_Source], error: SnapshotError, lost: Optional[SnapshotError]
    ) -> Optional[Publication]:
        if any(source.sha256 is None for source in sources):
            if lost is None:
                raise error
            return None
        snapshot_id = document["snapshot"]["snapshot_id"]
        try:
            stored = self._read_manifest(snapshot_id)[1]
        except SnapshotNotFoundError:
            return None
        except SnapshotError as failure:
            if failure.code in (*_TRANSIENT, "timeout"):
                return None
            if lost is None:
                raise
            raise _unknown(snapshot_id) from failure
        expected = hashlib.sha256(self._expected(document, sources)).hexdigest()
        if stored == expected:
            return Publication(snapshot_id, stored, "confirmed")
        raise SnapshotExistsError(
            f"Snapshot {snapshot_id} is published with other content: its manifest has the SHA-256 {stored}, the one to be "
            f"published {expected}. Nothing was changed; choose another id.",
            code="snapshot_exists",
            problem={"manifest_sha256": stored, "computed_manifest_sha256": expected},
        )

    # Reading (PW-07.05)

    def open(self, snapshot_id: str) -> Snapshot:
        """Metadata and every array in memory, read-only, each proven against the manifest's SHA-256."""
        data, digest = self._read_manifest(snapshot_id)
        manifest = json.loads(data)
        arrays = {}
        for key, entry in manifest["arrays"].items():
            arrays[key] = self._retrying(lambda key=key, entry=entry: self._array(snapshot_id, key, entry))
        metadata = SnapshotMetadata.from_document(manifest["snapshot"])
        return Snapshot(metadata, MappingProxyType(manifest), bytes(data), digest, MappingProxyType(arrays))

    def _read_manifest(self, snapshot_id: str) -> tuple[bytearray, str]:
        if not isinstance(snapshot_id, str) or not _ID.fullmatch(snapshot_id):
            raise _violation("snapshot_id", f"must be 32 lowercase hex digits; found {str(snapshot_id)[:80]!r}")

        def read() -> tuple[bytearray, str]:
            answer = self._request("GET", f"/snapshots/{snapshot_id}")
            try:
                return self._manifest(answer, snapshot_id, 200)
            finally:
                answer.close()

        return self._retrying(read)

    def _manifest(self, answer: _Answer, snapshot_id: str, status: int) -> tuple[bytearray, str]:
        """The proven manifest of an answer: its digest, canonical form and the shape that reading relies on."""
        if answer.status != status:
            raise _against(f"Expected the status {status}, found {answer.status}.", answer.status)
        answer.expect("application/json")
        expected, data = answer.digest(), answer.body(_MAX_DOCUMENT)
        actual = hashlib.sha256(data).hexdigest()
        if actual != expected:
            raise ChecksumMismatchError(
                f"The manifest of {snapshot_id} arrived with the SHA-256 {actual}, expected {expected}.", code="checksum_mismatch"
            )
        try:
            manifest = json.loads(data.decode("utf-8"))
            holds = _canonical(manifest) == data and self._holds(manifest, snapshot_id)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            holds = False
        if not holds:
            raise _against(f"The manifest of {snapshot_id} is not one of this snapshot in the contract's form.", status)
        return data, actual

    @staticmethod
    def _holds(manifest: Any, snapshot_id: str) -> bool:
        head = (manifest["format"], manifest["version"], manifest["array_schema_version"])
        if head != ("pipewhy.snapshot", 1, "1.0") or type(manifest["version"]) is not int or len(manifest) != 5:
            return False
        if manifest["snapshot"]["snapshot_id"] != snapshot_id:
            return False
        SnapshotMetadata.from_document(manifest["snapshot"])
        return all(
            _KEY.fullmatch(key)
            and set(entry) == {"file", "dtype", "count", "byte_length", "endianness", "sha256"}
            and entry["file"] == f"array-{key}.bin"
            and entry["endianness"] == "little"
            and _SHA256.fullmatch(entry["sha256"])
            and _UINT64.fullmatch(entry["count"])
            and entry["byte_length"] == str(int(entry["count"]) * _WIDTHS[entry["dtype"]])
            for key, entry in manifest["arrays"].items()
        )

    def _array(self, snapshot_id: str, key: str, entry: Mapping[str, str]) -> Any:
        length = int(entry["byte_length"])
        answer = self._request("GET", f"/snapshots/{snapshot_id}/array-{key}.bin")
        try:
            answer.expect("application/octet-stream")
            told = (answer.header("Array-Dtype"), answer.header("Array-Count"), answer.header("Array-Endianness"))
            if told != (entry["dtype"], entry["count"], "little"):
                raise _against(f"The array {key} is announced as {told}, unlike in its manifest.", answer.status)
            data = answer.body(length, length)
        finally:
            answer.close()
        actual = hashlib.sha256(data).hexdigest()
        if actual != entry["sha256"]:
            raise ChecksumMismatchError(
                f"The array {key} of {snapshot_id} arrived with the SHA-256 {actual}, expected {entry['sha256']}.",
                code="checksum_mismatch",
            )
        return _owned(entry["dtype"], data)

    # Comparison

    def compare(self, from_id: str, to_id: str, key: Optional[str] = None) -> dict[str, Any]:
        """How `to_id` differs from `from_id`, both proven by the service first.

        With `key`, rows are aligned by the values of that array, which must be unique on each side; the document then has
        `rows`. Numbers of elements, indexes and values are decimal strings.
        """
        for snapshot_id in (from_id, to_id):
            if not _ID.fullmatch(snapshot_id):
                raise ValueError(f"A snapshot id is 32 lowercase hex digits; found {snapshot_id!r:.80}.")
        query = "" if key is None else "?" + urlencode({"key": key})
        document = self._retrying(lambda: self._json(f"/snapshots/{from_id}/compare/{to_id}{query}"))
        try:
            good = (
                (document["from"], document["to"]) == (from_id, to_id)
                and all(type(document[name]) is bool for name in ("equal", "comparable"))
                and all(isinstance(document[name], list) for name in ("obstacles", "metadata"))
                and all(_UINT64.fullmatch(array["differing"]) for array in document["arrays"].values())
                and document.get("rows", {}).get("key") == key
            )
        except (KeyError, TypeError, AttributeError):
            good = False
        if not good:
            raise _against("The comparison is of another shape, or of other snapshots.", 200)
        return document

    # Listing and inspection (PW-07.18)

    def list_snapshots(self, **filters: Any) -> list[dict[str, Any]]:
        """Every published snapshot, each proven by the service; one that is damaged fails the listing by name.

        Filters: `source_namespace`, `parent_id`, `since`, `until`, `order`, `proof`, `damaged`.
        """
        return list(self.iter_snapshots(**filters))

    def iter_snapshots(self, **filters: Any) -> Iterator[dict[str, Any]]:
        """As `list_snapshots`, page after page as they are needed."""

        def holds(entry: Any) -> bool:
            if filters.get("damaged") == "show" and isinstance(entry.get("problem"), dict):
                return isinstance(entry["snapshot_id"], str)
            texts = ("source_namespace", "source_version", "scope", "resolution", "coverage_status")
            return bool(
                _ID.fullmatch(entry["snapshot_id"])
                and (entry["parent_id"] is None or _ID.fullmatch(entry["parent_id"]))
                and all(isinstance(entry[name], str) for name in texts)
                and all(_UINT64.fullmatch(entry[name]) for name in ("started_at_ns", "finished_at_ns"))
                and re.fullmatch(r"[0-9]{1,40}", entry["byte_length"])
                and type(entry["array_count"]) is int
                and _SHA256.fullmatch(entry["manifest_sha256"])
            )

        return self._pages("/snapshots", "snapshots", holds, filters)

    def inspect_incomplete(self) -> list[dict[str, Any]]:
        """Attempts that were never published: `path`, `snapshot_id`, `phase`, `diagnostic` and more. Changes nothing."""

        def holds(entry: Any) -> bool:
            return (
                all(isinstance(entry[name], str) for name in ("path", "diagnostic"))
                and entry["phase"] in ("STAGING", "VALIDATED", "INVALID", "UNAVAILABLE")
                and (entry["snapshot_id"] is None or bool(_ID.fullmatch(entry["snapshot_id"])))
            )

        return list(self._pages("/incomplete", "incomplete", holds, {}))

    def _pages(
        self, path: str, member: str, holds: Callable[[Any], bool], filters: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        cursors: set[str] = set()
        query = {"limit": 100, **{name: value for name, value in filters.items() if value is not None}}
        while True:
            page = self._retrying(lambda: self._json(f"{path}?{urlencode(query)}"))
            entries, following = page.get(member), page.get("next")
            try:
                good = all(holds(entry) for entry in entries)
            except (KeyError, TypeError, AttributeError):
                good = False
            if not isinstance(entries, list) or not good or not isinstance(following, (str, type(None))):
                raise _against(f"The listing {path} holds an entry or a cursor of another shape.", 200)
            yield from entries
            if following is None:
                return
            if not entries or following in cursors:
                raise _against(f"The listing {path} names a next page and does not advance.", 200)
            cursors.add(following)
            query["after"] = following

    def _json(self, path: str) -> dict[str, Any]:
        answer = self._request("GET", path)
        try:
            answer.expect("application/json")
            document = _parsed(answer.body(_MAX_DOCUMENT))
        finally:
            answer.close()
        if not isinstance(document, dict):
            raise _against("The answer says it is JSON and holds no JSON object.", answer.status)
        return document

    # Transport

    def _request(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] = MappingProxyType({}),
        body: Optional[Iterator[Any]] = None,
        length: Optional[int] = None,
    ) -> _Answer:
        """One request on a connection of its own. Raises the refusal that an answer carries."""
        parts = self._parts
        if parts.scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                parts.hostname or "", parts.port, timeout=self._timeout, context=self._ssl
            )
        else:
            connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=self._timeout)
        connection.response_class = _Response
        response: Optional[http.client.HTTPResponse] = None

        def close() -> None:
            # An answer holds the socket for itself, also where the connection is closed.
            if response is not None:
                response.close()
            connection.close()

        try:
            connection.connect()
            sock = connection.sock
            connection.putrequest(method, parts.path.rstrip("/") + path, skip_accept_encoding=True)
            for name, value in {**self._headers, **headers, "Connection": "close"}.items():
                connection.putheader(name, value)
            if body is not None:
                if length is None:
                    connection.putheader("Transfer-Encoding", "chunked")
                else:
                    connection.putheader("Content-Length", str(length))
            connection.endheaders()
            if body is not None:
                self._send_body(connection, body, length is None)
            sock.settimeout(self._answer_timeout)
            # Heads that drip a byte at a time are bounded by the whole time they take.
            watch = threading.Timer(self._answer_timeout, lambda: sock.shutdown(socket.SHUT_RDWR))
            watch.daemon = True
            watch.start()
            try:
                response = connection.getresponse()
            finally:
                watch.cancel()
            sock.settimeout(self._timeout)
            answer = _Answer(response, self._timeout, close)
            if not 200 <= answer.status < 300:
                raise _refusal(answer)
            return _Guarded(answer)
        except SnapshotError:
            close()
            raise
        except BaseException as error:
            close()
            raise _connection_error(error, f"{parts.scheme}://{parts.netloc}") from error

    @staticmethod
    def _send_body(connection: http.client.HTTPConnection, body: Iterator[Any], chunked: bool) -> None:
        for block in body:
            if not len(block):
                continue
            try:
                if chunked:
                    connection.send(b"%x\r\n" % len(block))
                connection.send(block)
                if chunked:
                    connection.send(b"\r\n")
            except (BrokenPipeError, ConnectionResetError):
                # Who is refused early may have an answer waiting.
                return
        if chunked:
            connection.send(b"0\r\n\r\n")

    def _pause(self, attempt: int, error: SnapshotError) -> bool:
        """Waits before another try; False where none is due."""
        asked = error.retry_after or 0.0
        if attempt >= self._attempts or asked > 60:
            return False
        time.sleep(max(asked, min(0.1 * 2 ** (attempt - 1), 5.0) * (1 - random.random() / 2)))
        return True

    def _retrying(self, read: Callable[[], Any]) -> Any:
        for attempt in range(1, self._attempts + 1):
            try:
                return read()
            except SnapshotError as error:
                transient = error.code in _TRANSIENT or error.status in (502, 503, 504)
                if not transient or not self._pause(attempt, error):
                    raise
        raise AssertionError("a last attempt returns or raises")


class _Guarded(_Answer):
    """An answer whose body's failures are the client's errors."""

    def __init__(self, answer: _Answer) -> None:
        super().__init__(answer._response, answer._timeout, answer.close)

    def body(self, most: int, exactly: Optional[int] = None) -> bytearray:
        try:
            return super().body(most, exactly)
        except SnapshotError:
            raise
        except BaseException as error:
            raise _connection_error(error, "the answer") from error


def _connection_error(error: BaseException, where: str) -> BaseException:
    """What the standard library raises on the way, as the client's errors; what is not of the way stays as it is."""
    if isinstance(error, (socket.timeout, TimeoutError)):
        return ConnectionFailedError(f"{where}: nothing came within the timeout.", code="timeout")
    if isinstance(error, (OSError, http.client.IncompleteRead, http.client.RemoteDisconnected)):
        return ConnectionFailedError(f"{where}: {error or type(error).__name__}", code="connection_failed")
    if isinstance(error, (http.client.HTTPException, ValueError)):
        return _against(f"{where}: what answers is not HTTP as it should be ({type(error).__name__}). Check the URL.")
    return error


def _parsed(data: bytearray) -> Any:
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def _refusal(answer: _Answer) -> SnapshotError:
    """The error for an answer that is no success."""
    retry_after = _retry_after(answer.header("Retry-After"))
    problem = _parsed(_Guarded(answer).body(_MAX_PROBLEM)) if answer.media_type() == "application/problem+json" else None
    if isinstance(problem, dict) and problem.get("status") == answer.status:
        code, detail, listed = problem.get("code"), problem.get("detail"), problem.get("errors", [])
        if isinstance(code, str) and isinstance(detail, str) and isinstance(listed, list):
            try:
                errors = [Violation(str(item["path"]), str(item["message"])) for item in listed]
                return _CLASSES.get(code, SnapshotError)(
                    detail, code=code, status=answer.status, problem=problem, errors=errors, retry_after=retry_after
                )
            except (KeyError, TypeError):
                pass
    return _against(
        f"The answer has status {answer.status} and is no problem document, so it is not from a snapshot service itself.",
        answer.status,
        retry_after,
    )
