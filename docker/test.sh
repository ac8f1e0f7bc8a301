#!/usr/bin/env bash
# Build the image without a Docker daemon and run it: `make docker-test`, as root on Debian, with the packages
# buildah, crun and mmdebstrap. It takes minutes and 4 GB, so CI leaves it out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work="$(mktemp -d)"
export STORAGE_DRIVER=vfs
# a chroot has no network of its own; pip's settings and certificates are those of this machine
settings=(--isolation chroot --network host -v /etc/ssl/certs:/etc/ssl/certs:ro)
pip="$(mktemp)"
PIP_CONFIG_FILE= python3 -m pip config list | sed -n "s/^:env:\.\([a-z-]*\)='\(.*\)'$/\1 = \2/p" | sed '1i [global]' >"$pip"
chmod 644 "$pip"
settings+=(-v "$pip:/etc/pip.conf:ro")
trap 'rm -rf "$work" "$pip"; [ -z "${container:-}" ] || buildah rm "$container" >/dev/null' EXIT

base="${BASE_TAR:-$work/base.tar}"
[ -e "$base" ] || mmdebstrap --quiet --variant=minbase --include=python3,python3-venv,ca-certificates bookworm "$base"
imported="$(buildah from scratch)"
buildah add --quiet "$imported" "$base" / >/dev/null
buildah commit --quiet "$imported" localhost/python:base >/dev/null
buildah rm "$imported" >/dev/null

begin=$SECONDS
buildah bud --quiet "${settings[@]}" --build-arg BASE=localhost/python:base -f docker/Dockerfile -t localhost/msnb . >/dev/null
echo "built in $((SECONDS - begin)) s, $(buildah images --format '{{.Size}}' localhost/msnb)"
container="$(buildah from localhost/msnb)"
inside() { buildah run --isolation chroot --network host "$container" -- "$@"; }

inside python -c "import os; assert (os.getuid(), os.getgid()) == (1000, 100); print('uid', os.getuid())"
inside msnb version
inside sh -c 'cat > mul.py <<END
import numpy as np
import mindspore as ms
from mindspore import ops
print(ops.Mul()(ms.Tensor(np.array([1, 2, 3], np.float32)), ms.Tensor(np.array([4, 5, 6], np.float32))))
END
msnb run mul.py' | tee >(cat >&2) | grep -q '4\. *10\. *18'
begin=$SECONDS
inside msnb demo
echo "demo in $((SECONDS - begin)) s"
inside sh -c 'msnb lab --ip=127.0.0.1 --port=18888 --no-browser >/tmp/lab.log 2>&1 & lab=$!
  for i in $(seq 60); do python -c "import urllib.request as r; print(r.urlopen(\"http://127.0.0.1:18888/api\").status)" 2>/dev/null && break; sleep 1; done
  kill $lab; test $i -lt 60'
