#!/bin/sh
# Installs from Debian what building graft needs and this machine lacks. Silent
# when nothing is missing.
#
#   packages.sh build   a C++ compiler, LibTorch (unless LIBTORCH names another)
#   packages.sh test    PyTorch for Python, which some tests compare with, Slurm, of
#                       which tests start one of their own, as root, libjpeg-turbo,
#                       and Chromium, in which they open pages
#   packages.sh long    Slurm's accounting with a database, of which a test of make test-long
#                       starts one of its own, as root
#
# SYSTEM is the root folder of the system, / when empty; tests set it.
set -eu

system=${SYSTEM:-}
missing=
# want PACKAGE FILE...: the package is missing when one of its files is.
want() {
	package=$1
	shift
	for file in "$@"; do
		[ -e "$system$file" ] || { missing="$missing $package"; return 0; }
	done
}

architecture=$(uname -m)-linux-gnu
case ${1:-build} in
build)
	command -v "${CXX:-c++}" >/dev/null || missing="$missing g++"
	if [ -z "${LIBTORCH:-}" ]; then
		want libtorch-dev /usr/include/torch/csrc/api/include/torch/torch.h
		# Without OpenBLAS, Debian falls back to a reference BLAS that is many times slower. The build with threads of
		# its own works too, but computes linear layers on one thread.
		if [ ! -e "$system/usr/lib/$architecture/openblas-pthread/libblas.so.3" ]; then
			want libopenblas0-openmp "/usr/lib/$architecture/openblas-openmp/libblas.so.3"
		fi
	fi
	;;
test)
	# Another LibTorch is compared with the PyTorch that it came with.
	if [ -z "${GRAFT_PYTHON:-}" ]; then want python3-torch /usr/lib/python3/dist-packages/torch/__init__.py; fi
	want slurm-wlm /usr/sbin/slurmctld /usr/sbin/slurmd
	want slurm-client /usr/bin/sbatch
	want munge /usr/sbin/munged
	want libturbojpeg0 "/usr/lib/$architecture/libturbojpeg.so.0"
	want python3-yaml /usr/lib/python3/dist-packages/yaml/__init__.py
	want chromium /usr/bin/chromium
	;;
long)
	want slurmdbd /usr/sbin/slurmdbd
	want mariadb-server /usr/sbin/mariadbd
	;;
esac
[ -n "$missing" ] || exit 0

# refuse says why a package cannot be installed, and what else there is.
refuse() {
	echo "packages: $1" >&2
	case $missing in *libtorch-dev*)
		echo "packages: 'make demo LIBTORCH=wheel' installs PyTorch by pip instead, beneath build/wheel and without root" >&2
		torch=$(python3 -c 'import importlib.util, os; print(os.path.dirname(importlib.util.find_spec("torch").origin))' 2>/dev/null) || torch=
		if [ -d "$torch/include" ]; then echo "packages: 'make demo LIBTORCH=$torch' uses the PyTorch of python3" >&2; fi
		;;
	esac
	case $missing in *g++*)
		echo "packages: CXX names a C++ compiler that is elsewhere, such as one of a module or of Conda; C++20 needs GCC 10 or newer" >&2 ;;
	esac
	exit 1
}

command -v apt-get >/dev/null || refuse "this is not Debian; install the equivalents of:$missing"
root=
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null || refuse "as root, run: apt-get install --no-install-recommends$missing"
	root=sudo
fi
$root apt-get update -qq || refuse "apt-get update failed; as root, run: apt-get install --no-install-recommends$missing"
case $missing in *libtorch-dev*)
	version=$(apt-cache policy libtorch-dev | sed -n 's/^ *Candidate: //p')
	case $version in ''|'(none)') refuse "this system has no package libtorch-dev" ;; esac
	dpkg --compare-versions "$version" ge 1.13 || refuse "libtorch-dev of this system is $version, and graft needs 1.13 or newer"
	;;
esac
echo "packages: installing from Debian:$missing"
# shellcheck disable=SC2086
$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null || refuse "apt-get could not install:$missing"
