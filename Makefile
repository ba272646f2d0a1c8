# graft: 'make demo' runs the main job, 'make test' passes the tests. Each sets
# up what it needs by itself, says what it does, and needs the network only the
# first time.
#
#   LIBTORCH=DIR   use another LibTorch: an unpacked archive, or the torch folder
#                  of a PyTorch wheel (its Python is then compared with as well)
#   LIBTORCH=wheel install PyTorch by pip into build/wheel, without root, and use it;
#                  PYTHON, TORCH and PIP_ARGS as scripts/wheel.sh says
#   GRAFT_PYTHON=PATH, GRAFT_PEERS=PATH
#                  with make test: a Python with another PyTorch, and one with libraries that
#                  own the training loop, as CONTRIBUTING.md says
#   TABLES="DIR…"  with make bench: tables that policies learn, ours or the original's

SHELL := /bin/sh
export LIBTORCH ?=
TABLES ?=

ifeq ($(LIBTORCH),wheel)
WHEEL := wheel
override LIBTORCH := $(CURDIR)/build/wheel/torch
export GRAFT_PYTHON ?= $(CURDIR)/build/wheel/bin/python
endif

# A wheel's torch folder lies in lib/pythonX/site-packages of its environment.
ifneq ($(LIBTORCH),)
export GRAFT_PYTHON ?= $(abspath $(wildcard $(LIBTORCH)/../../../../bin/python))
endif

# Where 'make install' puts graft. DESTDIR comes before it, for packages.
override PREFIX := $(or $(PREFIX),/usr/local)

# What 'make image' builds an image of the container with, its name, and further arguments.
DOCKER ?= docker
IMAGE ?= graft
IMAGE_ARGS ?=

# What 'make release' calls the version, and where it puts the archive.
RELEASE ?= build/release
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)

.PHONY: help deps source library wheel build demo test test-long test-pytorch check static debug naive race race-runner bench gpu fuzz install uninstall release image clean go

help:
	@echo "make demo     set up, look the machine over, run a job that grows and shrinks,"
	@echo "              let policies learn from three small scenarios,"
	@echo "              and simulate a failing cluster whose jobs grow"
	@echo "make test     set up, all checks and tests"
	@echo "make test-long  the tests at full length, for hours"
	@echo "make test-pytorch  the tests of PyTorch programs, with the PyTorch that pip installs"
	@echo "make check    the inner loop: vet, and the tests of packages that changed"
	@echo "make bench    measure against PyTorch"
	@echo "make gpu      check all that needs a GPU, into gpu-report; scripts/gpu.sh does so without Go"
	@echo "make deps     set up only; go build and go test work alone after it"
	@echo "make library  build the LibTorch library alone; needs no Go"
	@echo "make fuzz     fuzz each reader for a minute"
	@echo "make install  put graft, its manual pages and completions into PREFIX=/usr/local"
	@echo "make uninstall  remove what make install has put there"
	@echo "make release  pack graft for machines without Go into build/release"
	@echo "make image    build an image for containers by Docker, or by DOCKER=podman"

go:
	@case "$$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null)" in \
	  ''|go1.[0-9]|go1.[0-9].*|go1.1[0-9]*|go1.20*) \
	    echo "graft needs Go 1.21 or newer: install golang-go from Debian 12's backports, or unpack an archive from go.dev/dl"; exit 1;; esac

# gotorch's C++ half, copied out of the module cache so that it can be carried to
# a machine without Go.
source: go
	@go mod download
	@dir=$$(go list -m -f '{{.Dir}}' github.com/wangkuiyi/gotorch) && mkdir -p build/src/cgotorch && \
	  for f in $$dir/cgotorch/*.cc $$dir/cgotorch/*.h; do \
	    cmp -s $$f build/src/cgotorch/$$(basename $$f) || install -m 644 $$f build/src/cgotorch/; done

wheel:
	@scripts/wheel.sh

# A checkout copies the sources with Go first; a release has them.
library: $(WHEEL) $(if $(wildcard build/src/cgotorch),,source)
	@scripts/library.sh

deps: go
	@scripts/packages.sh build
	@$(MAKE) -s source
	@$(MAKE) -s library

# Results name the revision that made them, also of builds without Go's own record.
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null)
# An image is built without the folder .git; its version then says whether the sources differ.
STAMP = $(shell r=$(REVISION) && m=$$(test -z "$(filter %-dirty,$(VERSION))$$(git status --porcelain 2>/dev/null)" && \
  echo false || echo true) && \
  echo "-X main.revision=$$r -X main.modified=$$m $(LAZY)")
# NVML's functions are found when they are called first; hardened compilers ask for all of them at once.
LAZY = -extldflags=-Wl,-z,lazy
# The program has no path of this folder or of the module cache: not in traces, and not to search libraries in.
CLEAN = -trimpath -ldflags "-extld=scripts/link.sh -X main.version=$(VERSION) $(STAMP)"

build: deps
	@go build $(CLEAN) -o bin/graft ./runner

install: build
	@scripts/install.sh "$(DESTDIR)$(PREFIX)"

uninstall:
	@scripts/install.sh --remove "$(DESTDIR)$(PREFIX)"

# The program for machines without Go, and what its library is built from there. It is the same in any
# folder, from any module cache and on any day, with the Go of go.mod's toolchain line and one C compiler.
# Tests leave PATHS empty, so that nothing is compiled again.
PATHS = -trimpath
release: source
	@GOTOOLCHAIN=$$(sed -n 's/^toolchain //p' go.mod) go build $(PATHS) -buildvcs=false \
	  -ldflags "-buildid= -extld=scripts/link.sh -X main.version=$(VERSION) $(STAMP)" -o $(RELEASE)/graft ./runner
	@GRAFT=$(RELEASE)/graft scripts/release.sh "$(VERSION)" $(RELEASE)

# The folder .git is no part of an image, so the version goes in as an argument.
image:
	@$(DOCKER) build -t $(IMAGE) --build-arg VERSION="$(VERSION)" --build-arg REVISION="$(REVISION)" \
	  --build-arg LIBTORCH="$(WHEEL)" $(IMAGE_ARGS) .

demo: build
	@bin/graft doctor
	@bin/graft demo $$(grep -qsw avx2 /proc/cpuinfo && echo --set run.instructions=avx2)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && bin/graft pipeline scenarios/small.toml --folder "$$dir/small" && \
	  bin/graft cluster run scenarios/growing/cluster.toml --scheduler backfill,fair --set schedule.seeds=1 \
	  --set 'growth.shares=[0, 1]' --set live.job=scenarios/growing/job.toml --set live.count=2 --out "$$dir/cluster"

check: deps
	@go vet ./...
	@go test ./...

# The packages in which goroutines share something, under the race detector; -vet=off, since vet has been run.
race: deps
	@go test -vet=off -race ./internal/files/... ./internal/parallel/... ./results ./internal/listen ./report/serve ./runner/control ./internal/decode \
	  ./internal/telemetry ./cluster/execute ./cluster/node/... ./cluster/fabric/agent
	@go test -vet=off -race -run 'Many|AtTheSameTime|Keep|LocalConforms' ./simulation/tables ./cluster/schedulers ./fleet

race-runner:
	@go test -vet=off -race -run 'Listen|Serve|Bars|Signal|Recorded' -skip 'ManyRunsIsQuick|Browser|PagesFit' ./runner
	@go test -vet=off -race -run 'FabricRunsAreTheSame|LiveChangesAtRandom|LiveRefuses' ./runner/study ./trainer

# Tests of the program that mostly wait for other processes, of Slurm for example. They run beside all others, in a
# process of their own, because those of one package take turns.
WAITING = Slurm|HowTos|Tutorial|SurvivesKills|EndTheSame|Release|OneResult|Machines|Follow

# Compilers, checkers and tests use a tenth less processor time if they collect garbage less often.
test static: export GOGC ?= 400

# Packages whose tests take longest, or wait for processes. They begin first, while the tests of the program use the
# processors, so that nothing long is left at the end.
LONGEST = ./fleet ./trainer ./model/graph/trial ./trainer/costs ./runner/study ./torch ./net2net ./runner/train ./simulation/grid

# Temporary files of the tests are in memory, if there is enough of it: see scripts/memory.sh.
# Tests of the program run next to all others. Checkers of the code take what processors they leave. staticcheck leaves
# out test files, which take most of its time; 'make test-long' checks them.
test: go
	@scripts/packages.sh build
	@scripts/packages.sh test || echo "test: what needs these packages is left out"
	@$(MAKE) -s source
	@echo "== library, vet"; \
	  $(MAKE) -s library >build/library.log 2>&1 & library=$$!; \
	  go vet ./... && go vet -tags graftdebug ./torch ./cluster; code=$$?; \
	  wait $$library || code=$$?; cat build/library.log; exit $$code
	@go build -ldflags "$(STAMP)" -o bin/graft ./runner
	@echo "== tests, staticcheck, deadcode, debug build of schedulers"; \
	  memory=$$(scripts/memory.sh); trap 'rm -rf "$$memory"' EXIT; trap 'exit 1' HUP INT TERM; \
	  [ -z "$$memory" ] || export GOTMPDIR="$${GOTMPDIR:-$${TMPDIR:-/tmp}}" TMPDIR="$$memory"; \
	  go test -vet=off -timeout 30m -v -run '$(WAITING)' ./runner >build/waiting.log 2>&1 & waiting=$$!; \
	  go test -vet=off -timeout 30m -v ./runner -skip '$(WAITING)' >build/runner.log 2>&1 & runner=$$!; \
	  nice -n 10 $(MAKE) -s static naive >build/debug.log 2>&1 & debug=$$!; \
	  go test -vet=off -timeout 30m -v $(LONGEST) $$(go list ./... | grep -v '/runner$$') >build/test.log 2>&1; code=$$?; \
	  wait $$waiting || code=$$?; wait $$runner || code=$$?; wait $$debug || code=$$?; \
	  cat build/waiting.log build/runner.log build/debug.log >>build/test.log; \
	  if [ $$code -ne 0 ]; then grep -vE '^ *(=== |--- PASS|PASS$$)' build/test.log; exit $$code; fi; \
	  grep -E '^(ok|\?)' build/test.log; grep -oE '(left out|measured): .*' build/test.log | sort -u || true

static:
	@go tool staticcheck -tests=false ./...
	@scripts/deadcode.sh

# The build that checks how tensors are used.
debug: deps
	@go test -vet=off -tags graftdebug -skip 'Process|Torchvision|CUDA|MemoryIsFlat' ./torch

# The build that checks schedulers against naive ones.
naive: deps
	@GRAFT_CASES=1500 go test -vet=off -tags graftdebug -run 'Naive|Conformance|Bad' ./cluster ./cluster/schedulers

# What needs a GPU, in ten minutes: see docs/gpu.md.
gpu: source
	@scripts/gpu.sh build
	@scripts/gpu.sh run

# All repetitions of the tests that 'make test' shortens, and the race detector on what takes long.
test-long: deps
	@scripts/packages.sh test || true
	@scripts/packages.sh long || true
	@go build -ldflags "$(STAMP)" -o bin/graft ./runner
	@GRAFT_LONG=1 go test -timeout 3h -v ./... >build/test-long.log 2>&1; code=$$?; \
	  if [ $$code -ne 0 ]; then grep -vE '^ *(=== |--- PASS|PASS$$)' build/test-long.log; exit $$code; fi; \
	  grep -E '^(ok|\?)' build/test-long.log; grep -oE '(left out|measured): .*' build/test-long.log | sort -u || true
	@$(MAKE) -s debug race race-runner
	@go tool staticcheck ./...
	@go test -race -timeout 2h ./torch/... ./model ./tracing/... ./config ./simulation/...
	@go test -race -timeout 2h -skip 'OnSlurm|KilledSimulations|KilledPipelines|FleetFaults|TestPipeline$$|TestSimulate$$' ./runner/...

# Debian's PyTorch has no torch.export, so make test leaves out the tests that need it. They run here.
PROGRAMS = ProgramsEqualJobs|ProgramsWithSeveralInputs|OtherArgumentsAfterSurgery|ProgramsTrainAsAlone|ProgramsOfDrawn
test-pytorch: deps wheel
	@GRAFT_PYTHON=$(CURDIR)/build/wheel/bin/python go test -vet=off -timeout 30m ./runner ./runner/train -run '$(PROGRAMS)'

bench: build
	@scripts/packages.sh test || true
	@go run ./bench all $(foreach table,$(TABLES),-table $(table))
	@GRAFT_LONG=1 go test ./trainer -run Distillation -v | grep -oE '(left out|measured): .*'

fuzz:
	@for p in $$(go list ./...); do for f in $$(go test -list '^Fuzz' $$p | grep ^Fuzz); do \
	  echo "== $$p $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime 1m -fuzzminimizetime 20x $$p || exit 1; done; done

clean:
	rm -rf bin build
