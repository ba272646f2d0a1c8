#!/bin/sh
# Installs from Debian what building graft needs and this machine lacks. Silent
# when nothing is missing.
#
#   packages.sh build   a C++ compiler, LibTorch (unless LIBTORCH names another)
#   packages.sh test    PyTorch for Python, which some tests compare with, Slurm, of
#                       which tests start one of their own, as root, and Chromium, in
#                       which they open pages
set -eu

missing=
# want PACKAGE FILE...: the package is missing when one of its files is.
want() {
	package=$1
	shift
	for file in "$@"; do
		[ -e "$file" ] || { missing="$missing $package"; return 0; }
	done
}

architecture=$(uname -m)-linux-gnu
case ${1:-build} in
build)
	command -v "${CXX:-c++}" >/dev/null || missing="$missing g++"
	if [ -z "${LIBTORCH:-}" ]; then
		want libtorch-dev /usr/include/torch/csrc/api/include/torch/torch.h
		# Without it Debian falls back to a reference BLAS that is many times slower.
		want libopenblas0-pthread "/usr/lib/$architecture/openblas-pthread/libblas.so.3"
	fi
	;;
test)
	# Another LibTorch is compared with the PyTorch that it came with.
	if [ -z "${GRAFT_PYTHON:-}" ]; then want python3-torch /usr/lib/python3/dist-packages/torch/__init__.py; fi
	want slurm-wlm /usr/sbin/slurmctld /usr/sbin/slurmd
	want slurm-client /usr/bin/sbatch
	want munge /usr/sbin/munged
	want python3-yaml /usr/lib/python3/dist-packages/yaml/__init__.py
	want chromium /usr/bin/chromium
	;;
esac
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null || {
	echo "packages: this is not Debian; install the equivalents of:$missing" >&2
	exit 1
}
root=
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null || {
		echo "packages: as root, run: apt-get install --no-install-recommends$missing" >&2
		exit 1
	}
	root=sudo
fi
echo "packages: installing from Debian:$missing"
$root apt-get update -qq
# shellcheck disable=SC2086
$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
