"""Publishes the columns of ../npm-packages with Python's standard library and reads them back, proven.

    python3 examples/python-stdlib/publish.py [--id <32 hex digits>] [http://127.0.0.1:8750]

The address may also be given as SNAPSHOTS_URL. With --id the same columns become another snapshot.
"""

import argparse
import hashlib
import json
import os
import sys
import urllib.error
import urllib.request
import uuid
from pathlib import Path

COLUMNS = Path(__file__).resolve().parent.parent / "npm-packages"
BLOCK = 1 << 20


def blocks(path):
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def publish(url, metadata, files):
    """POST /snapshots; gives status and body. The files are streamed, never held in memory."""
    boundary = uuid.uuid4().hex

    def head(name, media_type):
        disposition = f'Content-Disposition: form-data; name="{name}"; filename="{name}"'
        return f"--{boundary}\r\n{disposition}\r\nContent-Type: {media_type}\r\n\r\n".encode()

    # metadata first, then one part per array, named by its file.
    first = head("metadata", "application/json") + metadata + b"\r\n"
    heads = {file: head(file.name, "application/octet-stream") for file in files}
    last = f"--{boundary}--\r\n".encode()

    def body():
        yield first
        for file in files:
            yield heads[file]
            yield from blocks(file)
            yield b"\r\n"
        yield last

    length = len(first) + sum(len(heads[file]) + file.stat().st_size + 2 for file in files) + len(last)
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}", "Content-Length": str(length)}
    request = urllib.request.Request(f"{url}/snapshots", data=body(), headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read()


def main():
    parser = argparse.ArgumentParser(description="Publishes package columns and reads them back, proven.")
    parser.add_argument("url", nargs="?", default=os.environ.get("SNAPSHOTS_URL", "http://127.0.0.1:8750"))
    parser.add_argument("--id", help="another snapshot_id, 32 lowercase hex digits")
    arguments = parser.parse_args()
    url = arguments.url.rstrip("/")

    document = json.loads((COLUMNS / "metadata.json").read_bytes())
    original = document["snapshot"]["snapshot_id"]
    snapshot_id = document["snapshot"]["snapshot_id"] = arguments.id or original
    expected = (COLUMNS / "expected-manifest.json").read_bytes().replace(original.encode(), snapshot_id.encode())
    digest = hashlib.sha256(expected).hexdigest()

    status, body = publish(url, json.dumps(document).encode(), sorted(COLUMNS.glob("array-*.bin")))
    if status == 409 and json.loads(body).get("manifest_sha256") == digest:
        result = "exists already, the same one"
    elif status == 201 and body == expected:
        result = "published"
    else:
        sys.exit(f"not published ({status}): {body.decode()}")

    with urllib.request.urlopen(f"{url}/snapshots/{snapshot_id}") as answer:
        manifest = answer.read()
    assert manifest == expected, "the stored manifest is not the expected one"
    arrays = json.loads(manifest)["arrays"].values()
    for array in arrays:
        with urllib.request.urlopen(f"{url}/snapshots/{snapshot_id}/{array['file']}") as answer:
            stored = answer.read()
        assert hashlib.sha256(stored).hexdigest() == array["sha256"], f"{array['file']}: another SHA-256"
        assert stored == (COLUMNS / array["file"]).read_bytes(), f"{array['file']} came back changed"
    print(f"{result}: {snapshot_id}, {len(arrays)} arrays read back and proven, manifest_sha256 {digest}")


if __name__ == "__main__":
    main()
