package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/page/pagetest"
	"graft/report/runs"
	"graft/trainer"
)

// wrote writes a page of runs and returns its content.
func wrote(t *testing.T, args ...string) string {
	t.Helper()
	got := done(t, append([]string{"report", "--html", "page.html"}, args...)...)
	require.Contains(t, got.stdout, "wrote page.html: ")
	text := contents(t, "page.html")
	return text
}

// Each kind of run has its own page, which is well-formed and the same each time.
func TestReportPageOfARun(t *testing.T) {
	all := writeAll(t)
	t.Chdir(filepath.Dir(all["job"]))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text := wrote(t, name)
		require.Empty(t, pagetest.Check(text).Faults, name)
		require.Contains(t, text, " "+name+"</h1>")
		require.Contains(t, text, "How to reproduce this run</h2>")
		require.Equal(t, text, wrote(t, name), name)
	}
	text := wrote(t, "job")
	containsAll(t, text, "<code>graft train job.toml</code>", "Configuration, resolved", "budget = &#34;60s&#34;",
		strings.Repeat("ab", 32), `class="mark up"`, `class="mark pick"`,
		"decision widen:conv1:48", "<figcaption>Accuracy over time of job</figcaption>",
		`<th scope="col" class="n">Time <span class="unit">s</span></th>`, "75.00")
}

// A page of several runs starts with their differences, and has a section for each run.
func TestReportPageOfRunsSideBySide(t *testing.T) {
	all := writeAll(t)
	t.Chdir(filepath.Dir(all["job"]))
	text := wrote(t, ".", "--all")
	require.Empty(t, pagetest.Check(text).Faults)
	require.Less(t, strings.Index(text, ">Comparison of 2 jobs</h2>"), strings.Index(text, ">Job job</h2>"))
	require.NotContains(t, text, ">Comparison of 1 ", "one has nothing beside it")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		require.Contains(t, text, " "+name+"</h2>")
	}

	t.Chdir(writeSides(t))
	text = wrote(t, "base-*", "better-*", "like-*")
	require.Contains(t, text, `<th scope="col" class="n">better</th>`)
	require.NotContains(t, text, ">Job base-1</h2>", "more than a few have no sections")
	require.Contains(t, text, "--all adds them")
	require.Contains(t, wrote(t, "base-*", "better-*", "like-*", "--all"), ">Job base-1</h2>")
}

// A page replaces only pages of graft, and names runs that it leaves out.
func TestReportPageKeepsWhatIsThere(t *testing.T) {
	t.Chdir(t.TempDir())
	writeJob(t, "run", writtenJob{seed: 1, epochs: 3, accuracy: 0.5})
	write(t, "page.html", "<!DOCTYPE html>\n<title>mine</title>")
	fails(t, failure.Usage, "--force", "report", "--html", "page.html", "run")
	kept := contents(t, "page.html")
	require.Contains(t, kept, "mine")
	wrote(t, "run", "--force")
	wrote(t, "run")
	require.Equal(t, failure.Usage, graft("report", "--html", "run", "run", "--force").code, "a folder")
	require.Equal(t, failure.Usage, graft("report", "--force", "run").code)
	require.Equal(t, failure.Usage, graft("report", "--html", "x.html", "--json", "run").code)
	require.Equal(t, failure.Failed, graft("report", "--html", "none/page.html", "run").code)

	fails(t, failure.Partial, "", "report", "--html", "part.html", "run", "nowhere")
	text := contents(t, "part.html")
	require.Contains(t, text, ">Left out</h2>")
	require.Contains(t, text, "nowhere")
	require.Equal(t, failure.Failed, graft("report", "--html", "no.html", "nowhere").code)
	require.NoFileExists(t, "no.html")
	names, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Len(t, names, 3, "run, page.html, part.html")
}

// Text from folders stays text on a page.
func TestReportPageOfHostileFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	name := `<img src=x onerror=alert(1)>"'&</style>`
	require.NoError(t, os.Mkdir("a", 0o700))
	for k := range 2 {
		writeJob(t, filepath.Join("a", fmt.Sprint(strings.ReplaceAll(name, "/", "|"), k)), writtenJob{seed: 1,
			epochs: 2, accuracy: 0.5, resolved: fmt.Sprintf("[a]\n\"<b>\\u001b\" = \"%s%d\"\n", "</script><i>", k)})
	}
	text := wrote(t, "a")
	require.Empty(t, pagetest.Check(text).Faults)
	for _, tag := range []string{"<img", "<b>", "<i>", "\x1b"} {
		require.NotContains(t, text, tag)
	}
}

// A page of a long job is small, sends no requests and is no wider than its window.
func TestReportPageOfALongJob(t *testing.T) {
	t.Chdir(t.TempDir())
	writeJob(t, "run", writtenJob{seed: 1, epochs: 1000, accuracy: 0.5})
	text := wrote(t, "run")
	require.Contains(t, text, "800 rows in the middle are omitted")
	require.Less(t, len(text), 300_000)
	t.Logf("measured: the page of a job of 1000 epochs has %d kB", len(text)/1000)
	chromium := pagetest.Need(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	b, err := pagetest.Start(ctx, chromium)
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	path, err := filepath.Abs("page.html")
	require.NoError(t, err)
	for _, look := range []pagetest.Look{{Width: 360, Dark: true}, {Width: 1400}} {
		require.NoError(t, b.Open("file://"+path, look))
		var width int
		require.NoError(t, b.Eval(`document.documentElement.scrollWidth`, &width))
		require.LessOrEqual(t, width, look.Width)
		require.Equal(t, []string{"file://" + path}, b.Asked())
		require.Empty(t, b.Complaints())
	}
}

// writeMany writes run folders of jobs: ten variants with several seeds each, every tenth one in progress. They share
// the tables of one written job, for speed.
func writeMany(t testing.TB, dir string, list, epochs int) {
	t.Helper()
	first := filepath.Join(dir, "first")
	writeJob(t, first, writtenJob{seed: 1, epochs: epochs, accuracy: 0.7})
	same := map[string]string{}
	for _, name := range []string{"epochs.csv", "events.jsonl", "streams.json", "lock"} {
		same[name] = contents(t, filepath.Join(first, name))
	}
	manifest := contents(t, filepath.Join(first, runs.ManifestFile))
	require.NoError(t, os.RemoveAll(first))
	job, err := config.ReadJob(files.OS{}, "", nil)
	require.NoError(t, err)
	for k := range list {
		folder := filepath.Join(dir, fmt.Sprintf("way%d-%03d", k%10, k/10))
		for name, text := range same {
			write(t, filepath.Join(folder, name), text)
		}
		job.Run.Seed = int64(k / 10)
		job.Train.Optimizer.LR = 0.01 * float64(1+k%10)
		write(t, filepath.Join(folder, runs.ResolvedFile), job.Resolved())
		write(t, filepath.Join(folder, runs.ManifestFile),
			strings.Replace(manifest, `"seed": 1`, fmt.Sprintf(`"seed": %d`, k/10), 1))
		if k%100 < 90 {
			o, err := json.Marshal(trainer.Outcome{Epochs: epochs, Steps: 10, Budget: time.Minute, Used: time.Minute,
				Parameters: 1000, Validation: trainer.Score{Loss: 1, Accuracy: 0.5 + float64(k*7919%1000)/1e4},
				Test: trainer.Score{Loss: 1, Accuracy: 0.5 + float64(k*7919%1000)/1e4}, Digest: fmt.Sprint(k)})
			require.NoError(t, err)
			write(t, filepath.Join(folder, runs.OutcomeFile), string(o))
		}
	}
}

// peakOf returns the peak memory of graft in MB, in a process of its own, without the memory of other tests. The usage
// that the system reports for an ended process starts at the usage of its parent, so the process itself reports it.
func peakOf(t *testing.T, args ...string) (peak int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "status")
	command := exec.Command(os.Args[0], args...)
	command.Env = append(os.Environ(), programVariable+"=1", statusVariable+"="+path)
	require.NoError(t, command.Run())
	_, after, has := strings.Cut(contents(t, path), "VmHWM:")
	require.True(t, has)
	_, err := fmt.Sscan(after, &peak)
	require.NoError(t, err)
	return peak >> 10
}

// A report over 1,000 runs of 1,000 epochs each takes less than 10 s and 1,500 MB. Without GRAFT_LONG, the test uses
// 100 runs, and only logs the time, because other programs may use the processors.
func TestReportOfManyRunsIsQuick(t *testing.T) {
	runs := 100
	if longTests {
		runs = 1000
	}
	dir := t.TempDir()
	writeMany(t, dir, runs, 1000)
	var took []time.Duration
	for range 3 {
		began := time.Now()
		got := graft("report", dir)
		took = append(took, time.Since(began))
		require.Equal(t, failure.Done, got.code, got.stderr)
		require.True(t, strings.HasPrefix(got.stdout, fmt.Sprintf("%d jobs\n", runs)), got.stdout)
	}
	slices.Sort(took)
	peak := peakOf(t, "report", dir)
	t.Logf("measured: a report over %d runs of 1000 epochs takes %s, and %d MB of memory", runs,
		took[1].Round(time.Millisecond), peak)
	if longTests {
		require.Less(t, took[1], 10*time.Second)
	}
	require.Positive(t, peak)
	require.Less(t, peak, 1500)
}
