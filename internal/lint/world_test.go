package lint

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// toy is a program with one more world, added with one package and one line.
type toy struct {
	t           *testing.T
	graft, root string
	dir         string
}

// toyFiles returns the files of the world, and the list of worlds with a line for it.
func toyFiles(t *testing.T, root string) map[string]string {
	t.Helper()
	world, err := os.ReadFile("testdata/toy.go.txt")
	require.NoError(t, err)
	list, err := os.ReadFile(filepath.Join(root, "cluster/worlds/worlds.go"))
	require.NoError(t, err)
	text := strings.Replace(string(list), "import (\n", "import (\n\t\"graft/cluster/toy\"\n", 1)
	text = strings.Replace(text, "return []*study.World{\n", "return []*study.World{\n\t\ttoy.World(),\n", 1)
	return map[string]string{"cluster/toy/toy.go": string(world), "cluster/worlds/worlds.go": text}
}

// newToy prepares a folder for the program with the toy world.
func newToy(t *testing.T, root, graft string) *toy {
	t.Helper()
	w := &toy{t: t, graft: graft, root: root, dir: t.TempDir()}
	file := "[line]\njobs = [5.0, 1.0, 3.0]\n"
	require.NoError(t, os.WriteFile(w.at("toy.toml"), []byte(file), 0o600))
	return w
}

func (w *toy) at(name string) string { return filepath.Join(w.dir, name) }

// run runs the program in the folder.
func (w *toy) run(args ...string) string {
	w.t.Helper()
	c := exec.Command(w.graft, args...)
	c.Dir = w.dir
	out, err := c.CombinedOutput()
	require.NoError(w.t, err, "%v: %s", args, out)
	return string(out)
}

// isAWorld checks that configuration, command, resume, reports, figures and the Python reader support the added world.
func (w *toy) isAWorld() {
	t := w.t
	require.Contains(t, w.run("config", "check", "toy.toml"), "3 jobs in a line; digest ")
	require.Contains(t, w.run("config", "show", "toy.toml"), "schedule.schedulers")
	require.Contains(t, w.run("config", "schema", "--toy"), `"jobs"`)
	require.Contains(t, w.run("cluster", "run", "--help"), "jobs that wait in a line for one server")
	text := w.run("cluster", "run", "toy.toml", "--out", "run", "--quiet")
	for _, part := range []string{"MEAN JCT [s]", "short", "late"} {
		require.Contains(t, text, part)
	}
	w.reported()
	w.resumed()
	w.readByPython()
}

// reported checks every form of report, and figures.
func (w *toy) reported() {
	var o struct {
		Runs []struct {
			Kind       string
			Quantities []struct{ Quantity, Unit string }
			Detail     struct {
				Cells []struct{ Values map[string]float64 }
			}
		}
	}
	require.NoError(w.t, json.Unmarshal([]byte(w.run("report", "run", "--json")), &o))
	require.Equal(w.t, "toy", o.Runs[0].Kind)
	require.Equal(w.t, "s", o.Runs[0].Quantities[0].Unit)
	require.InDelta(w.t, (5.0+6+9)/3, o.Runs[0].Detail.Cells[0].Values["jct_mean_s"], 1e-12)
	require.Contains(w.t, w.run("report", "run", "--markdown"), "| SCHEDULER |")
	require.Contains(w.t, w.run("report", "run", "--csv"), "jct")
	w.run("report", "run", "--html", "page.html")
	w.run("plot", "run", "--out", "figures")
	for _, name := range []string{"page.html", "figures/run-completions.svg", "figures/run-schedulers-jct_mean.svg"} {
		require.FileExists(w.t, w.at(name))
	}
}

// resumed kills runs early, resumes them, and requires the bytes of an uninterrupted run.
func (w *toy) resumed() {
	want, err := os.ReadFile(w.at("run/outcome.json"))
	require.NoError(w.t, err)
	for k := range 5 {
		folder := "killed" + string(rune('a'+k))
		c := exec.Command(w.graft, "cluster", "run", "toy.toml", "--out", folder, "--quiet")
		c.Dir = w.dir
		require.NoError(w.t, c.Start())
		time.Sleep(time.Duration(8*k) * time.Millisecond)
		_ = c.Process.Kill() // it may have ended already
		_ = c.Wait()
		w.run("cluster", "run", "toy.toml", "--out", folder, "--quiet", "--resume")
		got, err := os.ReadFile(w.at(folder + "/outcome.json"))
		require.NoError(w.t, err)
		require.Equal(w.t, string(want), string(got), folder)
	}
}

// readByPython reads the run with the Python reader.
func (w *toy) readByPython() {
	script := `import sys; sys.path.insert(0, sys.argv[1]); import graft_results as g
run = g.read("run")
print(run.kind, run.outcome["cells"][0]["values"]["jct_mean_s"], run.table("cells")["jct_mean_s"][0])
print(run.table("line/first/jobs")["jct_s"])`
	c := exec.Command("python3", "-c", script, filepath.Join(w.root, "python"))
	c.Dir = w.dir
	out, err := c.CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	require.Contains(w.t, string(out), "toy 6.66")
	require.Contains(w.t, string(out), "[5.0, 6.0, 9.0]")
}
