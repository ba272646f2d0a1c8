#!/bin/sh
# Installs PyTorch from a wheel into a virtual environment of its own, build/wheel, whose torch
# folder is build/wheel/torch. Needs python3 with venv or pip, and no root. Silent when it is there.
#
#   PYTHON    the Python of the environment, python3 when empty
#   TORCH     what pip installs, torch when empty; such as torch==2.7.1
#   PIP_ARGS  further arguments of pip install, such as --index-url ADDRESS for the index of CPU
#             wheels, or --find-links DIR --no-index for wheels that lie in a folder
set -eu
cd "$(dirname "$0")/.."

PYTHON=${PYTHON:-python3}
home=build/wheel

fail() {
	echo "wheel: $1" >&2
	exit 1
}

# What is there stays, unless another one is named.
if [ -f $home/torch/lib/libtorch_cpu.so ]; then
	if [ -z "${TORCH:-}${PIP_ARGS:-}" ] || [ "$(cat $home/wanted)" = "${TORCH:-} ${PIP_ARGS:-}" ]; then exit 0; fi
fi

command -v "$PYTHON" >/dev/null || fail "no $PYTHON; name a Python in PYTHON, or an unpacked LibTorch in LIBTORCH"
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || fail "$PYTHON is older than 3.9; name a newer one in PYTHON"

size="about 1 GB"
if [ -z "${PIP_ARGS:-}" ] && [ "$(uname -sm)" = "Linux x86_64" ]; then
	size="about 6 GB, with CUDA"
	[ "$(df -Pk . | awk 'NR == 2 { print $4 }')" -gt 10000000 ] || fail "the wheel with CUDA needs 10 GB on the disk of $PWD; free them, or name the index of CPU wheels, as PyTorch's installation page gives it: PIP_ARGS='--index-url ADDRESS'"
	nvidia-smi >/dev/null 2>&1 || echo "wheel: this machine has no GPU; PIP_ARGS='--index-url ADDRESS' with the address that PyTorch's installation page gives for CPU takes a sixth"
fi
echo "wheel: installing ${TORCH:-torch} into $home, $size"

rm -rf $home
if "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
	"$PYTHON" -m venv $home
	set -- $home/bin/python -m pip install
elif "$PYTHON" -c 'import pip' 2>/dev/null; then
	# Debian and Ubuntu put ensurepip into python3-venv, which takes root to install.
	"$PYTHON" -m venv --without-pip $home
	set -- "$PYTHON" -m pip install --target "$($home/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
else
	fail "$PYTHON has neither ensurepip nor pip; install python3-venv, or name another Python, such as Conda's, in PYTHON"
fi
# shellcheck disable=SC2086
"$@" --quiet --disable-pip-version-check ${PIP_ARGS:-} ${TORCH:-torch} || fail "pip did not install ${TORCH:-torch}; its message is above. PIP_ARGS passes arguments to it"
torch=$($home/bin/python -c 'import importlib.util, os, sys
print(os.path.relpath(os.path.dirname(importlib.util.find_spec("torch").origin), sys.prefix))') || fail "pip has installed no package torch"
[ -d "$home/$torch/include" ] || fail "$home/$torch has no include folder; name another version in TORCH"
ln -sfn "$torch" $home/torch
echo "${TORCH:-} ${PIP_ARGS:-}" >$home/wanted
