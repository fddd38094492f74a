#!/bin/sh
# Publishes the columns of npm-packages/ with curl, reads them back and proves what came back.
# Needs curl, sha256sum, cmp and sed.
#
#   examples/publish.sh [http://127.0.0.1:8750]
#
# The address may also be given as SNAPSHOTS_URL, and a token, where the service asks for one, as SNAPSHOTS_TOKEN.
# Run a second time, it is told that the snapshot exists, and compares instead of publishing.
set -eu

url=${1:-${SNAPSHOTS_URL:-http://127.0.0.1:8750}}
url=${url%/}
cd "$(dirname "$0")/npm-packages"
id=$(sed -n 's/.*"snapshot_id": *"\([0-9a-f]*\)".*/\1/p' metadata.json)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ask() {
  if [ -n "${SNAPSHOTS_TOKEN:-}" ]; then set -- --header "Authorization: Bearer $SNAPSHOTS_TOKEN" "$@"; fi
  curl --silent --show-error "$@"
}

fail() {
  echo "publish.sh: $1" >&2
  if [ -s "$work/answer" ]; then cat "$work/answer" >&2 && echo >&2; fi
  exit 1
}

if ! ask --output "$work/health" "$url/healthz" 2>"$work/answer"; then
  fail "nothing answers at $url. Start the service with \"npm start\", or name its address: publish.sh <url>"
fi

# metadata first, then one part per array, named by its file: a snapshot is its manifest and these bytes.
set -- --form 'metadata=@metadata.json;type=application/json'
for file in array-*.bin; do
  set -- "$@" --form "$file=@$file;type=application/octet-stream"
done
echo "Publishing snapshot $id to $url"
status=$(ask --output "$work/answer" --write-out '%{http_code}' "$@" "$url/snapshots")
digest=$(sha256sum <expected-manifest.json | cut -d ' ' -f 1)
case $status in
  201)
    cmp "$work/answer" expected-manifest.json || fail 'the manifest is not the expected one'
    echo "Published (201): the manifest is the expected one, byte for byte"
    ;;
  409)
    stored=$(sed -n 's/.*"manifest_sha256":"\([0-9a-f]*\)".*/\1/p' "$work/answer")
    if [ "$stored" != "$digest" ]; then
      fail "snapshot $id exists and is another one: its manifest_sha256 is ${stored:-unknown}, expected $digest"
    fi
    echo "It exists already (409), and it is the same one: manifest_sha256 $stored"
    ;;
  *)
    fail "the service answered $status"
    ;;
esac
rm "$work/answer"

echo "Reading it back"
for file in manifest.json complete.sha256 array-*.bin; do
  ask --fail-with-body --output "$work/$file" "$url/snapshots/$id/$file" || fail "$file could not be read: $(cat "$work/$file")"
done
cmp "$work/manifest.json" expected-manifest.json || fail 'the stored manifest is not the expected one'
echo "  manifest.json is the expected one, byte for byte"
echo "$(cat "$work/complete.sha256")  $work/manifest.json" | sha256sum --check --status || fail 'complete.sha256 does not fit manifest.json'
echo "  complete.sha256 is the SHA-256 of manifest.json"
for file in array-*.bin; do
  cmp "$work/$file" "$file" || fail "$file came back changed"
  grep -q "$(sha256sum <"$file" | cut -d ' ' -f 1)" "$work/manifest.json" || fail "the manifest has another SHA-256 for $file"
  echo "  $file is what was sent, and has the SHA-256 in the manifest"
done
echo "Snapshot $id is published and proven"
