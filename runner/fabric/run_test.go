package fabric_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"graft/config"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/fabric"
)

const smallCluster = `[fabric]
bandwidth = 1e10
size = [2, 2, 2]
[graphs]
models = ["ConvNet", "CIFARResNet20"]
[demand]
jobs = 30
[vary]
loads = [0.5, 2]
[degree]
worth = true
`

// run simulates the small cluster into a folder.
func run(t *testing.T, fsys files.FS, folder string, o app.FolderOptions, set ...string) (*runs.FabricOutcome, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cluster.toml")
	require.NoError(t, os.WriteFile(path, []byte(smallCluster), 0o644))
	c, err := config.ReadFabric(fsys, path, append(set, "run.folder="+config.Quote(folder)))
	require.NoError(t, err)
	env := &app.Env{Files: fsys, Now: time.Now, Log: zap.NewNop()}
	return fabric.Run(context.Background(), env, c, path, o)
}

// tree is the text of the tables and of the outcome of a run.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if name := filepath.Base(path); err == nil && (strings.HasSuffix(name, ".csv") || name == "outcome.json") {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			all[strings.TrimPrefix(path, folder)] = string(text)
		}
		return err
	}))
	return all
}

// The same file gives the same bytes on one thread and on four, and after a run that was broken off.
func TestRunsOfFabricsAreTheSame(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	o, err := run(t, files.OS{}, first, app.FolderOptions{}, "degree.workers=4")
	require.NoError(t, err)
	_, err = run(t, files.OS{}, second, app.FolderOptions{}, "degree.workers=1")
	require.NoError(t, err)
	whole := tree(t, first)
	require.Equal(t, whole, tree(t, second))
	require.Len(t, whole, 1+1+1+len(o.Points)*o.Seeds*len(o.Points[0].Cells)+len(o.Points[0].Cells)-1,
		"outcome, table, spans and jobs")

	require.NoError(t, os.Remove(filepath.Join(second, "outcome.json")))
	require.NoError(t, os.RemoveAll(filepath.Join(second, "thrifty")))
	_, err = run(t, files.OS{}, second, app.FolderOptions{}, "degree.workers=1")
	require.ErrorContains(t, err, "resume")
	again, err := run(t, files.OS{}, second, app.FolderOptions{Resume: true}, "degree.workers=1")
	require.NoError(t, err)
	require.Equal(t, whole, tree(t, second))
	again.Folder = o.Folder
	require.Equal(t, o, again)
	_, err = run(t, files.OS{}, second, app.FolderOptions{Resume: true}, "demand.jobs=31")
	require.ErrorContains(t, err, "demand.jobs")
}

// No decider blocks fewer jobs than the exact search, and none fewer than those that no cluster lets start.
func TestNoDeciderBeatsTheExactSearch(t *testing.T) {
	o, err := run(t, files.OS{}, filepath.Join(t.TempDir(), "run"), app.FolderOptions{},
		"demand.jobs=15", "degree.worth=false", "vary.networks=['ramp','tree 2x4']",
		"degree.deciders=['thrifty','exact','best-constant','quickest']")
	require.NoError(t, err)
	require.Len(t, o.Points, 4)
	for _, p := range o.Points {
		require.Equal(t, 8, p.Servers)
		exact := standingOf(t, &p, "exact")
		for _, s := range p.Blocked.Standings {
			for k, row := range s.Times {
				require.LessOrEqual(t, exact.Times[k][0], row[0]+1e-9, "%s, seed %d", s.Scheduler, k)
			}
		}
		require.LessOrEqual(t, 100*p.Hopeless, *exact.Mean+1e-9)
	}
}

func standingOf(t *testing.T, p *runs.FabricPoint, name string) *runs.ElasticStanding {
	k := slices.IndexFunc(p.Blocked.Standings, func(s runs.ElasticStanding) bool { return s.Scheduler == name })
	require.GreaterOrEqual(t, k, 0)
	return &p.Blocked.Standings[k]
}

// Shares are shares, deciders see the same jobs, and no constant degree blocks fewer than the best one.
func TestFiguresOfFabrics(t *testing.T) {
	o, err := run(t, files.OS{}, filepath.Join(t.TempDir(), "run"), app.FolderOptions{},
		"degree.deciders=['best-constant','constant-1','constant-2','constant-4','constant-8','thrifty','random']")
	require.NoError(t, err)
	require.Equal(t, 8, o.Servers)
	for _, p := range o.Points {
		blocked := map[string]float64{}
		for _, c := range p.Cells {
			blocked[c.Decider] = c.Blocked
			started, stopped := 0, 0
			for _, d := range c.Degrees {
				started += d.Jobs
			}
			for _, n := range c.Causes {
				stopped += n
			}
			require.Equal(t, o.Jobs*o.Seeds, started+stopped, "%s: each job starts or is blocked", c.Decider)
			require.InDelta(t, c.Blocked, float64(stopped)/float64(o.Jobs*o.Seeds), 1e-12)
			require.True(t, 0 <= c.Busy && c.Busy <= c.Held && c.Held <= 1+1e-9, "%s: %g of %g", c.Decider,
				c.Busy, c.Held)
		}
		for _, name := range []string{"constant-1", "constant-2", "constant-4", "constant-8"} {
			require.LessOrEqual(t, blocked[config.BestConstant], blocked[name], name)
		}
		for _, s := range p.Blocked.Standings {
			require.InDelta(t, 100*blocked[s.Scheduler], *s.Mean, 1e-9)
			require.False(t, math.IsNaN(*s.Mean))
		}
	}
	require.Equal(t, o.Points[0].Cells[0].Blocked <= o.Points[1].Cells[0].Blocked, true, "more load blocks no fewer")
	require.Len(t, o.Worth.Quirks, 17)
	changed := 0
	for _, q := range o.Worth.Quirks {
		changed += q.Changed
	}
	require.Positive(t, changed)
}
