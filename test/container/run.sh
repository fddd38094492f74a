#!/bin/sh
# Builds the image and uses it as docs/OPERATIONS.md says: read-only root, uid 1000, a volume, a token.
#
#   test/container/run.sh
#
# Needs docker or podman (or CONTAINER_ENGINE), curl, cmp and sha256sum; without an engine it says so and exits 0.
# BUILD_FLAGS and RUN_FLAGS are handed to the engine, for machines where it needs more than usual.
set -eu
cd "$(dirname "$0")/../.."

engine=${CONTAINER_ENGINE:-}
for name in docker podman; do
  if [ -z "$engine" ] && "$name" info >/dev/null 2>&1; then engine=$name; fi
done
if [ -z "$engine" ]; then
  echo 'Skipped: neither docker nor podman answers here.'
  exit 0
fi

work=$(mktemp -d)
name=pipewhy-snapshots-check-$$
image=$name
token=only-for-this-check

cleanup() {
  "$engine" rm -f "$name" >/dev/null 2>&1 || true
  "$engine" volume rm -f "$name" >/dev/null 2>&1 || true
  "$engine" rmi "$image" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

fail() {
  echo "FAILED: $1" >&2
  "$engine" logs "$name" >&2 || true
  if [ -s "$work/out" ]; then cat "$work/out" >&2; fi
  exit 1
}
passed() { echo "ok: $1"; }

# Only podman has two image formats, and only one of them knows health checks.
format=''
if "$engine" --version | grep -qi podman; then format='--format docker'; fi
# shellcheck disable=SC2086
"$engine" build $format ${BUILD_FLAGS:-} -t "$image" . >"$work/out" 2>&1 || fail 'the image is not built'
passed 'built'

# shellcheck disable=SC2086
once() { timeout 30 "$engine" run --rm --read-only --cap-drop ALL ${RUN_FLAGS:-} "$@" >"$work/out" 2>&1; }

if once "$image"; then fail 'it starts without a token'; fi
grep -q 'SNAPSHOTS_TOKEN' "$work/out" || fail 'the refusal without a token does not say what to set'
passed 'without a token it refuses to start and says what to set'

mkdir "$work/foreign"
chmod 555 "$work/foreign"
if once -e SNAPSHOTS_TOKEN=$token -v "$work/foreign:/data" "$image"; then fail 'it starts on a foreign folder'; fi
grep -q '^pipewhy-snapshots: /data.*EACCES' "$work/out" || fail 'the refusal of a foreign folder is unclear'
passed 'a folder that its user cannot write is refused by name'

once --entrypoint sh "$image" -c 'ls -A /app; test ! -e /app/data && test ! -e /app/.git && test ! -e /app/test' ||
  fail 'more than the service is in the image'

started() {
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    url=http://$("$engine" port "$name" 8750/tcp 2>/dev/null | head -n 1) || true
    if curl --silent --fail --output "$work/health" "$url/healthz"; then return 0; fi
    sleep 0.5
  done
  fail 'it does not answer'
}

# shellcheck disable=SC2086
"$engine" run -d --name "$name" --read-only --cap-drop ALL --security-opt no-new-privileges --stop-timeout 40 \
  -p 127.0.0.1::8750 -v "$name:/data" -e SNAPSHOTS_TOKEN=$token ${RUN_FLAGS:-} "$image" >"$work/out" 2>&1 ||
  fail 'it does not start'
started
SNAPSHOTS_TOKEN=$token sh examples/publish.sh "$url" >"$work/out" 2>&1 || fail 'publishing and reading back'
passed 'published and read back, byte for byte'

[ "$("$engine" exec "$name" id -u)" = 1000 ] || fail 'it does not run as uid 1000'
if "$engine" exec "$name" touch /app/written 2>/dev/null; then fail 'the root file system can be written'; fi
"$engine" exec "$name" grep -qz '^MALLOC_TRIM_THRESHOLD_=' /proc/1/environ || fail 'MALLOC settings do not arrive'
passed 'uid 1000, read-only root, allocator settings in the process'

check=$("$engine" inspect --format '{{index .Config.Healthcheck.Test 3}}' "$name")
"$engine" exec "$name" node -e "$check" || fail 'the health check of a running service'
if once --entrypoint node "$image" -e "$check"; then fail 'the health check succeeds where nothing listens'; fi
passed 'the health check tells running from down'

"$engine" stop "$name" >/dev/null 2>&1 || fail 'it does not stop'
[ "$("$engine" inspect --format '{{.State.ExitCode}}' "$name")" = 0 ] || fail 'SIGTERM does not end it with 0'
"$engine" start "$name" >/dev/null 2>&1 || fail 'it does not start again'
started
SNAPSHOTS_TOKEN=$token sh examples/publish.sh "$url" >"$work/out" 2>&1 || fail 'reading after a restart'
grep -q '(409)' "$work/out" || fail 'the data is gone after a restart'
passed 'stopped by SIGTERM with 0, and the data is there at the next start'
