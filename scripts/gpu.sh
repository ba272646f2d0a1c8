#!/bin/sh
# Checks what needs a GPU, within ten minutes, and writes a folder with a report.
#
#   scripts/gpu.sh build          where Go is: builds the programs, and packs them and the
#                                 library's sources into build/gpu.tar.gz
#   scripts/gpu.sh run [FOLDER]   where the GPU is, without Go: unpacks that file, builds the
#                                 library against the PyTorch that is there, runs each step in
#                                 its own time limit, and writes report.txt, report.json and a
#                                 log of each step into FOLDER, gpu-report when empty
#
#   LIBTORCH      the LibTorch to build for; empty: that of the Python, else Debian's.
#   GRAFT_PYTHON  the Python whose PyTorch is measured; empty: python3.
#   STEPS         names of the steps to run, separated by spaces; empty: all.
#   LIMIT         seconds of all steps together; empty: 600.
set -u
cd "$(dirname "$0")/.." || exit 1

fail() {
	echo "gpu: $1" >&2
	exit 1
}

build() {
	command -v go >/dev/null || fail "there is no Go here; build where it is, and carry build/gpu.tar.gz here"
	mkdir -p build/gpu
	make -s source &&
		go build -ldflags '-s -w -extld=scripts/link.sh -extldflags=-Wl,-z,lazy' -o build/gpu/graft ./runner &&
		go build -ldflags '-s -w -extld=scripts/link.sh -extldflags=-Wl,-z,lazy' -o build/gpu/bench ./bench &&
		for package in torch trainer internal/telemetry; do
			go test -c -ldflags '-s -w -extld=scripts/link.sh -extldflags=-Wl,-z,lazy' -o "build/gpu/$(basename $package).test" ./$package || exit 1
		done || fail "the programs do not build; the compiler's message is above"
	tar -czf build/gpu.tar.gz --exclude=build/gpu/lib build/gpu build/src || fail "the programs cannot be packed; tar's message is above"
	echo "gpu: build/gpu.tar.gz ($(du -h build/gpu.tar.gz | cut -f1)) and the checkout are what scripts/gpu.sh run needs; it needs no Go"
}

# ---- what is there

# ask PYTHON PROGRAM: what a Python says. The checkout has a folder torch of its own, which it must not see.
ask() { (cd / && "$1" -c "$2"); }

find_python() {
	if [ -n "${GRAFT_PYTHON:-}" ] && ! ask "$GRAFT_PYTHON" 'import torch' >/dev/null 2>&1; then
		echo "gpu: GRAFT_PYTHON is $GRAFT_PYTHON, which is no Python that can import torch; correct or unset it" >&2
		exit 1
	fi
	for python in ${GRAFT_PYTHON:-} python3 /usr/bin/python3; do
		if ask "$python" 'import torch; torch.__version__' >/dev/null 2>&1; then return 0; fi
	done
	python=
}

find_libtorch() {
	if [ -z "${LIBTORCH:-}" ] && [ -n "$python" ]; then
		LIBTORCH=$(ask "$python" 'import os, torch; print(os.path.dirname(torch.__file__))')
		[ -d "$LIBTORCH/include" ] || LIBTORCH= # Debian's Python has its headers elsewhere
	fi
	export LIBTORCH="${LIBTORCH:-}"
}

# ---- steps

began=$(date +%s)
limit_all=${LIMIT:-600}
failures=0

# quoted TEXT: a JSON string.
quoted() { printf '"%s"' "$(printf %s "$1" | tr -d '\000-\010\013-\037' | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/	/ /g' | tr '\n' ' ')"; }

# record NAME STATE SECONDS LIMIT TEXT: a line on the screen and a row of the report.
record() {
	printf '%-14s %-14s %4ss  %s\n' "$1" "$2" "$3" "$(printf %s "$5" | cut -c1-120)" | tee -a "$folder/report.txt"
	[ ! -s "$folder/steps" ] || printf ',\n' >>"$folder/steps"
	printf '    {"step": "%s", "state": "%s", "seconds": %s, "limit_s": %s, "last": %s}' "$1" "$2" "$3" "$4" "$(quoted "$5")" >>"$folder/steps"
}

# step NAME NEEDS LIMIT COMMAND...: runs a step, unless what it needs is missing. NEEDS is gpu, python,
# both or none.
step() {
	name=$1 needs=$2 limit=$3
	shift 3
	if [ -n "${STEPS:-}" ]; then case " $STEPS " in *" $name "*) ;; *) return 0 ;; esac fi
	case $needs in gpu | both)
		if [ "$gpu" = no ]; then
			record "$name" "left out" 0 "$limit" "no CUDA device"
			return 0
		fi
		;;
	esac
	case $needs in python | both)
		if [ -z "$python" ]; then
			record "$name" "left out" 0 "$limit" "no PyTorch in ${GRAFT_PYTHON:-python3}"
			return 0
		fi
		;;
	esac
	now=$(date +%s)
	left=$((limit_all - (now - began)))
	if [ "$left" -lt 5 ]; then
		record "$name" "left out" 0 "$limit" "no time is left of $limit_all s"
		failures=$((failures + 1))
		return 0
	fi
	[ "$limit" -lt "$left" ] || limit=$left
	timeout -k 5 "$limit" "$@" >"$folder/$name.log" 2>&1
	code=$?
	took=$(($(date +%s) - now))
	last=$(grep -v '^ *$' "$folder/$name.log" | tail -n 1)
	case $code in
	0) state=pass ;;
	124 | 137) state=timeout failures=$((failures + 1)) ;;
	*) state="failed, $code" failures=$((failures + 1)) ;;
	esac
	record "$name" "$state" "$took" "$limit" "$last"
}

machine() {
	nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo "no NVIDIA driver"
	[ -z "$python" ] || ask "$python" 'import torch; print("PyTorch", torch.__version__, "for CUDA", torch.version.cuda)'
	echo "$(nproc) processors, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
}

# cuda: whether the library that was built finds a CUDA device.
cuda() { "$programs/graft" doctor --json 2>/dev/null | grep -q '"cuda_devices":[1-9]'; }

# program: trains PyTorch's example with autocast on the GPU, under graft, and says by how much surgery moved its outputs.
program() {
	"$PWD/build/gpu/graft" train scenarios/program/gpt.toml --set "program.command=[\"$python\", \"gpt.py\"]" \
		--folder "$(mktemp -d)/run" 2>&1 | tee /dev/stderr | grep -o '"outputs_moved_by": [^,}]*'
}

# in FOLDER COMMAND...: tests read files beside them.
in_folder() { (cd "$1" && shift && "$@"); }

run() {
	folder=${1:-gpu-report}
	programs=$PWD/build/gpu
	if [ -f build/gpu.tar.gz ] && { [ ! -f "$programs/graft" ] || [ build/gpu.tar.gz -nt "$programs/graft" ]; }; then
		tar -xzmf build/gpu.tar.gz || fail "build/gpu.tar.gz does not unpack; tar's message is above"
	fi
	[ -x "$programs/graft" ] || fail "build/gpu.tar.gz is missing; run scripts/gpu.sh build where Go is, and carry it here"
	mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || fail "cannot make the folder $folder"
	rm -f "$folder/steps" "$folder"/*.log
	find_python
	find_libtorch
	export GRAFT_LIBRARY="$programs/lib/libgrafttorch.so" GRAFT_PYTHON="$python" OUT=build/gpu/lib
	echo "graft on a GPU, $(date -u +%Y-%m-%d)" >"$folder/report.txt"
	gpu=no
	step machine none 20 sh "$0" step machine
	step library none 200 scripts/library.sh
	if cuda; then gpu=yes; fi
	step doctor none 30 "$programs/graft" doctor
	step tests-torch none 90 sh "$0" step in_folder torch "$programs/torch.test" -test.run CUDA -test.v
	step tests-trainer none 60 sh "$0" step in_folder trainer "$programs/trainer.test" -test.run CUDA -test.v
	step energy gpu 40 sh "$0" step in_folder internal/telemetry "$programs/telemetry.test" -test.run EnergyOfAGPU -test.v
	step demo gpu 60 "$programs/graft" demo --set run.device=cuda:0
	step profile gpu 100 "$programs/graft" profile --device cuda:0 --rounds 3 --force --out "$folder/gpu.profile.toml"
	step profile-bfloat16 gpu 100 "$programs/graft" profile --device cuda:0 --precision bfloat16 --rounds 3 --force --out "$folder/gpu-bfloat16.profile.toml"
	step epoch both 150 "$programs/bench" epoch -device cuda:0 -images 12800 -rounds 5 -starts 1 -python "$python"
	step gpt both 100 "$programs/bench" gpt -device cuda:0 -rounds 3 -starts 1 -steps 8 -python "$python"
	step gpt-85m both 120 "$programs/bench" gpt -device cuda:0 -rounds 3 -starts 1 -steps 8 -gpt.width 768 -gpt.heads 12 -gpt.depth 12 -gpt.context 256 -gpt.precision tf32 -python "$python"
	step gpt-graphs both 150 "$programs/bench" gpt -device cuda:0 -rounds 3 -starts 1 -steps 8 -gpt.graphs -python "$python"
	step gpt-85m-graphs both 150 "$programs/bench" gpt -device cuda:0 -rounds 3 -starts 1 -steps 8 -gpt.width 768 -gpt.heads 12 -gpt.depth 12 -gpt.context 256 -gpt.precision tf32 -gpt.graphs -python "$python"
	step program both 90 sh "$0" step program
	step grid gpu 120 "$programs/bench" grid -device cuda:0 -graft "$programs/graft" -python "${python:-none}"
	finish
}

# finish writes what the measuring steps printed, and the report for programs.
finish() {
	for name in profile profile-bfloat16 epoch gpt gpt-85m gpt-graphs gpt-85m-graphs grid; do
		if [ -s "$folder/$name.log" ]; then printf '\n%s\n' "$name" && cat "$folder/$name.log"; fi
	done >>"$folder/report.txt"
	{
		printf '{\n  "version": 1,\n  "date": "%s",\n  "cuda": %s,\n' "$(date -u +%Y-%m-%d)" "$([ $gpu = yes ] && echo true || echo false)"
		printf '  "machine": %s,\n  "library": %s,\n' "$(quoted "$(cat "$folder/machine.log" 2>/dev/null)")" "$(quoted "$(cat build/gpu/lib/origin 2>/dev/null)")"
		printf '  "failures": %s,\n  "steps": [\n' "$failures"
		cat "$folder/steps" 2>/dev/null
		printf '\n  ]\n}\n'
	} >"$folder/report.json"
	rm -f "$folder/steps"
	echo "gpu: the report is in $folder; failures: $failures"
	[ "$failures" -eq 0 ]
}

case ${1:-} in
build) build ;;
run)
	shift
	run "$@"
	;;
step) # a function of this file, for a time limit
	shift
	python=${GRAFT_PYTHON:-}
	"$@"
	;;
*)
	sed -n '2,18p' "$0"
	exit 2
	;;
esac
