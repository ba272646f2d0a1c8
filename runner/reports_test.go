package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/stat"
	"graft/report"
	"graft/report/runs"
	"graft/results"
	"graft/trainer"
)

// forms maps the suffix of a golden file to the flags of its report format.
var forms = map[string][]string{"txt": nil, "md": {"--markdown"}, "csv": {"--csv"}, "json": {"--json"}}

// goldenReport compares printed output with a golden file.
func goldenReport(t *testing.T, name, got string) {
	t.Helper()
	if strings.HasSuffix(name, ".json") {
		var b bytes.Buffer
		require.NoError(t, json.Indent(&b, []byte(got), "", " "))
		got = b.String()
	}
	golden(t, "report/"+name, got)
}

// goldenForms compares the report of runs in each form with golden files.
func goldenForms(t *testing.T, name string, paths ...string) {
	t.Helper()
	for form, flags := range forms {
		goldenReport(t, name+"."+form, done(t, slices.Concat([]string{"report"}, paths, flags)...).stdout)
	}
}

// The report of each kind of run, in each form, equals its golden file.
func TestReportOfARun(t *testing.T) {
	all := writeAll(t)
	t.Chdir(filepath.Dir(all["job"]))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		goldenForms(t, name, name)
	}
	got := graft("report", "job", "--all")
	require.Contains(t, got.stdout, "6 epochs")
	require.NotContains(t, got.stdout, "Last 5")
}

// writeSides writes runs for a comparison: two variants that differ, and one whose difference from the first is
// insignificant.
func writeSides(t testing.TB) string {
	dir := t.TempDir()
	for seed := range uint64(5) {
		way := func(name string, rate float64, accuracy float64) {
			writeJob(t, filepath.Join(dir, fmt.Sprintf("%s-%d", name, seed+1)),
				writtenJob{seed: seed + 1, epochs: 3, accuracy: accuracy + float64(seed*2%5)/200,
					resolved: fmt.Sprintf("[run]\nseed = %d\nfolder = \"x%d\"\n[optimizer]\nlr = %g\n[checkpoint]\n"+
						"every = \"%ds\"\n", seed+1, seed, rate, seed)})
		}
		way("base", 0.01, 0.7)
		way("better", 0.02, 0.75)
		way("like", 0.03, 0.703)
	}
	return dir
}

// Reports compare runs side by side in each form, and runs that differ only in their seed share a column.
func TestReportOfRunsSideBySide(t *testing.T) {
	t.Chdir(writeSides(t))
	goldenForms(t, "sides", "base-*", "better-*", "like-*")
	r := decoded[report.Report](t, graft("report", "base-*", "better-*", "like-*", "--json").stdout)
	require.Len(t, r.Comparisons, 1)
	c := r.Comparisons[0]
	require.Equal(t, []string{"base", "better", "like"},
		[]string{c.Columns[0].Name, c.Columns[1].Name, c.Columns[2].Name})
	require.Equal(t, []int64{1, 2, 3, 4, 5}, c.Columns[2].Seeds)
	require.Len(t, c.Differs, 1, "seeds, folders and checkpoints make no column")
	require.Equal(t, "optimizer.lr", c.Differs[0].Key)
	accuracy := c.Rows[0]
	require.Equal(t, "test_accuracy", accuracy.Quantity)
	require.Nil(t, accuracy.Cells[0].Chance)
	require.False(t, accuracy.Cells[1].Inside)
	require.True(t, accuracy.Cells[2].Inside)
	require.InDelta(t, 2./252, *accuracy.Cells[1].Chance, 1e-9)
	require.Less(t, *accuracy.Cells[1].Low, accuracy.Cells[1].Mean)
}

// Runs that do not fit side by side get a line each, and only some of many are shown.
func TestReportOfManyRuns(t *testing.T) {
	dir := t.TempDir()
	for k := range 40 {
		writeJob(t, filepath.Join(dir, fmt.Sprintf("run-%02d", k)), writtenJob{seed: 1, epochs: 1,
			accuracy: 0.5 + float64(k)/100, resolved: fmt.Sprintf("[a]\nkey = %d\n", k), open: k == 3})
	}
	t.Chdir(dir)
	got := done(t, "report", ".")
	goldenReport(t, "many.txt", got.stdout)
	require.Contains(t, got.stdout, "… 10 more")
	require.NotContains(t, graft("report", ".", "--all").stdout, "…")
}

// Each kind of run has its own comparison, and a copy of a run counts once.
func TestReportOfAllKinds(t *testing.T) {
	all := writeAll(t)
	t.Chdir(filepath.Dir(all["job"]))
	writeJob(t, "again", writtenJob{seed: 3, epochs: 6, accuracy: 0.75})
	goldenForms(t, "kinds", ".")
	require.Contains(t, graft("report", ".").stdout, "one folder is a copy of the same run")
}

// CSV and JSON contain the same figures, to the last bit.
func TestReportsSayTheSame(t *testing.T) {
	for _, dir := range []string{filepath.Dir(writeAll(t)["job"]), writeSides(t)} {
		r := decoded[report.Report](t, graft("report", dir, "--json").stdout)
		rows, err := csv.NewReader(strings.NewReader(graft("report", dir, "--csv").stdout)).ReadAll()
		require.NoError(t, err)
		rows = rows[1:]
		for _, run := range r.Runs {
			for _, q := range run.Quantities {
				row := rows[0]
				rows = rows[1:]
				require.Equal(t, []string{run.Path, run.Kind, fmt.Sprint(run.Ended), q.Quantity, q.Unit,
					fmt.Sprint(q.N)}, []string{row[0], row[1], row[2], row[5], row[6], row[10]})
				for k, want := range []*float64{&q.Mean, q.Low, q.High} {
					if want == nil {
						require.Empty(t, row[7+k])
						continue
					}
					value, err := strconv.ParseFloat(row[7+k], 64)
					require.NoError(t, err)
					require.Equal(t, *want, value)
				}
				require.Len(t, q.Values, q.N)
				require.InDelta(t, stat.Mean(q.Values), q.Mean, 0)
			}
		}
		require.Empty(t, rows)
	}
}

// Bad folders are named and left out, the rest is reported, and the exit code shows it.
func TestReportOfBadFolders(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	bad := badFolders(t, ".")
	writeJob(t, "good", writtenJob{seed: 1, epochs: 3, accuracy: 0.5})
	names := slices.Sorted(maps.Keys(bad))
	for form, flags := range forms {
		got := fails(t, failure.Partial, "", slices.Concat([]string{"report", "good", "nowhere"}, names, flags)...)
		require.Contains(t, got.stdout, "good")
		for name, says := range bad {
			require.Contains(t, got.stderr, name, form)
			require.Contains(t, got.stderr, says, form)
		}
		require.Contains(t, got.stderr, "nowhere")
	}
	for name := range bad {
		require.Equal(t, failure.Damaged, graft("report", name).code, name)
	}
	require.Equal(t, failure.Failed, graft("report", "nowhere").code)
	require.Equal(t, failure.Failed, graft("report", "no*where").code)
	require.Equal(t, failure.Damaged, graft("report", "nowhere", "foreign").code)
	require.Equal(t, failure.Usage, graft("report").code)
	require.Equal(t, failure.Usage, graft("report", "good", "--csv", "--json").code)
	require.Empty(t, graft("report", "foreign").stdout)

	writeSimulation(t, "part", 16, 1)
	spoil(t, filepath.Join("part", runs.TableFolder), "node-1.jsonl",
		func(text string) string { return strings.Replace(text, `"accuracy":[0`, `"accuracy":[1`, 1) })
	got := fails(t, failure.Partial, "in part", "report", "part")
	require.Contains(t, got.stdout, "15 of 16 sequences")
}

// A report names a completed job whose table of epochs lost its last rows.
func TestReportOfCutEpochs(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, overrun := range []string{"false", "true"} {
		done(t, "train", "--folder", overrun, "--set", "time.budget=300ms", "--set", "train.batch=20", "--set",
			"data.synthetic.size=16", "--set", "data.synthetic.train=60", "--set", "data.synthetic.test=10", "--set",
			"train.overrun="+overrun)
		done(t, "report", overrun)
		path := filepath.Join(overrun, "epochs.csv")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-2], "")), 0o600))
		got := fails(t, failure.Partial, "so rows are missing; copy the file again", "report", overrun)
		require.Regexp(t, `epochs.csv ends after \d+ steps, but the job took \d+ steps`, got.stderr)
		require.Contains(t, got.stdout, "test accuracy", "the rest is reported")
	}
}

// A report skips folders and files next to runs: the cache of simulations, hidden folders and other files.
func TestReportOfAFolderOfRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	writeJob(t, "runs/a/b", writtenJob{seed: 1, epochs: 3, accuracy: 0.5})
	writeJob(t, "runs/c", writtenJob{seed: 2, epochs: 3, accuracy: 0.5})
	writeJob(t, "runs/.hidden", writtenJob{seed: 3, epochs: 3, accuracy: 0.5})
	for _, path := range []string{"runs/cache/outcomes/ab", "runs/cache/states", "runs/notes"} {
		require.NoError(t, os.MkdirAll(path, 0o700))
	}
	require.NoError(t, os.WriteFile("runs/readme", nil, 0o600))
	for _, args := range [][]string{{"runs"}, {"runs/*", "runs/c"}, {"runs/a", "runs/c", "./runs/c/"}} {
		if args[0] == "runs/*" {
			require.NoError(t, os.Remove("runs/notes"))
		}
		var r report.Report
		got := done(t, append([]string{"report", "--json"}, args...)...)
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &r))
		require.Len(t, r.Runs, 2, args)
		require.Equal(t, "runs/a/b", r.Runs[0].Path)
	}
}

// A folder with a manifest of another program is searched like any other.
func TestReportOfAFolderWithAnotherManifest(t *testing.T) {
	t.Chdir(t.TempDir())
	writeMetrics(t, "all/a")
	write(t, "all/manifest.json", `{"files": []}`)
	got := done(t, "report", "all")
	require.Contains(t, got.stdout, "Run of the original all/a")
}

// Different images count as a difference, since the configuration has only their name. Identical policies are not
// counted twice.
func TestReportOfOtherImages(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "b"} {
		writeJob(t, name, writtenJob{seed: 1, epochs: 1, accuracy: 0.5})
		spoil(t, name, runs.ManifestFile, func(text string) string {
			return strings.Replace(text, `"network"`, `"dataset_sha256": "`+strings.Repeat(name, 64)+`", "network"`, 1)
		})
	}
	require.Contains(t, graft("report", "a", "b").stdout, "(images)    aaaaaaaaaaaa  bbbbbbbbbbbb")
	writePolicies(t, "c", true)
	writePolicies(t, "d", true)
	require.Contains(t, graft("report", "c", "d").stdout,
		"c: one folder is a copy of the same run and is not counted: d")
}

// Text from folders moves no cursor and breaks no table.
func TestReportsOfHostileFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	for k := range 2 {
		writeJob(t, fmt.Sprint("a|\x1b[2J", k), writtenJob{seed: 1, epochs: 1, accuracy: 0.5,
			resolved: fmt.Sprintf("[a]\n\"k|\\u001b\" = \"<b>|\\u001b%d\"\n", k)})
	}
	for _, flags := range [][]string{nil, {"--markdown"}} {
		got := done(t, append([]string{"report", "."}, flags...)...)
		require.NotContains(t, got.stdout, "\x1b")
	}
	for line := range strings.SplitSeq(graft("report", ".", "--markdown").stdout, "\n") {
		if strings.HasPrefix(line, "| a.k") {
			require.Equal(t, 4, strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"), line)
			require.NotContains(t, line, "<b>")
		}
	}
}

// A run can be reported while it is written: there is never an error, and the report only grows.
func TestReportWhileARunIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{Resolved: "[run]\nseed = 1\n"},
		results.Manifest{Created: when})
	require.NoError(t, err)
	book, err := trainer.OpenFolder(run, false)
	require.NoError(t, err)
	done := make(chan error, 1)
	const epochs = 400
	go func() {
		for k := range epochs {
			if err := book.Epoch(trainer.Row{Epoch: k, Time: time.Duration(k) * time.Second,
				Validation: trainer.Score{Loss: 1, Accuracy: 0.5}}); err != nil {
				done <- err
				return
			}
		}
		done <- run.WriteOutcome(trainer.Outcome{Epochs: epochs, Validation: trainer.Score{Loss: 1, Accuracy: 0.5}})
	}()
	for seen, ended := 0.0, false; !ended; {
		r := openRun(t, dir)
		detail, err := report.DetailOf(r, true)
		require.NoError(t, err)
		n := float64(len(detail.(*report.JobDetail).Epochs))
		require.GreaterOrEqual(t, n, seen)
		seen, ended = n, r.Ended
	}
	require.NoError(t, <-done)
	require.NoError(t, run.Close())
}

// The name of a column is the common part of its runs' folders.
func TestCommonName(t *testing.T) {
	for want, paths := range map[string][]string{
		"base": {"runs/base-1", "runs/base-2"}, "wide": {"wide-seed1", "wide-seed22"}, "one-7": {"runs/one-7"},
		"1": {"1", "2"},
	} {
		require.Equal(t, want, runs.CommonName(paths))
	}
}
