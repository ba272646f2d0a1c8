# graft without Go: builds the library that graft opens, for the LibTorch of this machine, and installs both.
#
#   LIBTORCH=DIR   use another LibTorch than Debian's: an unpacked archive, or the torch folder of a PyTorch wheel
#   LIBTORCH=wheel install PyTorch by pip into build/wheel, without root, and use it
#   PREFIX=DIR     where 'make install' puts graft; /usr/local if empty

SHELL := /bin/sh
export LIBTORCH ?=

ifeq ($(LIBTORCH),wheel)
WHEEL := wheel
override LIBTORCH := $(CURDIR)/build/wheel/torch
endif

override PREFIX := $(or $(PREFIX),/usr/local)

.PHONY: help packages wheel library demo install uninstall

help:
	@echo "make packages   install a C++ compiler and Debian's LibTorch, as root"
	@echo "make library    build the library for LibTorch; LIBTORCH=wheel gets PyTorch by pip, without root"
	@echo "make demo       check the machine, run a job and learn a policy"
	@echo "make install    put graft, its library, manual pages and completions into PREFIX=/usr/local"
	@echo "make uninstall  remove what make install has put there"
	@echo "bin/graft doctor checks the machine; bin/graft demo runs a job. graft needs glibc 2.34 or newer."

packages:
	@scripts/packages.sh build

wheel:
	@scripts/wheel.sh

library: $(WHEEL)
	@scripts/library.sh

demo: library
	@bin/graft doctor
	@bin/graft demo $$(grep -qsw avx2 /proc/cpuinfo && echo --set run.instructions=avx2)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && bin/graft pipeline scenarios/small.toml --folder "$$dir/small"

install: library
	@GRAFT=bin/graft scripts/install.sh "$(DESTDIR)$(PREFIX)"

uninstall:
	@scripts/install.sh --remove "$(DESTDIR)$(PREFIX)"
