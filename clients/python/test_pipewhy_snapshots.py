"""Tries the client against a running service, SNAPSHOTS_URL, and against servers that answer what no service does.

    SNAPSHOTS_URL=http://127.0.0.1:8750 python3 -m unittest    (in this folder)

With PIPEWHY_WITHOUT_NUMPY=1 numpy counts as not installed.
"""

import array
import hashlib
import json
import os
import socket
import sys
import tempfile
import threading
import unittest
import urllib.request
import uuid
from pathlib import Path

if os.environ.get("PIPEWHY_WITHOUT_NUMPY"):
    sys.modules["numpy"] = None  # type: ignore[assignment]

import pipewhy_snapshots as ps

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

URL = os.environ.get("SNAPSHOTS_URL", "http://127.0.0.1:8750")
FINGERPRINT = ps.Fingerprint(
    "example-fingerprint", "example-fingerprint/1", "example-context", "example-normalization/1", "example-schema/1", "ordered"
)


def metadata(**changes):
    given = dict(
        snapshot_id=uuid.uuid4().hex,
        source_namespace="python",
        source_version="1",
        source_consistency="one read",
        scope="all — é",
        started_at_ns=1,
        finished_at_ns=(1 << 64) - 1,
        resolution="value",
        coverage=ps.Coverage("COMPLETE", 3, 3),
        fingerprint=FINGERPRINT,
    )
    return ps.SnapshotMetadata(**{**given, **changes})


def values(found):
    return list(found.tolist())


class Hostile:
    """A server that gives each connection to `answer(socket)`."""

    def __init__(self, answer):
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.answer = answer
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                peer = self.listener.accept()[0]
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        with peer:
            try:
                self.answer(peer)
            except OSError:
                pass

    def close(self):
        self.listener.close()


def head_of(peer):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = peer.recv(65536)
        if not piece:
            break
        data += piece
    return data


def saying(text, body=b""):
    def answer(peer):
        head_of(peer)
        peer.sendall(text.replace("\n", "\r\n").encode() + b"\r\n" + body)

    return answer


class Publishing(unittest.TestCase):
    def setUp(self):
        self.client = ps.SnapshotClient(URL, attempts=3)

    def test_every_kind_of_array_comes_back_as_it_was(self):
        raw = (1 << 63).to_bytes(8, "little") + (7).to_bytes(8, "little")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "raw.bin"
            path.write_bytes(raw)
            arrays = {
                "shorts": array.array("h", [-1, 2, -32768]),
                "constructor": array.array("Q", [0, (1 << 64) - 1]),
                "empty": ("int32", b""),
                "bytes": b"\x00\xff",
                "file": ("uint64", path),
                "stream": ("int8", iter([b"\x01", b"", b"\xff"])),
                "big": ("uint8", bytes(3 << 20)),
            }
            if numpy is not None:
                arrays["strided"] = numpy.arange(10, dtype=">i4")[::2]
                numpy.save(Path(folder) / "a.npy", numpy.array([5, -5], dtype="<i8"))
                arrays["npy"] = Path(folder) / "a.npy"
            given = metadata()
            done = self.client.publish(given, arrays)
        self.assertEqual(done.outcome, "published")
        found = self.client.open(given.snapshot_id)
        self.assertEqual(found.metadata, given)
        self.assertEqual(found.manifest_sha256, done.manifest_sha256)
        self.assertEqual(hashlib.sha256(found.manifest_bytes).hexdigest(), done.manifest_sha256)
        self.assertEqual(set(found.arrays), set(arrays))
        self.assertEqual(values(found.arrays["shorts"]), [-1, 2, -32768])
        self.assertEqual(values(found.arrays["constructor"]), [0, (1 << 64) - 1])
        self.assertEqual(values(found.arrays["empty"]), [])
        self.assertEqual(values(found.arrays["bytes"]), [0, 255])
        self.assertEqual(values(found.arrays["file"]), [1 << 63, 7])
        self.assertEqual(values(found.arrays["stream"]), [1, -1])
        self.assertEqual(len(found.arrays["big"]), 3 << 20)
        if numpy is not None:
            self.assertEqual(values(found.arrays["strided"]), [0, 2, 4, 6, 8])
            self.assertEqual(values(found.arrays["npy"]), [5, -5])
        self.assertEqual(isinstance(found.arrays["shorts"], memoryview), numpy is None)
        with self.assertRaises((TypeError, ValueError)):
            found.arrays["shorts"][0] = 1
        with self.assertRaises(TypeError):
            found.arrays["new"] = 1

    def test_mappings_and_whole_documents_are_metadata_too(self):
        given = metadata()
        document = {"snapshot": ps._plain(given), "arrays": {"ids": {"dtype": "uint8"}}}
        self.client.publish(document, {"ids": b"abc"})
        manifest = json.loads(self.client.open(given.snapshot_id).manifest_bytes)
        again = self.client.publish(manifest, {"ids": b"abc"}, if_exists="confirm")
        self.assertEqual(again.outcome, "confirmed")

    def test_a_taken_id_is_told_by_its_class_and_never_overwritten(self):
        given = metadata()
        self.client.publish(given, {"ids": b"abc"})
        with self.assertRaises(ps.SnapshotExistsError) as caught:
            self.client.publish(given, {"ids": b"abd"})
        self.assertIsInstance(caught.exception, FileExistsError)
        self.assertRegex(caught.exception.problem["manifest_sha256"], "^[0-9a-f]{64}$")
        with self.assertRaises(ps.SnapshotExistsError):
            self.client.publish(given, {"ids": b"abd"}, if_exists="confirm")
        self.assertEqual(self.client.publish(given, {"ids": b"abc"}, if_exists="confirm").outcome, "confirmed")

    def test_refusals_name_code_and_paths(self):
        with self.assertRaises(ps.ContractViolationError) as caught:
            self.client.publish(metadata(scope="", resolution="all"), {})
        self.assertEqual(caught.exception.code, "contract_violation")
        self.assertEqual({path for path, _ in caught.exception.errors}, {"snapshot.scope", "snapshot.resolution"})
        self.assertIn("snapshot.scope", str(caught.exception))
        for number in (True, 1.0, -1, 1 << 64):
            with self.assertRaises(ps.ContractViolationError) as caught:
                self.client.publish(metadata(started_at_ns=number), {})
            self.assertEqual(caught.exception.errors[0].path, "snapshot.started_at_ns")
        for given in ([1.5], array.array("d", [1.0]), ("float32", b""), object(), memoryview(bytes(8))[::2]):
            with self.assertRaises(ps.ContractViolationError):
                self.client.publish(metadata(), {"ids": given})
        with self.assertRaises(ps.ContractViolationError):
            self.client.publish(metadata(), {"../ids": b""})

    def test_a_source_that_fails_publishes_nothing(self):
        def failing():
            yield b"abc"
            raise OSError("the disk is gone")

        given = metadata()
        with self.assertRaises(ps.SnapshotError) as caught:
            self.client.publish(given, {"ids": ("uint8", failing())})
        self.assertEqual(caught.exception.code, "source_failed")
        with self.assertRaises(FileNotFoundError):
            self.client.open(given.snapshot_id)

    def test_missing_ids_are_file_not_found(self):
        with self.assertRaises(FileNotFoundError):
            self.client.open("0" * 32)
        with self.assertRaises(ps.ContractViolationError):
            self.client.open("../etc")

    def test_comparisons_are_exact_and_aligned_by_a_key(self):
        one, other = metadata(), metadata()
        top = (1 << 64) - 1
        self.client.publish(one, {"ids": array.array("Q", [1, 2, top]), "x": b"\x01\x02\x03"})
        self.client.publish(other, {"ids": array.array("Q", [2, 5, top]), "x": b"\x02\x05\x04"})
        found = self.client.compare(one.snapshot_id, other.snapshot_id)
        self.assertFalse(found["equal"])
        self.assertEqual(found["arrays"]["ids"]["examples"][0], {"index": "0", "from": "1", "to": "2"})
        rows = self.client.compare(one.snapshot_id, other.snapshot_id, key="ids")["rows"]
        self.assertEqual([rows[name] for name in ("added", "removed", "changed", "same")], ["1", "1", "1", "1"])
        self.assertEqual(rows["examples"][-1], {"key": str(top), "kind": "changed", "arrays": ["x"]})
        self.assertTrue(self.client.compare(one.snapshot_id, one.snapshot_id)["equal"])
        with self.assertRaises(ps.SnapshotNotFoundError):
            self.client.compare(one.snapshot_id, uuid.uuid4().hex)
        with self.assertRaises(ValueError):
            self.client.compare("../healthz", one.snapshot_id)
        document = {**found, "from": one.snapshot_id, "to": other.snapshot_id}
        for change in ({"from": other.snapshot_id}, {"equal": 1}, {"arrays": {"x": {}}}, {"rows": {"key": "x"}}):
            text = json.dumps({**document, **change}).encode()
            head = "HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: %d\n" % len(text)
            hostile = Hostile(saying(head, text))
            try:
                with self.assertRaises(ps.ProtocolError):
                    ps.SnapshotClient(hostile.url, attempts=1).compare(one.snapshot_id, other.snapshot_id)
            finally:
                hostile.close()

    def test_listings_hold_what_was_published_and_what_was_left_behind(self):
        namespace = uuid.uuid4().hex
        ids = sorted(uuid.uuid4().hex for _ in range(3))
        for snapshot_id in ids:
            self.client.publish(metadata(snapshot_id=snapshot_id, source_namespace=namespace), {})
        found = self.client.list_snapshots(source_namespace=namespace)
        self.assertEqual([entry["snapshot_id"] for entry in found], ids)
        given = metadata()
        with self.assertRaises(ps.ContractViolationError):
            self.client.publish(given, {"ids": ("int64", b"123")})
        left = [entry for entry in self.client.inspect_incomplete() if entry["snapshot_id"] == given.snapshot_id]
        self.assertEqual([entry["phase"] for entry in left], ["STAGING"])


class LostAnswers(unittest.TestCase):
    def through(self, faults):
        """A proxy on which the n-th publication meets the n-th fault; all else passes."""
        faults = list(faults)

        def answer(peer):
            data = head_of(peer)
            head, _, rest = data.partition(b"\r\n\r\n")
            length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
            chunked = b"\r\nTransfer-Encoding: chunked" in head
            while len(rest) < length or (chunked and not rest.endswith(b"\r\n0\r\n\r\n")):
                rest += peer.recv(65536)
            fault = faults.pop(0) if head.startswith(b"POST") and faults else "pass"
            if fault == "reset":
                return
            with socket.create_connection(("127.0.0.1", int(URL.rsplit(":", 1)[1].strip("/")))) as upstream:
                upstream.sendall(head + b"\r\n\r\n" + rest)
                received = b""
                while piece := upstream.recv(65536):
                    received += piece
            if fault != "lose":
                peer.sendall(fault if isinstance(fault, bytes) else received)

        server = Hostile(answer)
        self.addCleanup(server.close)
        return ps.SnapshotClient(server.url, attempts=3), server

    def test_an_answer_that_was_lost_is_confirmed_by_digest(self):
        gateway = b"HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        for fault in ("lose", gateway):
            given = metadata()
            done = self.through([fault])[0].publish(given, {"ids": b"abc"})
            self.assertEqual(done.outcome, "confirmed")

    def test_what_never_arrived_is_sent_again(self):
        given = metadata()
        client, server = self.through(["reset"])
        self.assertEqual(client.publish(given, {"ids": b"abc"}).outcome, "published")
        self.assertEqual(values(client.open(given.snapshot_id).arrays["ids"]), [97, 98, 99])

    def test_another_snapshot_under_the_id_is_never_taken_for_ones_own(self):
        given = metadata()
        ps.SnapshotClient(URL).publish(given, {"ids": b"other"})
        with self.assertRaises(ps.SnapshotExistsError):
            self.through(["lose"])[0].publish(given, {"ids": b"abc"})

    def test_a_stream_is_sent_once_and_can_be_confirmed_afterwards(self):
        done = self.through(["lose"])[0].publish(metadata(), {"ids": ("uint8", iter([b"abc"]))})
        self.assertEqual(done.outcome, "confirmed")
        client, server = self.through(["reset"])
        with self.assertRaises(ps.OutcomeUnknownError):
            client.publish(metadata(), {"ids": ("uint8", iter([b"abc"]))})
        self.assertEqual(server.connections, 2)


class HostileAnswers(unittest.TestCase):
    def client(self, answer, **options):
        server = Hostile(answer)
        self.addCleanup(server.close)
        return ps.SnapshotClient(server.url, attempts=1, **options), server

    def calls(self, client):
        return [lambda: client.open("0" * 32), client.list_snapshots, client.inspect_incomplete]

    def refused(self, answer, kind=ps.SnapshotError, **options):
        for number in range(3):
            client, _ = self.client(answer, **options)
            with self.assertRaises(kind):
                self.calls(client)[number]()

    def test_endless_bodies_are_left(self):
        sent = []

        def answer(peer):
            head_of(peer)
            peer.sendall(b"HTTP/1.1 500 No\r\nContent-Type: application/problem+json\r\n\r\n")
            for _ in range(512):
                peer.sendall(bytes(1 << 20))
                sent.append(1)

        self.refused(answer, ps.ProtocolError)
        self.assertLess(len(sent), 3 * 40)

    def published_with(self, send_array, **headers):
        """A published array of three bytes, whose manifest comes as it is and whose bytes `send_array` sends."""
        given = metadata()
        ps.SnapshotClient(URL).publish(given, {"ids": b"abc"})
        with urllib.request.urlopen(f"{URL}/snapshots/{given.snapshot_id}") as found:
            manifest, digest = found.read(), found.headers["Repr-Digest"]
        said = {"Array-Dtype": "uint8", "Array-Count": "3", "Array-Endianness": "little", **headers}
        described = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in said.items()).encode()

        def answer(peer):
            if b"array-ids" not in head_of(peer):
                start = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nRepr-Digest: " + digest.encode()
                peer.sendall(start + b"\r\n\r\n" + manifest)
                return
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n" + described + b"\r\n")
            send_array(peer)

        return self.client(answer)[0], given.snapshot_id

    def test_an_array_of_three_bytes_that_goes_on_for_ever_is_left(self):
        sent = []

        def endless(peer):
            for _ in range(512):
                peer.sendall(bytes(1 << 20))
                sent.append(1)

        client, snapshot_id = self.published_with(endless)
        with self.assertRaises(ps.ProtocolError):
            client.open(snapshot_id)
        self.assertLess(len(sent), 40)

    def test_other_bytes_fewer_or_of_another_kind_are_no_array(self):
        for data, kind in [(b"abd", ps.ChecksumMismatchError), (b"ab", ConnectionError), (b"abcd", ps.ProtocolError)]:
            client, snapshot_id = self.published_with(lambda peer, data=data: peer.sendall(data))
            with self.assertRaises(kind):
                client.open(snapshot_id)
        for wrong in ({"Array-Dtype": "int8"}, {"Array-Count": "4"}, {"Array-Endianness": "big"}):
            client, snapshot_id = self.published_with(lambda peer: peer.sendall(b"abc"), **wrong)
            with self.assertRaises(ps.ProtocolError):
                client.open(snapshot_id)

    def test_wrong_bytes_are_a_checksum_mismatch(self):
        digest = "sha-256=:" + "A" * 43 + "=:"
        answer = saying(f"HTTP/1.1 200 OK\nContent-Type: application/json\nRepr-Digest: {digest}\n", b"{}")
        client, _ = self.client(answer)
        with self.assertRaises(ps.StorageIntegrityError) as caught:
            client.open("0" * 32)
        self.assertEqual(caught.exception.code, "checksum_mismatch")

    def test_other_answers_are_against_the_protocol(self):
        json_head = "Content-Type: application/json\n"
        for text, body in [
            ("HTTP/1.1 302 Found\nLocation: http://127.0.0.1:9/\nContent-Length: 0\n", b""),
            ("HTTP/1.1 200 OK\nContent-Type: text/html\n", b"<h1>It works</h1>"),
            (f"HTTP/1.1 200 OK\n{json_head}Content-Encoding: gzip\n", b"{}"),
            (f"HTTP/1.1 200 OK\n{json_head}{json_head}", b"{}"),
            (f"HTTP/1.1 200 OK\n{json_head}", b"[[[["),
            (f"HTTP/1.1 200 OK\n{json_head}", b'{"snapshots":[null],"incomplete":[null],"next":null}'),
            (f"HTTP/1.1 200 OK\n{json_head}", b'{"snapshots":[{}],"incomplete":[{"path":1}],"next":null}'),
            (f"HTTP/1.1 200 OK\n{json_head}", b'{"snapshots":[],"incomplete":[],"next":"a"}'),
            (f"HTTP/1.1 200 OK\n{json_head}Content-Length: 99999999999\n", b"{}"),
            ("HTTP/1.1 404 No\nContent-Type: application/problem+json\n", b'{"code":1,"status":404}'),
            ("HTTP/1.1 404 No\nContent-Type: application/problem+json\n", b'{"code":"a","detail":"b","status":500}'),
            ("SSH-2.0-OpenSSH\n", b""),
        ]:
            with self.subTest(text=text, body=body):
                self.refused(saying(text, body), ps.ProtocolError)

    def test_interim_answers_are_counted(self):
        def answer(peer):
            head_of(peer)
            for _ in range(100_000):
                peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)

        self.refused(answer, ps.ProtocolError)

    def test_dripping_and_silent_answers_end(self):
        def dripping(start):
            def answer(peer):
                head_of(peer)
                peer.sendall(start)
                while True:
                    threading.Event().wait(0.02)
                    peer.sendall(b" ")

            return answer

        body = b"HTTP/1.1 500 No\r\nContent-Type: application/problem+json\r\n\r\n"
        for start in (body, b"HTTP/1.1 200 OK\r\nX-Slow: ", b""):
            self.refused(dripping(start), ps.SnapshotError, timeout=0.3, answer_timeout=0.3)

    def test_no_listener_is_a_connection_error(self):
        with self.assertRaises(ConnectionError):
            ps.SnapshotClient("http://127.0.0.1:9", attempts=1).list_snapshots()

    def test_a_proxy_of_the_environment_is_not_used(self):
        os.environ["http_proxy"] = os.environ["HTTP_PROXY"] = "http://127.0.0.1:9"
        self.addCleanup(os.environ.pop, "http_proxy")
        self.addCleanup(os.environ.pop, "HTTP_PROXY")
        ps.SnapshotClient(URL).inspect_incomplete()

    def test_a_cut_answer_is_asked_for_again(self):
        state = []

        def answer(peer):
            head_of(peer)
            state.append(1)
            text = b'{"snapshots":[],"next":null}'
            length = len(text) if len(state) > 1 else len(text) + 5
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % length + text)

        server = Hostile(answer)
        self.addCleanup(server.close)
        self.assertEqual(ps.SnapshotClient(server.url, attempts=2).list_snapshots(), [])

    def test_cursors_that_lead_back_are_not_followed(self):
        entry = {
            "snapshot_id": "0" * 32, "parent_id": None, "source_namespace": "a", "source_version": "1", "scope": "a",
            "resolution": "value", "coverage_status": "COMPLETE", "started_at_ns": "1", "finished_at_ns": "1",
            "array_count": 0, "byte_length": "0", "manifest_sha256": "0" * 64,
        }  # fmt: skip
        body = json.dumps({"snapshots": [entry], "next": "a"}).encode()
        client, server = self.client(saying("HTTP/1.1 200 OK\nContent-Type: application/json\n", body))
        with self.assertRaises(ps.ProtocolError):
            client.list_snapshots()
        self.assertLess(server.connections, 5)


class Construction(unittest.TestCase):
    def test_what_cannot_work_is_refused_at_once_and_a_token_not_shown(self):
        for url in ("ftp://a", "a", "http://user:secret@a", "http://a?b=c"):
            with self.assertRaises(ValueError):
                ps.SnapshotClient(url)
        with self.assertRaises(ValueError) as caught:
            ps.SnapshotClient(URL, token="secret\n")
        self.assertNotIn("secret", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
