#!/usr/bin/env bash
# A throw-away Ceph with its S3 gateway on loopback, from Debian's packages: one monitor, one OSD, one gateway.
#   ceph.sh start DIR PORT   about 15 s; prints the endpoint; PORT and the one after it must be free; keys AK and SK
#   ceph.sh stop DIR         ends the processes that it started, by their pid files
# Needs: apt-get install --no-install-recommends radosgw ceph-mon ceph-osd ceph-common
set -euo pipefail
what="$1" dir="$(realpath -m "$2")" port="${3:-0}"

stop() {
  local file pids=()
  for file in "$dir"/*.pid; do [[ -s "$file" ]] && pids+=("$(cat "$file")"); done
  ((${#pids[@]} == 0)) || kill -KILL "${pids[@]}" 2>/dev/null || true
}

start() {
  mkdir -p "$dir"/{mon,osd,rgw}
  local fsid uuid conf="$dir/ceph.conf"
  fsid="$(cat /proc/sys/kernel/random/uuid)" uuid="$(cat /proc/sys/kernel/random/uuid)"
  cat >"$conf" <<CONF
[global]
fsid = $fsid
mon host = v1:127.0.0.1:$((port + 1))
public addr = 127.0.0.1
ms bind msgr2 = false
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
mon allow pool size one = true
mon warn on pool no redundancy = false
osd crush chooseleaf type = 0
osd objectstore = bluestore
bluestore block size = 8589934592
bluestore block create = true
mon data avail warn = 1
mon data avail crit = 1
run dir = $dir
log file = $dir/\$name.log
pid file = $dir/\$name.pid
admin socket = $dir/\$name.asok
mon data = $dir/mon
osd data = $dir/osd
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:$port
rgw data = $dir/rgw
rgw enable usage log = false
CONF
  monmaptool --create --addv a "[v1:127.0.0.1:$((port + 1))]" --fsid "$fsid" "$dir/monmap" >/dev/null
  ceph-mon -c "$conf" --mkfs -i a --monmap "$dir/monmap"
  ceph-mon -c "$conf" -i a
  ceph -c "$conf" osd new "$uuid" >/dev/null
  echo "$uuid" >"$dir/osd/fsid"
  ceph-osd -c "$conf" -i 0 --mkfs --osd-uuid "$uuid" 2>/dev/null
  # Now and then it asks the monitor before it knows its cluster, and ends ("wrong fsid").
  for _ in $(seq 10); do ceph-osd -c "$conf" -i 0 2>/dev/null && break; sleep 0.5; done
  radosgw -c "$conf" -n client.rgw
  for _ in $(seq 90); do curl -sf -o /dev/null "http://127.0.0.1:$port/" && break; sleep 0.5; done
  radosgw-admin -c "$conf" -n client.rgw --admin-socket "$dir/admin.asok" user create \
    --uid=t --display-name=t --access-key=AK --secret-key=SK >/dev/null 2>&1
  echo "http://127.0.0.1:$port"
}

case "$what" in start) start ;; stop) stop ;; *) echo "start or stop" >&2 && exit 2 ;; esac
