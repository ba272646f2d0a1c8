#!/bin/sh
# Builds build/lib/libgrafttorch.so: gotorch's C++ half and graft's own shim in
# one library with a pure C border. Needs a C++ compiler and a LibTorch, no Go.
#
#   LIBTORCH   the LibTorch to build for: an unpacked archive or the torch folder
#              of a PyTorch wheel. Empty: Debian's libtorch-dev.
#   CXX        the compiler, c++ when empty.
#   OUT        where the library goes, build/lib when empty.
#   CUDA_HOME  where CUDA's headers and NCCL's are, for processes on CUDA devices;
#              those that lie beside a wheel are found without it.
#
# Nothing is built again unless its sources, its flags or the LibTorch changed.
set -eu
cd "$(dirname "$0")/.."

CXX=${CXX:-c++}
LIBTORCH=${LIBTORCH:-}
out=${OUT:-build/lib}
objects=build/obj
gotorch=build/src

fail() {
	echo "library: $1" >&2
	exit 1
}

[ -d "$gotorch/cgotorch" ] || fail "$gotorch/cgotorch is missing; run 'make source' where Go is installed and carry build/src here"
command -v "$CXX" >/dev/null || fail "no C++ compiler named $CXX; install g++ or set CXX"
mkdir -p "$out" "$objects"

# ---- where LibTorch is, and how it was made

if [ -n "$LIBTORCH" ]; then
	[ -d "$LIBTORCH/include" ] || fail "LIBTORCH=$LIBTORCH has no include folder; name an unpacked LibTorch or the torch folder of a wheel"
	LIBTORCH=$(cd "$LIBTORCH" && pwd)
	headers=$LIBTORCH/include
	includes="-isystem $headers -isystem $headers/torch/csrc/api/include"
	libraries=$LIBTORCH/lib
	search="-L$libraries -Wl,-rpath,$libraries"
else
	headers=/usr/include
	[ -f $headers/torch/csrc/api/include/torch/torch.h ] || fail "no LibTorch found; run 'make deps', or set LIBTORCH"
	includes="-isystem $headers/torch/csrc/api/include"
	libraries=$(dirname "$(ls /usr/lib/*/libtorch_cpu.so /usr/lib/libtorch_cpu.so 2>/dev/null | head -n 1)")
	# Debian can have several builds of OpenBLAS. The one with OpenMP shares LibTorch's threads, so it comes first.
	# Libraries that LibTorch depends on but does not use are replaced by empty ones; see unneeded.sh.
	# Only an rpath of the old kind applies to the libraries that LibTorch needs.
	search="-Wl,--disable-new-dtags -Wl,-rpath,\$ORIGIN/unneeded -Wl,-rpath,$libraries/openblas-openmp"
fi

version=
for file in torch/headeronly/version.h torch/version.h torch/csrc/api/include/torch/version.h; do
	[ -z "$version" ] && [ -f "$headers/$file" ] || continue
	version=$(sed -n 's/^#define TORCH_VERSION_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\)$/\2/p' "$headers/$file" | head -n 3 | paste -sd.)
done
[ -n "$version" ] || fail "cannot read the version of LibTorch below $headers"
major=${version%%.*}
minor=${version#*.}
minor=${minor%%.*}

# 2.9 dropped C++17 and earlier ones are tried with no other.
standard=c++17
if [ "$major" -gt 2 ] || { [ "$major" -eq 2 ] && [ "$minor" -ge 9 ]; }; then standard=c++20; fi

# Wheels before 2.7 were built with the old string ABI: ask the library itself.
abi=1
if nm -D "$libraries/libc10.so" 2>/dev/null | grep -q 'c105ErrorC[12]E' &&
	! nm -D "$libraries/libc10.so" | grep 'c105ErrorC[12]E' | grep -q '__cxx11'; then
	abi=0
fi

if [ -f "$libraries/libtorch_cuda.so" ]; then
	search="$search -Wl,--no-as-needed -ltorch_cuda -lc10_cuda -Wl,--as-needed"
fi

# ---- objects, each named by what it was made from

flags="-fPIC -fopenmp -D_GLIBCXX_USE_CXX11_ABI=$abi"
compiler=$("$CXX" --version | head -n 1)
pids=
list=

# object NAME SOURCE FLAGS FILES...: compiles in the background unless it is there.
object() {
	name=$1 source=$2 options=$3
	shift 3
	key=$({ echo "$compiler $version $libraries $options"; cat "$@"; } | sha256sum | cut -c1-16)
	object=$objects/$name-$key.o
	list="$list $object"
	[ ! -f "$object" ] || return 0
	echo "library: compiling $name for LibTorch $version"
	# shellcheck disable=SC2086
	{ "$CXX" $options -c "$source" -o "$object.tmp" && mv "$object.tmp" "$object"; } &
	pids="$pids $!"
}

# has FILE SYMBOL: whether a library exports a symbol.
has() { [ -f "$1" ] && nm -D "$1" 2>/dev/null | grep -q " T $2"; }

# CUDA's headers, which a wheel brings along.
cuda=
for folder in ${LIBTORCH:+"$LIBTORCH"/../triton/backends/nvidia/include "$LIBTORCH"/../nvidia/*/include} ${CUDA_HOME:+"$CUDA_HOME/include"} /usr/local/cuda/include; do
	if [ -d "$folder" ]; then cuda="$cuda -isystem $folder"; fi
done

# attempt NAME FLAGS TRIES FILES...: compiles torch/csrc/NAME.cc with the first of TRIES that compiles:
# definitions joined by commas. NAME-….is says which.
attempt() {
	name=$1 options=$2 tries=$3
	shift 3
	key=$({ echo "$compiler $version $libraries $options $tries $cuda"; cat "torch/csrc/$name.cc" "$@"; } | sha256sum | cut -c1-16)
	object=$objects/$name-$key.o
	list="$list $object"
	[ ! -f "$object" ] || return 0
	echo "library: compiling $name for LibTorch $version"
	{
		for try in $tries; do
			# shellcheck disable=SC2086
			if "$CXX" $options $(echo "$try" | tr , ' ') $cuda -c "torch/csrc/$name.cc" -o "$object.tmp" 2>"$object.log"; then break; fi
			echo "library: $name does not compile with $try: $(grep -m 1 error "$object.log" || true); trying with less"
		done
		echo "$try" >"$object.is" && mv "$object.tmp" "$object"
	} &
	pids="$pids $!"
}

# What lets processes train together, with as much of c10d as this LibTorch has and its headers
# allow: all, Gloo alone, or nothing. NCCL wants CUDA's headers.
together=-DGRAFT_ALONE
if has "$libraries/libtorch_cpu.so" _ZN4c10d16ProcessGroupGlooC1; then together="-DUSE_C10D_GLOO $together"; fi
if has "$libraries/libtorch_cuda.so" _ZN4c10d16ProcessGroupNCCLC1; then together="-DUSE_C10D_NCCL,-DUSE_C10D_GLOO $together"; fi

graphs=-DGRAFT_NO_GRAPHS
if [ -f "$libraries/libtorch_cuda.so" ]; then graphs="-DGRAFT_LIMIT,-DGRAFT_CUDA -DGRAFT_CUDA $graphs"; fi

# gotorch's nine files as one unit: the headers cost more than the code.
unity=$objects/cgotorch.cc
for file in "$gotorch"/cgotorch/*.cc; do echo "#include \"cgotorch/$(basename "$file")\""; done >"$unity.tmp"
cmp -s "$unity.tmp" "$unity" 2>/dev/null && rm "$unity.tmp" || mv "$unity.tmp" "$unity"

object cgotorch "$unity" "-std=$standard -O1 -w $flags -I$gotorch $includes" "$unity" "$gotorch"/cgotorch/*.cc "$gotorch"/cgotorch/*.h
object door torch/csrc/door.cc "-std=$standard -O2 -Wall -Wno-sign-compare $flags $includes" torch/graft.h torch/csrc/*.cc torch/csrc/*.h
attempt c10d "-std=$standard -O2 -Wall -Wno-sign-compare $flags -Itorch/csrc $includes" "$together" torch/graft.h torch/csrc/peers.h torch/csrc/meeting.h torch/csrc/star.h torch/csrc/gloo/declared.h
peers=$object
attempt graphs "-std=$standard -O2 -Wall -Wno-sign-compare $flags $includes" "$graphs" torch/csrc/graphs.h
captures=$object
for pid in $pids; do wait "$pid" || fail "the compiler failed; its message is above"; done
pids=

kernels="-std=c++17 -O3 -fPIC -Wall -Wno-psabi -fno-math-errno"
sets=base
case $(uname -m) in x86_64) sets="base avx2 avx512" ;; esac
for set in $sets; do
	case $set in
	avx2) extra="-mavx2 -mfma" ;;
	avx512) extra="-mavx512f -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512" ;;
	*) extra= ;;
	esac
	object "kernels-$set" torch/csrc/kernels.cc "$kernels -DGRAFT_ISA=$set $extra" torch/csrc/kernels.cc torch/csrc/kernels.h
	object "policy-$set" torch/csrc/policy_kernels.cc "$kernels -DGRAFT_ISA=$set $extra" torch/csrc/policy_kernels.cc torch/csrc/policy_kernels.h
done
object dispatch torch/csrc/dispatch.cc "$kernels" torch/csrc/dispatch.cc torch/csrc/kernels.h
object jpeg torch/csrc/jpeg.cc "$kernels" torch/csrc/jpeg.cc torch/graft.h
object policy torch/csrc/policy.cc "$kernels" torch/csrc/policy.cc torch/csrc/policy*.h
for pid in $pids; do wait "$pid" || fail "the compiler failed; its message is above"; done

# ---- the library, replaced in one step

needed= # state of the libraries that LibTorch depends on
if [ -z "$LIBTORCH" ]; then
	needed=$(ldd "$libraries/libtorch_cpu.so" | awk '$2 == "=>" { print $3 }' | xargs stat -L -c '%n %s %Y' | cat - scripts/unneeded.sh)
fi
stamp=$(echo "$list $search $needed" | sha256sum)
if [ -f $out/libgrafttorch.so ] && [ "$(cat $out/stamp 2>/dev/null)" = "$stamp" ]; then exit 0; fi
rm -rf "$out/unneeded"
if [ -z "$LIBTORCH" ]; then scripts/unneeded.sh "$libraries/libtorch_cpu.so" "$out/unneeded"; fi
# OpenMP is left to be found among what LibTorch itself needs: a wheel may carry
# one of its own, and with two in a process each would keep its own threads.
# shellcheck disable=SC2086
"$CXX" -shared -o $out/libgrafttorch.so.tmp $list -Wl,-Bsymbolic \
	${LIBTORCH:+-L$libraries} $search -ltorch_cpu -lc10 -lpthread -ldl
mv $out/libgrafttorch.so.tmp $out/libgrafttorch.so
{
	echo "libtorch=${LIBTORCH:-Debian}"
	echo "version=$version"
	echo "standard=$standard"
	case $(cat "$peers.is") in
	*NCCL*) echo "processes=gloo, nccl" ;;
	*GLOO*) echo "processes=gloo" ;;
	*) echo "processes=none" ;;
	esac
	echo "graphs=$(grep -q GRAFT_CUDA "$captures.is" && echo yes || echo no)"
	echo "cuda=$([ -f "$libraries/libtorch_cuda.so" ] && echo yes || echo no)"
} >$out/origin
echo "$stamp" >$out/stamp
echo "library: $out/libgrafttorch.so is ready for LibTorch $version (${LIBTORCH:-Debian})"
