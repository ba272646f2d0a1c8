package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// machine is a folder of programs that scripts find instead of the system's.
type machine struct {
	t   *testing.T
	bin string
	env []string
}

// newMachine has the programs of a plain system, without a compiler, Python or apt-get.
func newMachine(t *testing.T, env ...string) *machine {
	m := &machine{t, t.TempDir(), env}
	for _, name := range []string{"sh", "env", "dirname", "sed", "cat", "cp", "rm", "ln", "mkdir", "uname", "awk", "df",
		"dpkg"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("left out: there is no %s; these scripts are for Debian", name)
		}
		m.has(name, "exec "+path+` "$@"`) // not a link: has would overwrite the system's program through it
	}
	return m.has("id", `echo 1000`)
}

// has adds a program with the given shell script.
func (m *machine) has(name, script string) *machine {
	require.NoError(m.t, os.WriteFile(filepath.Join(m.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	return m
}

// run runs a script of this tree on the machine, and returns its output and whether it succeeded.
func (m *machine) run(script string, args ...string) (string, bool) {
	command := exec.Command(script, args...)
	command.Env = append([]string{"PATH=" + m.bin, "SYSTEM=" + m.t.TempDir()}, m.env...)
	out, err := command.CombinedOutput()
	return string(out), err == nil
}

// plainOpenBLAS returns the root folder of a system with LibTorch, and with an OpenBLAS that has threads of its own.
func plainOpenBLAS(t *testing.T) string {
	system := t.TempDir()
	machine, err := exec.Command("uname", "-m").Output()
	require.NoError(t, err)
	for _, file := range []string{"usr/include/torch/csrc/api/include/torch/torch.h",
		"usr/lib/" + strings.TrimSpace(string(machine)) + "-linux-gnu/openblas-pthread/libblas.so.3"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(system, file)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(system, file), nil, 0o600))
	}
	return system
}

// If Debian's LibTorch cannot be installed, the message names alternatives that work.
func TestMissingPackagesNameAWayOut(t *testing.T) {
	compiler := func(m *machine) *machine { return m.has("c++", "true") }
	apt := func(m *machine, candidate string) *machine {
		return m.has("id", "echo 0").has("apt-get", `[ "$1" = update ] || echo installs "$@" >&2`).has("apt-cache",
			"echo '  Candidate: "+candidate+"'")
	}
	torch := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(torch, "include"), 0o700))
	const wheel = "'make demo LIBTORCH=wheel' installs PyTorch by pip instead"
	for name, c := range map[string]struct {
		m    *machine
		fine bool
		says []string
		not  string
	}{
		"another distribution": {compiler(newMachine(t)), false, []string{"this is not Debian; " +
			"install the equivalents of: libtorch-dev libopenblas0-openmp", wheel}, "CXX"},
		"a PyTorch is there": {compiler(newMachine(t)).has("python3", "echo "+torch), false,
			[]string{wheel, "'make demo LIBTORCH=" + torch + "' uses the PyTorch of python3"}, "CXX"},
		"no compiler either": {newMachine(t), false, []string{"g++ libtorch-dev", wheel, "CXX names a C++ compiler"},
			"uses the PyTorch"},
		"no root": {compiler(newMachine(t)).has("apt-get", "false"), false,
			[]string{"as root, run: apt-get install", wheel}, "CXX"},
		"sudo refuses": {compiler(newMachine(t)).has("apt-get", "true").has("sudo", "false"), false,
			[]string{"apt-get update failed; as root, run", wheel}, "CXX"},
		"an old system": {apt(compiler(newMachine(t)), "1.8.1-5"), false, []string{"libtorch-dev of this system is " +
			"1.8.1-5, and graft needs 1.13 or newer", wheel}, "installs install"},
		"a system without": {apt(compiler(newMachine(t)), "(none)"), false,
			[]string{"this system has no package libtorch-dev", wheel}, "installs install"},
		"Debian": {apt(compiler(newMachine(t)), "1.13.1+dfsg-4"), true,
			[]string{"installs install -y -qq --no-install-recommends libtorch-dev libopenblas0-openmp"}, "wheel"},
		"an OpenBLAS without OpenMP": {compiler(newMachine(t, "SYSTEM="+plainOpenBLAS(t))), true, nil, "packages"},
		"a wheel needs a compiler": {newMachine(t, "LIBTORCH="+torch), false,
			[]string{"install the equivalents of: g++\n", "CXX names"}, "libtorch"},
		"a wheel needs nothing of apt": {compiler(newMachine(t, "LIBTORCH="+torch)), true, nil, "packages"},
	} {
		t.Run(name, func(t *testing.T) {
			out, fine := c.m.run("../scripts/packages.sh", "build")
			require.Equal(t, c.fine, fine, out)
			containsAll(t, out, c.says...)
			require.NotContains(t, out, c.not)
		})
	}
}

// fakePython stands for a Python: it creates environments, installs a torch folder, and prints its arguments. HAS lists
// its modules.
const fakePython = `
case "$*" in
*"import ensurepip, venv"*) case $HAS in *ensurepip*) exit 0 ;; esac; exit 1 ;;
*"import pip"*) case $HAS in *pip*) exit 0 ;; esac; exit 1 ;;
*version_info*) exit 0 ;;
*find_spec*) echo lib/torch ;;
*purelib*) echo build/wheel/lib ;;
"-m venv"*) for home; do :; done; mkdir -p $home/bin; cp "$0" $home/bin/python ;;
*"pip install"*)
	echo "runs ${0##*/} $*"; mkdir -p build/wheel/lib/torch/include build/wheel/lib/torch/lib
	echo x >build/wheel/lib/torch/lib/libtorch_cpu.so ;;
*) echo "unexpected: $*"; exit 1 ;;
esac`

// The environment of a wheel is created with the modules that Python has, and only once.
func TestWheelIsInstalledOnce(t *testing.T) {
	for name, c := range map[string]struct {
		env  []string
		says string // empty means an error
		why  string
	}{
		"venv": {[]string{"HAS=ensurepip pip", "PIP_ARGS=--index-url here"},
			"runs python -m pip install --quiet --disable-pip-version-check --index-url here torch", ""},
		"a version": {[]string{"HAS=ensurepip", "TORCH=torch==2.7.1", "PIP_ARGS=-q"}, "-q torch==2.7.1", ""},
		"pip without venv": {[]string{"HAS=pip", "PIP_ARGS=-q"},
			"runs python3 -m pip install --target build/wheel/lib --quiet", ""},
		"neither": {[]string{"HAS=", "PIP_ARGS=-q"}, "",
			"python3 has neither ensurepip nor pip; install python3-venv, or name another Python"},
		"no such Python":    {[]string{"PYTHON=python9", "PIP_ARGS=-q"}, "", "no python9; name a Python in PYTHON"},
		"a CPU without GPU": {[]string{"HAS=ensurepip"}, "this machine has no GPU; PIP_ARGS='--index-url ADDRESS'", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, c.env...).has("python3", fakePython).has("nvidia-smi", "exit 9").
				has("df", "echo head; echo disk 0 0 99000000")
			tree := t.TempDir()
			script := write(t, filepath.Join(tree, "scripts/wheel.sh"), contents(t, "../scripts/wheel.sh"))
			require.NoError(t, os.Chmod(script, 0o700))
			out, fine := m.run(script)
			require.Equal(t, c.says != "", fine, out)
			require.Contains(t, out, c.says+c.why)
			if fine {
				link, err := os.Readlink(filepath.Join(tree, "build/wheel/torch"))
				require.NoError(t, err)
				require.Equal(t, "lib/torch", link)
				out, fine = m.run(script)
				require.True(t, fine)
				require.Empty(t, out, "it is there")
			}
		})
	}
	m := newMachine(t).has("python3", fakePython).has("df", "echo head; echo disk 0 0 1000").has("uname",
		"echo Linux x86_64")
	script := write(t, filepath.Join(t.TempDir(), "scripts/wheel.sh"), contents(t, "../scripts/wheel.sh"))
	require.NoError(t, os.Chmod(script, 0o700))
	out, fine := m.run(script)
	require.False(t, fine)
	require.Contains(t, out, "needs 10 GB on the disk")
}

// make LIBTORCH=wheel installs the wheel before the library, and passes its folder to all steps.
func TestMakeWithAWheel(t *testing.T) {
	makes := func(args ...string) string {
		out, err := exec.Command("env", append([]string{"-u", "MAKEFLAGS", "-u", "GRAFT_PYTHON", "-u", "LIBTORCH",
			"make", "-n", "-C", ".."}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("left out: there is no make; install make")
	}
	require.Regexp(t, `(?s)packages\.sh build.*scripts/wheel\.sh.*scripts/library\.sh.*go build.*graft `+
		`doctor.*graft demo`, makes("demo", "LIBTORCH=wheel"))
	require.NotContains(t, makes("demo"), "wheel.sh")
	require.Contains(t, makes("library", "LIBTORCH=wheel"), "scripts/wheel.sh")
	require.NotContains(t, makes("library", "LIBTORCH=/opt/torch"), "wheel.sh")
	printed := makes("-s", "--eval", `print: ; @echo "$(LIBTORCH) $(GRAFT_PYTHON)"`, "print", "LIBTORCH=wheel")
	require.Regexp(t, `echo "/.*/build/wheel/torch /.*/build/wheel/bin/python"`, printed)
}

// A release searches no folder of its builder for libraries, and runs wherever it is unpacked. Two module caches give
// the same bytes.
func TestRelease(t *testing.T) {
	longOnly(t, "a release")
	t.Parallel() // it waits for processes
	if _, err := os.Stat("../build/src/cgotorch"); err != nil {
		t.Skip("left out: build/src is missing; run 'make source'")
	}
	dir := t.TempDir()
	pack := func(to string, env ...string) string {
		args := []string{"-s", "--no-print-directory", "-C", "..", "release", "VERSION=1.2.3", "RELEASE=" + to}
		if !longTests {
			args = append(args, "PATHS=")
		}
		command := exec.Command("make", args...)
		command.Env = append(append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000", "MAKEFLAGS="), env...)
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s", out)
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return lines[len(lines)-1]
	}
	first := pack(filepath.Join(dir, "one"))
	if longTests { // it compiles everything again
		second := pack(filepath.Join(dir, "two"), anotherModuleCache(t)...)
		require.True(t, contents(t, first) == contents(t, second), "equal sources give equal bytes")
		require.Equal(t, contents(t, first+".sha256"), contents(t, second+".sha256"))
	}
	requireNoSearchPath(t, filepath.Join(dir, "one/graft"))
	list, err := exec.Command("tar", "-xvzf", first, "-C", dir).Output()
	require.NoError(t, err)
	home := filepath.Join(dir, strings.TrimSuffix(filepath.Base(first), ".tar.gz"))
	for _, name := range []string{"bin/graft", "scripts/library.sh", "scripts/wheel.sh",
		"build/src/cgotorch/cgotorch.h", "torch/csrc/door.cc", "share/man/man1/graft-train.1",
		"share/bash-completion/completions/graft", "share/graft/python/graft_results.py", "LICENSE",
		"Makefile", "docs/install.md", "scenarios/small.toml", "python/pyproject.toml", "licenses/go/LICENSE",
		"python/typed/py.typed", "share/graft/python/typed/py.typed",
		"licenses/github.com/vbauerster/mpb/v8/UNLICENSE",
		"licenses/github.com/wangkuiyi/gotorch/LICENSE", "licenses/github.com/spf13/cobra/LICENSE.txt"} {
		require.Contains(t, string(list), filepath.Base(home)+"/"+name+"\n")
	}
	got, err := exec.Command(filepath.Join(home, "bin/graft"), "version").Output()
	require.NoError(t, err)
	require.Contains(t, string(got), "1.2.3")
	requireLinks(t, home)
	help, err := exec.Command("make", "-s", "-C", home).Output()
	require.NoError(t, err)
	require.Contains(t, string(help), "make library    build the library for LibTorch")
	require.NotContains(t, string(help), "make test", "what needs Go is not offered")

	// Objects of equal sources are copied from this tree, so only the linker runs.
	objects, err := filepath.Abs("../build/obj")
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(filepath.Join(home, "build/obj"), os.DirFS(objects)))
	out, err := exec.Command(filepath.Join(home, "scripts/library.sh")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	doctor := exec.Command(filepath.Join(home, "bin/graft"), "doctor")
	doctor.Env = append(os.Environ(), "GRAFT_LIBRARY=")
	out, err = doctor.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), filepath.Join(home, "build/lib/libgrafttorch.so"))
}

// pageLink matches a link to a file of the tree.
var pageLink = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// requireLinks checks that the pages of a release link only to files in the release.
func requireLinks(t *testing.T, home string) {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(home, "docs", "*.md"))
	require.NoError(t, err)
	for _, page := range append(pages, filepath.Join(home, "README.md")) {
		for _, link := range pageLink.FindAllStringSubmatch(contents(t, page), -1) {
			require.FileExists(t, filepath.Join(filepath.Dir(page), link[1]), "%s links to it", page)
		}
	}
}

// anotherModuleCache returns the environment of a build with a new module cache, filled from this machine's cache.
func anotherModuleCache(t *testing.T) []string {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOFLAGS").Output()
	require.NoError(t, err)
	cache, flags, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	return []string{"GOMODCACHE=" + t.TempDir(), "GOPROXY=file://" + cache + "/cache/download",
		"GOFLAGS=" + flags + " -modcacherw"} // lets the test remove it
}

// requireNoSearchPath checks that the loader looks for a program's libraries only in the system's folders.
func requireNoSearchPath(t *testing.T, program string) {
	file, err := elf.Open(program)
	require.NoError(t, err)
	defer file.Close()
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		paths, err := file.DynString(tag)
		require.NoError(t, err)
		require.Empty(t, paths, tag.String())
	}
}

// The toolchain line makes a release independent of the installed Go.
func TestReleasesNameTheirToolchain(t *testing.T) {
	toolchain := regexp.MustCompile(`(?m)^toolchain (go1\.\d+\.\d+)$`).FindStringSubmatch(contents(t, "../go.mod"))
	require.Len(t, toolchain, 2)
	out, err := exec.Command("make", "-n", "-C", "..", "release").CombinedOutput()
	require.NoError(t, err, "%s", out)
	command := regexp.MustCompile(`GOTOOLCHAIN=(.*) go build`).FindStringSubmatch(string(out))
	require.Len(t, command, 2, "%s", out)
	named := exec.Command("sh", "-c", "echo "+command[1])
	named.Dir = ".."
	out, err = named.Output()
	require.NoError(t, err)
	require.Equal(t, toolchain[1], strings.TrimSpace(string(out)))
}
