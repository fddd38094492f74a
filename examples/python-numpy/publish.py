"""Publishes the columns of ../npm-packages as numpy arrays with requests and reads them back, proven.

    python3 examples/python-numpy/publish.py [--id <32 hex digits>] [http://127.0.0.1:8750]

Needs requests and numpy. The address may also be given as SNAPSHOTS_URL. Every array travels as a .npy file, which says
its dtype itself; the service keeps the raw bytes and gives either.
"""

import argparse
import hashlib
import io
import json
import os
import sys
from pathlib import Path

import numpy
import requests

COLUMNS = Path(__file__).resolve().parent.parent / "npm-packages"


def npy(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


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

    # numpy reads in the machine's byte order; "<" says little-endian, as the files are.
    arrays = {
        key: numpy.fromfile(COLUMNS / f"array-{key}.bin", numpy.dtype(entry["dtype"]).newbyteorder("<"))
        for key, entry in document["arrays"].items()
    }
    document["arrays"] = {key: {} for key in arrays}
    parts = [("metadata", ("metadata.json", json.dumps(document), "application/json"))]
    parts += [(key, (f"{key}.npy", npy(array), "application/x-npy")) for key, array in arrays.items()]

    answer = requests.post(f"{url}/snapshots", files=parts)
    if answer.status_code == 409 and answer.json().get("manifest_sha256") == digest:
        result = "exists already, the same one"
    elif answer.status_code == 201 and answer.content == expected:
        result = "published"
    else:
        sys.exit(f"not published ({answer.status_code}): {answer.text}")

    stored = requests.get(f"{url}/snapshots/{snapshot_id}")
    stored.raise_for_status()
    assert stored.content == expected, "the stored manifest is not the expected one"
    for key, entry in stored.json()["arrays"].items():
        answer = requests.get(f"{url}/snapshots/{snapshot_id}/array-{key}.npy")
        answer.raise_for_status()
        array = numpy.load(io.BytesIO(answer.content), allow_pickle=False)
        assert array.dtype == entry["dtype"] and numpy.array_equal(array, arrays[key]), f"{key} came back changed"
        assert hashlib.sha256(array.tobytes()).hexdigest() == entry["sha256"], f"{key}: another SHA-256"
    print(f"{result}: {snapshot_id}, {len(arrays)} arrays read back and proven, manifest_sha256 {digest}")


if __name__ == "__main__":
    main()
