package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/table"
	"graft/simulation/tables"
	"graft/torch/pickle"
	"graft/torch/pickle/pickletest"
)

// tried is a scenario of a few sequences.
var tried = tables.Scenario{Name: "tried", Network: "ConvNet2", Dataset: "cifar10", Budget: 400, Start: 330.5,
	Decisions: 2, Actions: []string{"deepen:0", "deepen:1", "widen:conv1:48", "none"}}

// writeTried writes a table with the first sequences, each run with some seeds.
func writeTried(t testing.TB, dir string, sequences, seeds int) {
	t.Helper()
	require.NoError(t, tables.Create(files.OS{}, dir, tried, tables.CreateOptions{}))
	w, err := tables.Open(files.OS{}, dir, tables.WriterOptions{Name: "node", Lazy: true})
	require.NoError(t, err)
	for k := range sequences {
		for seed := range seeds {
			s := []string{tried.Actions[k/4], tried.Actions[k%4]}
			r := tables.Record{Sequence: s, Left: []float64{69.5, 59 - float64(k)/3},
				Accuracy: []float64{0.5 + float64(k*7%16)/64 + float64(seed*k%5)/512}, Seeds: []int64{int64(seed)},
				Networks: []string{"start", s[0], s[0] + "/" + s[1]}, Profile: "v100-original", Graft: "v0.1.0",
				LibTorch: "1.13.0"}
			require.NoError(t, w.Append(tables.Cause{Sequence: s, Seeds: r.Seeds}.Key(), r))
		}
	}
	require.NoError(t, w.Close())
}

// writeOriginal writes a data.pkl in the original system's format, with its config.toml.
func writeOriginal(t testing.TB, dir string) string {
	t.Helper()
	all, err := pickletest.Dict()
	require.NoError(t, err)
	for k := range int64(16) {
		fields, err := pickletest.Dict(pickle.Pair{Key: "timeleft",
			Value: &pickle.List{Items: []any{69.9 - float64(k)/100, int64(58)}}},
			pickle.Pair{Key: "totaltime", Value: int64(400)},
			pickle.Pair{Key: "acc", Value: float64(5000+k*37%16) / 1e4})
		require.NoError(t, err)
		require.NoError(t, all.Set(pickle.Tuple{k / 4, k % 4}, fields))
	}
	var b bytes.Buffer
	require.NoError(t, pickle.Write(&b, all))
	require.NoError(t, os.MkdirAll(dir, 0o700))
	path := filepath.Join(dir, "data.pkl")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	config := "[runner]\nseed = 42\nfolder = \"simulation_tried\"\n[scheduler]\nrunning_time = 400\nstart_time = " +
		"330\n[job]\nmodel = \"ConvNet2\"\ndataset = \"cifar10\"\n[agent]\naction_set_size = 4\nnum_actions = 2\n"
	write(t, filepath.Join(dir, "config.toml"), config)
	return path
}

// spoil changes a file of a table.
func spoil(t *testing.T, dir, name string, change func(text string) string) {
	t.Helper()
	path := filepath.Join(dir, name)
	text := contents(t, path)
	write(t, path, change(text))
}

// writeSpoiled writes a table with several kinds of faults.
func writeSpoiled(t *testing.T, dir string) {
	writeTried(t, dir, 16, 1)
	spoil(t, dir, "node-1.jsonl", func(text string) string {
		lines := strings.SplitAfter(text, "\n")
		lines[4] = strings.Replace(lines[4], `"accuracy":[0`, `"accuracy":[1`, 1)
		return strings.Join(append(lines[:8], lines[9:15]...), "") + lines[15][:99]
	})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "no\x1btes.txt"), nil, 0o600))
}

func TestTableScreensAreTheGoldenOnes(t *testing.T) {
	home := t.TempDir()
	in := func(name string) string { return filepath.Join(home, name) }
	original := writeOriginal(t, in("original"))
	writeTried(t, in("seeds"), 16, 3)
	writeTried(t, in("begun"), 3, 1)
	writeTried(t, in("empty"), 0, 1)
	writeSpoiled(t, in("spoiled"))
	writeTried(t, in("lost"), 16, 1)
	spoil(t, in("lost"), "scenario.json",
		func(text string) string { return strings.Replace(text, `"format": 1`, `"format": 7`, 1) })
	goldenScreens(t, "table", "table", home, map[string]goldenCall{
		"original.txt":     {"show " + original, failure.Done},
		"original-all.txt": {"show " + original + " --all --network Mine --start 10 --seed -3", failure.Done},
		"seeds.txt":        {"show " + in("seeds"), failure.Done},
		"seeds.json":       {"show " + in("seeds") + " --json --all", failure.Done},
		"seeds.csv":        {"show " + in("seeds") + " --csv", failure.Done},
		"begun.txt":        {"show " + in("begun"), failure.Done},
		"begun.json":       {"show " + in("begun") + " --json", failure.Done},
		"empty.txt":        {"show " + in("empty"), failure.Done},
		"empty.json":       {"show " + in("empty") + " --json", failure.Done},
		"spoiled.txt":      {"show " + in("spoiled"), failure.Partial},
		"check.txt":        {"check " + in("seeds") + " " + in("begun") + " " + in("spoiled"), failure.Partial},
		"check.json": {"check " + in("begun") + " " + in("spoiled") + " " + in("lost") + " --json",
			failure.Damaged},
		"check-lost.txt": {"check " + in("lost") + " " + in("none") + " " + in("seeds"), failure.Damaged},
		"runs.csv":       {"convert " + in("seeds") + " --csv", failure.Done},
		"whole.json":     {"convert " + original + " --json", failure.Done},
	})
}

func TestTableConvertKeepsEverything(t *testing.T) {
	home := t.TempDir()
	original, one, two := writeOriginal(t, filepath.Join(home, "original")), filepath.Join(home, "one"),
		filepath.Join(home, "two")
	require.Equal(t, outcome{stdout: "wrote " + one + ": simulation_tried, 16 sequences\n"},
		graft("table", "convert", original, "--out", one))
	require.Equal(t, outcome{stdout: "wrote " + two + ": simulation_tried, 16 sequences\n"},
		graft("table", "convert", one, "--out", two))
	first := done(t, "table", "convert", original, "--json")
	for _, dir := range []string{one, two} {
		require.Equal(t, failure.Done, graft("table", "check", dir).code)
		require.Equal(t, first, graft("table", "convert", dir, "--json"))
	}
	fails(t, failure.Usage, "set --force to move the existing", "table", "convert", original, "--out", one)
	require.Equal(t, failure.Done, graft("table", "convert", original, "--out", one, "--force").code)
	require.Equal(t, first, graft("table", "convert", one+".1", "--json"))
}

// The readable part of a damaged table converts to a sound table.
func TestTableConvertSavesWhatCanBeRead(t *testing.T) {
	home := t.TempDir()
	spoiled, saved := filepath.Join(home, "spoiled"), filepath.Join(home, "saved")
	writeSpoiled(t, spoiled)
	got := fails(t, failure.Partial, "", "table", "convert", spoiled, "--out", saved)
	require.Contains(t, got.stdout, "wrote "+saved+": tried, 12 sequences")
	require.Contains(t, got.stderr, "damaged")
	require.Equal(t, failure.Done, graft("table", "check", saved).code)
	require.Equal(t, graft("table", "show", spoiled, "--csv").stdout, graft("table", "show", saved, "--csv").stdout)
}

func TestTableSaysWhatIsWrong(t *testing.T) {
	home := t.TempDir()
	original := writeOriginal(t, filepath.Join(home, "original"))
	write := func(name, text string) string {
		path := write(t, filepath.Join(home, name), text)
		return path
	}
	alone := write("alone/data.pkl", "cos\nsystem\n(S'true'\ntR.")
	faulty := write("faulty/data.pkl", "")
	write("faulty/config.toml", "[runner]\nseed = \"x\"\nfolder = 1\n[agent]\nnum_actions = 0\n[job]\nmodel = \"a\"\n"+
		"dataset = \"b\"\n[scheduler]\nstart_time = -1\n")
	writeTried(t, filepath.Join(home, "locked"), 1, 1)
	w, err := tables.Open(files.OS{}, filepath.Join(home, "locked"), tables.WriterOptions{Name: "node"})
	require.NoError(t, err)
	defer w.Close()
	allFail(t, "table", map[string]wrongCall{
		"a file that is not there": {[]string{"show", filepath.Join(home, "none")}, failure.Failed, "no such file"},
		"a folder that is none of a table": {[]string{"show", home}, failure.Damaged,
			"scenario.json is missing; expected a table folder"},
		"another, for check":         {[]string{"check", home}, failure.Damaged, "not a table folder"},
		"a folder that is not there": {[]string{"check", filepath.Join(home, "none")}, failure.Failed, "no such file"},
		"nobody says what it is of":  {[]string{"show", alone}, failure.Usage, "set --network and --dataset"},
		"a pickle that calls the system": {[]string{"show", alone, "--network", "A", "--dataset", "b"}, failure.Damaged,
			"os.system"},
		"a config with faults": {[]string{"show", faulty}, failure.Configuration, "5 faults"},
		"an action that is none": {[]string{"show", original, "--actions", "deepen:0,dig:1"}, failure.Usage,
			`unknown operation "dig"`},
		"too few actions": {[]string{"show", original, "--actions", "deepen:0,none"}, failure.Usage,
			"has 4 actions per decision"},
		"an action that stands twice": {[]string{"show", original, "--actions", "none,none,deepen:1,deepen:2"},
			failure.Usage, "--actions: duplicate none"},
		"a start after the end": {[]string{"show", original, "--start", "401"}, failure.Usage, "start is 401 s"},
		"two forms at once":     {[]string{"show", original, "--json", "--csv"}, failure.Usage, "none of the others"},
		"no form":               {[]string{"convert", original}, failure.Usage, "at least one of the flags"},
		"a folder where a process writes": {[]string{"convert", original, "--force", "--out",
			filepath.Join(home, "locked")}, failure.Failed, "locked by process"},
		"a folder that holds something": {[]string{"convert", original, "--out", filepath.Join(home, "original")},
			failure.Usage, "not a table folder"},
		"a folder under a file": {[]string{"convert", original, "--out", filepath.Join(original, "a")}, failure.Failed,
			"not a directory"},
	})
}

// publishedTables returns the paths of the original's tables, or skips the test.
func publishedTables(t *testing.T) []string {
	paths, err := filepath.Glob("../../shared/reference/adaptation/simulations/*/data.pkl")
	require.NoError(t, err)
	if len(paths) == 0 {
		t.Skip("left out: the original's tables are not beside the tree")
	}
	return paths
}

func TestPublishedTablesConvertValueForValue(t *testing.T) {
	values := 0
	for _, path := range publishedTables(t) {
		dir := filepath.Join(t.TempDir(), "table")
		require.Equal(t, failure.Done, graft("table", "convert", path, "--out", dir).code)
		require.Equal(t, failure.Done, graft("table", "check", dir, path, filepath.Dir(path)).code)
		got := graft("table", "convert", dir, "--json")
		table := decoded[table.Whole](t, got.stdout)
		var want struct {
			Sequences []struct {
				Actions   []int
				TimeLeft  []float64
				TotalTime float64
				Acc       float64
			}
		}
		require.NoError(t, json.Unmarshal([]byte(contents(t, filepath.Join(filepath.Dir(path), "data.json"))), &want))
		require.Len(t, table.Records, len(want.Sequences))
		require.Equal(t, filepath.Base(filepath.Dir(path)), table.Scenario.Name)
		require.Contains(t, []string{"ConvNet2", "ConvNet3"}, table.Scenario.Network)
		for k, w := range want.Sequences {
			r := table.Records[k]
			require.Equal(t, w.TotalTime, table.Scenario.Budget)
			require.Equal(t, w.TimeLeft, r.Left)
			require.Equal(t, []float64{w.Acc}, r.Accuracy)
			require.Equal(t, []int64{42}, r.Seeds)
			require.InDelta(t, table.Scenario.Budget-table.Scenario.Start, r.Left[0], 2)
			for step, a := range w.Actions {
				require.Equal(t, runs.OriginalActions[a], r.Sequence[step])
			}
			values += len(w.TimeLeft) + len(w.Actions) + 1
		}
	}
	t.Logf("measured: %d values of the published tables are equal after a conversion", values)
}

// ranked matches a line of the original's reports.
var ranked = regexp.MustCompile(`(?m)^rank (\d+): \((\d), (\d), (\d)\) ([0-9.]+)`)

// The original's published reports rank the sequences in the same order.
func TestPublishedReportsRankAlike(t *testing.T) {
	ranks := 0
	for _, path := range publishedTables(t) {
		name := filepath.Base(filepath.Dir(path))
		rows, err := csv.NewReader(strings.NewReader(graft("table", "show", path, "--csv").stdout)).ReadAll()
		require.NoError(t, err)
		reports, err := filepath.Glob("../../shared/reference/adaptation/stdout/*.stdout")
		require.NoError(t, err)
		for _, report := range reports {
			text := contents(t, report)
			if !strings.Contains(text, "../results/"+name+"\n") {
				continue
			}
			for _, m := range ranked.FindAllStringSubmatch(text, -1) {
				rank, err := strconv.Atoi(m[1])
				require.NoError(t, err)
				row := rows[rank]
				for k := range 3 {
					a, err := strconv.Atoi(m[2+k])
					require.NoError(t, err)
					require.Equal(t, runs.OriginalActions[a], row[1+k], "%s: rank %d", report, rank)
				}
				require.Equal(t, fmt.Sprint(rank), row[0])
				require.Equal(t, m[5], row[4])
				ranks++
			}
		}
	}
	t.Logf("measured: %d ranks are those of the published reports", ranks)
	require.Positive(t, ranks)
}
