package trace_test

import (
	"bytes"
	"encoding/csv"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/cluster/trace"
	"graft/cluster/trace/tracetest"
	"graft/internal/files"
	"graft/internal/files/faults"
)

// written returns jobs as text in a format.
func written(tb testing.TB, jobs []trace.Job, o trace.WriterOptions) string {
	var out bytes.Buffer
	w, err := trace.NewWriter(&out, o)
	require.NoError(tb, err)
	for k := range jobs {
		require.NoError(tb, w.Write(&jobs[k]))
	}
	return out.String()
}

func TestTracesAreWritten(t *testing.T) {
	start := time.Date(2021, 3, 4, 0, 0, 0, 0, time.UTC)
	jobs := smallJobs()
	require.Equal(t, tracetest.Ours, written(t, jobs, trace.WriterOptions{Start: start}))
	require.Equal(t, strings.NewReplacer("\r\n\n", "\n", "1e1", "10", ",.5", ",0.5", "5,,,,,,,,",
		"5,,,,0,,,,").Replace(tracetest.Helios), written(t, jobs, trace.WriterOptions{Format: "helios", Start: start}))
	require.Equal(t, "; Version: 2.2\n; UnixStartTime: 1614816000\n; MaxNodes: 4\n; MaxProcs: 32\n"+
		"; Note: a processor is a GPU\n"+
		"7 43210 -1 60 2 -1 -1 2 -1 -1 1 1 -1 1 -1 1 -1 -1\n"+
		"8 43205 -1 5 0 -1 -1 0 -1 -1 0 2 -1 2 -1 2 -1 -1\n"+
		"9 86400 -1 7200 16 -1 -1 16 -1 -1 0 1 -1 -1 -1 1 -1 -1\n",
		written(t, jobs, trace.WriterOptions{Format: "swf", Start: start, Nodes: 4, Processors: 32}))
}

// Jobs without a result have the status of failed jobs.
func TestStatesInSWF(t *testing.T) {
	for _, state := range []trace.State{trace.Failed, trace.TimedOut, trace.NodeFailed, trace.OutOfMemory} {
		require.Contains(t, written(t, []trace.Job{{ID: "1", State: state}}, trace.WriterOptions{Format: "swf"}),
			"\n1 0 -1 0 0 -1 -1 0 -1 -1 0 -1 ", state)
	}
}

// SWF numbers jobs whose IDs are names. A trace cannot mix names and numbers.
func TestJobsOfSWFHaveNumbers(t *testing.T) {
	jobs := []trace.Job{{ID: "b"}, {ID: "7"}}
	require.Contains(t, written(t, jobs, trace.WriterOptions{Format: "swf"}),
		"\n1 0 -1 0 0 -1 -1 0 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n2 0 ")
	w := must(trace.NewWriter(new(bytes.Buffer), trace.WriterOptions{Format: "swf"}))
	require.NoError(t, w.Write(&jobs[1]))
	require.ErrorContains(t, w.Write(&jobs[0]), `the ID is not a number, but earlier IDs are numbers`)
	require.ErrorContains(t, w.Write(&jobs[1]), `job "b"`, "nothing comes after an error")
}

func TestWhatCannotBeWritten(t *testing.T) {
	for want, job := range map[string]trace.Job{
		"a job has no ID":                                     {},
		`job "1" has a time of 1000000000001 s`:               {ID: "1", Submit: 1e12 + 1},
		`job "1": the number of GPUs is -1`:                   {ID: "1", GPUs: -1},
		`job "1": the speed is NaN; expected a finite number`: {ID: "1", Training: &trace.Training{Speed: math.NaN()}},
		`job "1" has a wait of -1 s; expected 0 to`:           {ID: "1", History: &trace.History{Wait: -1}},
		`job "1": the number of restarts is -1`:               {ID: "1", History: &trace.History{Restarts: -1}},
		`has 1048`:                                            {ID: "1", Name: strings.Repeat("x", 1<<20)},
	} {
		w := must(trace.NewWriter(new(bytes.Buffer), trace.WriterOptions{}))
		require.ErrorContains(t, w.Write(&job), want)
	}
	w := must(trace.NewWriter(new(bytes.Buffer),
		trace.WriterOptions{Format: "helios", Start: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}))
	require.ErrorContains(t, w.Write(&trace.Job{ID: "1", Submit: 1e9}), "second 1000000000 is in the year 10030")
	_, err := trace.NewWriter(new(bytes.Buffer),
		trace.WriterOptions{Format: "philly", Nodes: -1, Start: time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)})
	for _, part := range []string{`cannot write format "philly"; expected one of: graft, helios, swf`, "year -5",
		"expected at least 0"} {
		require.ErrorContains(t, err, part)
	}
}

// jobOf draws a job with all fields, and with names that are hard to write.
var jobOf = rapid.Custom(func(t *rapid.T) trace.Job {
	name := rapid.StringOf(rapid.SampledFrom([]rune("aB7 ,\"\n\r;'\tü\ufeff")))
	count, number := rapid.IntRange(0, math.MaxInt32), rapid.Float64Range(-1e300, 1e300)
	history, some := historyOf.Draw(t, "history"), rapid.Bool()
	if !some.Draw(t, "has a history") {
		history = nil
	}
	training := &trace.Training{Batch: count.Draw(t, "batch"), AMP: some.Draw(t, "amp"),
		Dataset: name.Draw(t, "dataset"), Model: name.Draw(t, "model"), Speed: number.Draw(t, "speed"),
		GPUUtil: number.Draw(t, "gpu util"), MemoryUtil: number.Draw(t, "memory util"),
		Memory: number.Draw(t, "memory")}
	if *training == (trace.Training{}) {
		training = nil
	}
	return trace.Job{
		ID: "j" + name.Draw(t, "id"), User: name.Draw(t, "user"), VC: name.Draw(t, "vc"), Name: name.Draw(t, "name"),
		Submit:   rapid.Int64Range(-1e12, 1e12).Draw(t, "submit"),
		Duration: rapid.Int64Range(-1e12, 1e12).Draw(t, "duration"), GPUs: count.Draw(t, "gpus"),
		Share: count.Draw(t, "share"), CPUs: count.Draw(t, "cpus"),
		State: trace.State(rapid.IntRange(0, int(trace.OutOfMemory)).Draw(t, "state")), Training: training,
		RAM: int64(count.Draw(t, "ram")), Limit: rapid.Int64Range(0, 1e12).Draw(t, "limit"),
		GPUType: name.Draw(t, "type"), NeedsType: some.Draw(t, "needs its type"), Spot: some.Draw(t, "spot"),
		History: history,
	}
})

var historyOf = rapid.Custom(func(t *rapid.T) *trace.History {
	name := rapid.StringOf(rapid.SampledFrom([]rune("aB7 ,\"\n[]-")))
	count, seconds := rapid.IntRange(0, math.MaxInt32), rapid.Int64Range(0, 1e12)
	h := &trace.History{QOS: name.Draw(t, "qos"), Restarts: count.Draw(t, "restarts"), Lost: seconds.Draw(t, "lost"),
		NodeFailures: count.Draw(t, "node failures"), FailedNodes: name.Draw(t, "nodes")}
	if h.Started = rapid.Bool().Draw(t, "started"); h.Started {
		h.Wait = seconds.Draw(t, "wait")
	}
	return h
})

// Every job reads back unchanged from format graft, and encoding/csv reads the same cells.
func TestOurFormatLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(jobOf, 1, 8).Draw(t, "jobs")
		o := trace.WriterOptions{Columns: trace.ColumnsOf(jobs)}
		if rapid.Bool().Draw(t, "dated") {
			o.Start = time.Unix(rapid.Int64Range(0, 1e10).Draw(t, "start"), 0)
		}
		var out bytes.Buffer
		w := must(trace.NewWriter(&out, o))
		for k := range jobs {
			require.NoError(t, w.Write(&jobs[k]))
		}
		text := out.String()
		read, r, err := readText(text, trace.Options{History: true})
		require.NoError(t, err)
		require.Equal(t, jobs, read)
		start, known := r.Start()
		require.Equal(t, !o.Start.IsZero(), known)
		require.True(t, !known || start.Equal(o.Start))
		if !strings.Contains(text, "\r") { // encoding/csv removes it within quotes
			rows := must(csv.NewReader(strings.NewReader(text)).ReadAll())
			require.Len(t, rows, len(jobs)+1)
			for k, job := range jobs {
				require.Equal(t, []string{job.ID, job.User, job.VC, job.Name}, rows[k+1][:4])
			}
		}
	})
}

// A generated trace reads back unchanged from a file of each format that holds all its fields.
func TestAGeneratedTraceIsReadBack(t *testing.T) {
	jobs, g := generated(t, trace.GenerateOptions{Jobs: 3000, Seed: 5})
	for _, name := range []string{"a.csv", "a.csv.gz"} {
		for _, format := range []string{"graft", "helios"} {
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, trace.WriteFile(files.OS{}, path, trace.WriterOptions{Format: format, Start: g.Start()},
				false, writing(jobs)))
			all := must(trace.ReadAll(files.OS{}, path, trace.Options{}))
			require.Equal(t, jobs, all.Jobs)
			require.Equal(t, format, all.Format)
			require.Equal(t, g.Start(), all.Start)
		}
	}
}

func writing(jobs []trace.Job) func(*trace.Writer) error {
	return func(w *trace.Writer) error {
		for k := range jobs {
			if err := w.Write(&jobs[k]); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestAFileIsReplacedOnlyWithForce(t *testing.T) {
	path := write(t, "a.csv", "precious")
	err := trace.WriteFile(files.OS{}, path, trace.WriterOptions{}, false, writing(smallJobs()))
	require.ErrorIs(t, err, fs.ErrExist)
	require.Equal(t, "precious", string(must(os.ReadFile(path))))
	require.NoError(t, trace.WriteFile(files.OS{}, path, trace.WriterOptions{}, true, writing(smallJobs())))
	all := must(trace.ReadAll(files.OS{}, path, trace.Options{}))
	require.Len(t, all.Jobs, 3)
}

// A fault at any operation never leaves a partial trace.
func TestATraceIsWrittenWholeOrNotAtAll(t *testing.T) {
	for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
		for _, name := range []string{"a.csv", "a.csv.gz"} {
			for at := 1; ; at++ {
				path := filepath.Join(t.TempDir(), name)
				broken := faults.New(files.OS{}, at, kind)
				err := trace.WriteFile(broken, path, trace.WriterOptions{}, false, writing(smallJobs()))
				_, missing := os.Stat(path)
				if err == nil || missing == nil {
					all, readErr := trace.ReadAll(files.OS{}, path, trace.Options{})
					require.NoError(t, readErr, "%s at %d: %v", kind, at, err)
					require.Len(t, all.Jobs, 3)
				}
				if !broken.Fired() {
					require.NoError(t, err)
					require.Greater(t, at, 4)
					break
				}
			}
		}
	}
}

// A file fault during reading is an error, but not a fault of the trace.
func TestReadingMeetsFaults(t *testing.T) {
	jobs, _ := generated(t, trace.GenerateOptions{Jobs: 6000})
	path := filepath.Join(t.TempDir(), "a.csv")
	require.NoError(t, trace.WriteFile(files.OS{}, path, trace.WriterOptions{}, false, writing(jobs)))
	for at := 1; ; at++ {
		broken := faults.New(files.OS{}, at, faults.Crash)
		_, err := trace.ReadAll(broken, path, trace.Options{})
		if !broken.Fired() {
			require.NoError(t, err)
			require.Greater(t, at, 4)
			return
		}
		require.ErrorIs(t, err, faults.ErrInjected)
		require.NotErrorIs(t, err, trace.ErrMalformed)
	}
}
