package trace_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
	"graft/cluster/trace/tracetest"
	"graft/internal/files"
)

var update = flag.Bool("update", false, "write the golden files")

// sound returns a job without findings.
func sound(id string) trace.Job {
	return trace.Job{ID: id, VC: "red", Submit: 5, Duration: 10, GPUs: 8, State: trace.Completed,
		Training: &trace.Training{Model: "Net", Batch: 1}}
}

func TestWhatIsOdd(t *testing.T) {
	o := trace.CheckOptions{VCs: []trace.VC{{Name: "red", Nodes: 2}}}
	found := must(trace.Check([]trace.Job{sound("1"), sound("2")}, o))
	require.Empty(t, found)
	for kind, spoil := range map[trace.Kind]func(*trace.Job){
		trace.DuplicateID:      func(j *trace.Job) { j.ID = "1" },
		trace.NoDuration:       func(j *trace.Job) { j.Duration = 0 },
		trace.NeverStarted:     func(j *trace.Job) { j.Duration, j.State = 0, trace.Pending },
		trace.Runaway:          func(j *trace.Job) { j.Limit, j.Duration, j.State = 10, 3611, trace.Running },
		trace.NegativeDuration: func(j *trace.Job) { j.Duration = -1 },
		trace.Unsorted:         func(j *trace.Job) { j.Submit = 4 },
		trace.NoGPUs:           func(j *trace.Job) { j.GPUs = 0 },
		trace.TooManyGPUs:      func(j *trace.Job) { j.GPUs = 32 },
		trace.UnknownVC:        func(j *trace.Job) { j.VC = "green" },
		trace.PartOfGPU:        func(j *trace.Job) { j.Share = 500 },
		trace.OddGPUs:          func(j *trace.Job) { j.GPUs = 6 },
		trace.NoProfile:        func(j *trace.Job) { j.Training.Model = "" },
		trace.UnknownState:     func(j *trace.Job) { j.State = trace.Unknown },
	} {
		jobs := []trace.Job{sound("1"), sound("2"), sound("3"), sound("4")}
		spoil(&jobs[1])
		spoil(&jobs[3])
		found := must(trace.Check(jobs, o))
		require.Len(t, found, 1, kind)
		require.Equal(t, trace.Finding{Kind: kind, Text: found[0].Text, Count: 2, Refused: kind.Refused(), FirstLine: 2,
			FirstID: jobs[1].ID}, found[0])
		require.NotEmpty(t, found[0].Text)
	}
	early := sound("1")
	early.Submit = -1
	found = must(trace.Check([]trace.Job{early}, o))
	require.Equal(t, trace.NegativeSubmit, found[0].Kind)
	_, err := trace.Check(nil, trace.CheckOptions{GPUsPerNode: -1})
	require.ErrorContains(t, err, "the number of GPUs per node is -1")
}

// Add reports each job that a simulator cannot run.
func TestJobsAreRefused(t *testing.T) {
	c := must(trace.NewChecker(trace.CheckOptions{}))
	good, bad, odd := sound("1"), sound("2"), sound("3")
	bad.Duration, odd.GPUs = -1, 3
	require.True(t, c.Add(&good, 2))
	require.False(t, c.Add(&bad, 3))
	require.True(t, c.Add(&odd, 4))
	require.False(t, c.Add(&good, 5), "twice")
	require.Equal(t, "[duplicate-id negative-duration odd-gpus]", fmt.Sprint(kindsOf(c.Findings())))
}

func kindsOf(found []trace.Finding) (list []trace.Kind) {
	for _, f := range found {
		list = append(list, f.Kind)
	}
	return list
}

func summaryOf(t *testing.T, r *trace.Reader, o trace.CheckOptions) *trace.Summary {
	return must(trace.Summarize(r, trace.SummaryOptions{CheckOptions: o}))
}

func TestSummaries(t *testing.T) {
	for name, s := range samples {
		r := must(trace.NewReader(strings.NewReader(s.text), "a.csv", trace.Options{History: true}))
		got := must(json.MarshalIndent(summaryOf(t, r,
			trace.CheckOptions{VCs: []trace.VC{{Name: "red", Nodes: 3}, {Name: "empty", Nodes: 1}}}), "", "  "))
		golden := filepath.Join("testdata", "summaries", strings.NewReplacer(" ", "-", "'s", "").Replace(name)+".json")
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
			require.NoError(t, os.WriteFile(golden, append(got, '\n'), 0o644))
		}
		want := must(os.ReadFile(golden))
		require.Equal(t, string(want), string(got)+"\n", name)
	}
}

func TestTheSizeThatAFileSays(t *testing.T) {
	r := must(trace.NewReader(strings.NewReader(tracetest.SWF), "a.swf", trace.Options{}))
	s := summaryOf(t, r, trace.CheckOptions{})
	require.Equal(t, 128, s.GPUs)
	require.NotNil(t, s.Load)
	require.InDelta(t, 240.0/(128*200), *s.Load, 1e-12)
}

func TestSummaryOfThePublishedMonth(t *testing.T) {
	vcs := must(trace.ReadNodes(files.OS{}, referenceFile(t, "vc_config.csv")))
	r := must(trace.Open(files.OS{}, referenceFile(t, "venus_sept_trace.csv"), trace.Options{}))
	s := summaryOf(t, r, trace.CheckOptions{VCs: vcs})
	require.NoError(t, r.Close())
	require.Equal(t, []any{23_859, 118, 15, 1080}, []any{s.Jobs, s.Users, len(s.VCs), s.GPUs})
	require.Equal(t, trace.SizeSummary{GPUs: 1, Most: 1, Jobs: 13_488, Share: 13_488.0 / 23_859,
		GPUHours: s.Sizes[0].GPUHours,
		Duration: s.Sizes[0].Duration}, s.Sizes[0])
	require.Equal(t, int64(173), s.Sizes[0].Duration.P50)
	require.Equal(t, int64(193), s.Duration.P50)
	require.InDelta(t, 11769.27, s.Duration.Mean, 0.01)
	require.InDelta(t, 2_167_138_881.0/3600, s.GPUHours, 0.01)
	states, hours := map[string]int{}, 0.0
	for _, state := range s.States {
		states[state.State] = state.Jobs
		hours += state.GPUHours
	}
	require.Equal(t, map[string]int{"COMPLETED": 13281, "CANCELLED": 6036, "FAILED": 4531, "NODE_FAIL": 7,
		"TIMEOUT": 4}, states)
	require.InDelta(t, s.GPUHours, hours, 1e-6)
	require.Equal(t, 23_859-13_281, s.Waste.Jobs)
	require.Equal(t, 7, s.Failures.Failures)
	require.Equal(t, []trace.Kind{trace.OddGPUs}, kindsOf(s.Findings))
	require.Equal(t, "vcEwI", s.VCs[0].Name, "in the order of the file of sizes")
}

// A reader holds one line, whatever the number of lines. The same measurement finds a reader that keeps all jobs.
func TestMemoryDoesNotGrowWithLines(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: it reads 200,000 jobs; run without -short")
	}
	const jobs = 200_000
	var text bytes.Buffer
	g := must(trace.Generate(trace.GenerateOptions{Jobs: jobs}))
	w := must(trace.NewWriter(&text, trace.WriterOptions{}))
	var job trace.Job
	for g.Read(&job) == nil {
		require.NoError(t, w.Write(&job))
	}
	open := func() *trace.Reader {
		return must(trace.NewReader(bytes.NewReader(text.Bytes()), "a.csv", trace.Options{}))
	}
	most := float64(text.Len()) / 4 // a reader that keeps all lines holds four times as much
	require.Less(t, grows(t, open(), jobs), most)
	require.Greater(t, grows(t, &keeping{Reader: open()}, jobs), most, "a reader that keeps all jobs")
	runtime.KeepAlive(&text) // text counts before and after
}

// jobReader reads jobs one by one.
type jobReader interface{ Read(job *trace.Job) error }

// keeping is a reader that keeps all jobs.
type keeping struct {
	*trace.Reader
	jobs []trace.Job
}

// Read keeps the next job.
func (k *keeping) Read(job *trace.Job) error {
	err := k.Reader.Read(job)
	k.jobs = append(k.jobs, *job)
	return err
}

// grows returns the bytes by which the heap grows while a reader reads a number of jobs. The reader stays reachable
// until the heap is measured.
func grows(t *testing.T, r jobReader, jobs int) float64 {
	t.Helper()
	var job trace.Job
	before, n := heap(), 0
	for r.Read(&job) == nil {
		n++
	}
	grown := float64(heap()) - float64(before)
	runtime.KeepAlive(r)
	t.Logf("measured: %.1f MB more on the heap after %d jobs", grown/1e6, n)
	require.Equal(t, jobs, n)
	return grown
}
