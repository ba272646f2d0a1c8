package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/report/runs"
)

// readRun is a run as graft reads it, for comparison with the Python reader.
type readRun struct {
	Kind   string                      `json:"kind"`
	Ended  bool                        `json:"ended"`
	Seed   uint64                      `json:"seed"`
	Parts  []string                    `json:"parts"`
	Config map[string]string           `json:"config"`
	Tables map[string]map[string][]any `json:"tables"` // columns of each table
}

// readByGraft reads the runs that the Python module can read too.
func readByGraft(t *testing.T, paths map[string]string) map[string]readRun {
	all := map[string]readRun{}
	for name, path := range paths {
		r := openRun(t, path)
		if r.Kind == runs.OriginalKind {
			continue
		}
		read := readRun{Kind: r.Kind.Name, Ended: r.Ended, Seed: r.Manifest.Seed, Config: map[string]string{},
			Tables: map[string]map[string][]any{}}
		for _, s := range r.Settings {
			read.Config[s.Key] = s.Text
		}
		list, err := r.Series()
		require.NoError(t, err)
		for _, s := range list {
			if r.Kind != runs.PolicyKind || s.Name == "learning" { // episodes are not a table file
				read.Tables[s.Name] = columnsOf(s)
			}
		}
		below, _ := runs.Find(files.OS{}, filepath.Join(path, "*")) // also finds folders that are not runs
		for _, part := range below {
			f, err := runs.ReadFolder(files.OS{}, part)
			if err == nil && f.IsRun() && f.Guess() != runs.CellKind && filepath.Base(part) != runs.TableFolder {
				read.Parts = append(read.Parts, filepath.Base(part))
			}
		}
		all[name] = read
	}
	return all
}

// columnsOf returns the values of columns by their names in Python. Missing numbers are nil.
func columnsOf(s runs.Series) map[string][]any {
	columns := map[string][]any{}
	for _, c := range s.Columns {
		name := c.Name
		if c.Unit != "" {
			name += "_" + strings.ReplaceAll(c.Unit, "/", "_")
		}
		for _, text := range c.Texts {
			columns[name] = append(columns[name], text)
		}
		for _, v := range c.Values {
			var value any
			switch {
			case math.IsInf(v, 1):
				value = json.Number("1e999") // JSON has no infinity; Python reads this as one
			case !math.IsNaN(v):
				value = v
			}
			columns[name] = append(columns[name], value)
		}
	}
	return columns
}

// leftOutPattern matches a skipped Python test.
var leftOutPattern = regexp.MustCompile(`skipped ['"](left out: [^'"]*)`)

// The Python module reads the same content as graft, without packages and with the packages of GRAFT_PYTHON.
func TestPythonReadsRuns(t *testing.T) {
	dir := t.TempDir()
	all := writeAll(t)
	for name, path := range all {
		require.NoError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(path)))
	}
	write(t, filepath.Join(dir, "job.toml"),
		"[data.synthetic]\nclasses = 4\nsize = 16\ntrain = 200\ntest = 100\n[time]\nbudget = \"1s\"\n"+
			"events = [{at = \"400ms\", change = \"up\"}]\n[adapt]\ndecider = \"script\"\n"+
			"actions = [\"deepen:conv1\"]\n")
	all["real"] = filepath.Join(dir, "real")
	must(t, "train "+filepath.Join(dir, "job.toml")+" --folder "+all["real"])
	expected, err := json.Marshal(readByGraft(t, all))
	require.NoError(t, err)
	write(t, filepath.Join(dir, "expected.json"), string(expected))
	for _, python := range pythons(t) {
		command := exec.Command(python, "-m", "unittest", "discover", "-v", "-s", "../python")
		command.Env = append(os.Environ(), "GRAFT_TEST_RUNS="+dir, "PYTHONDONTWRITEBYTECODE=1")
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s: %s", python, out)
		t.Log(skippedIn(out, python))
	}
}

// The Python modules and their tests pass mypy's strict checks, if mypy is installed.
func TestPythonTypes(t *testing.T) {
	checked := false
	for _, python := range pythons(t) {
		if exec.Command(python, "-c", "import mypy").Run() != nil {
			continue
		}
		command := exec.Command(python, "-m", "mypy", "--strict", "--cache-dir", t.TempDir(), ".")
		command.Dir = "../python"
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s: %s", python, out)
		checked = true
	}
	if !checked {
		t.Skip("left out: no mypy to check types in Python; install it with pip, and name its Python in GRAFT_PYTHON")
	}
}

// Each module that pip installs has the marker that lets type checkers read its types.
func TestPythonModulesAreMarkedAsTyped(t *testing.T) {
	var project struct {
		Tool struct {
			Setuptools struct {
				Modules  []string            `toml:"py-modules"`
				Packages []string            `toml:"packages"`
				Folders  map[string]string   `toml:"package-dir"`
				Data     map[string][]string `toml:"package-data"`
			} `toml:"setuptools"`
		} `toml:"tool"`
	}
	require.NoError(t, toml.Unmarshal([]byte(contents(t, "../python/pyproject.toml")), &project))
	tools := project.Tool.Setuptools
	require.Equal(t, tools.Modules, tools.Packages)
	require.Equal(t, []string{"py.typed"}, tools.Data["*"])
	for _, name := range tools.Modules {
		require.FileExists(t, filepath.Join("../python", name+".py"))
		require.FileExists(t, filepath.Join("../python", tools.Folders[name], "py.typed"))
	}
}

// skippedIn lists the skipped tests of a Python, one per line.
func skippedIn(out []byte, python string) string {
	var b strings.Builder
	for _, why := range leftOutPattern.FindAllSubmatch(out, -1) {
		fmt.Fprintf(&b, "%s (%s)\n", why[1], python)
	}
	return b.String()
}

// pythons returns the machine's Python and the one in GRAFT_PYTHON, or skips the test if there is none.
func pythons(t *testing.T) (list []string) {
	for _, name := range []string{"python3", os.Getenv("GRAFT_PYTHON")} {
		if path, err := exec.LookPath(name); err == nil {
			list = append(list, path)
		}
	}
	if len(list) == 0 {
		t.Skip("left out: there is no python3 to read runs with; install python3")
	}
	return list
}
