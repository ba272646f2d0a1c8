package trace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
	"graft/cluster/trace/tracetest"
	"graft/internal/files"
)

// reference is the folder of published traces.
const reference = "../../../shared/reference/lucid/"

// referenceFile returns the path of a published file. It skips the test if the file is missing.
func referenceFile(tb testing.TB, name string) string {
	path := filepath.FromSlash(reference + name)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("left out: %s is not there; put the published traces beside the tree", name)
	}
	return path
}

// readText reads all jobs of a text.
func readText(text string, o trace.Options) ([]trace.Job, *trace.Reader, error) {
	r, err := trace.NewReader(strings.NewReader(text), "a.csv", o)
	if err != nil {
		return nil, nil, err
	}
	jobs, err := drain(r)
	return jobs, r, err
}

func drain(r *trace.Reader) (jobs []trace.Job, err error) {
	for {
		var job trace.Job
		err := r.Read(&job)
		if errors.Is(err, io.EOF) {
			return jobs, nil
		}
		if err != nil {
			return jobs, err
		}
		jobs = append(jobs, job)
	}
}

// write creates a file in a temporary folder.
func write(tb testing.TB, name, text string) string {
	path := filepath.Join(tb.TempDir(), name)
	require.NoError(tb, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func smallJobs() []trace.Job {
	const noon = 12 * 3600
	return []trace.Job{
		{ID: "7", User: "ann", VC: "red", Name: "train", Submit: noon + 10, Duration: 60, GPUs: 2, CPUs: 8,
			State: trace.Completed, Training: &trace.Training{Dataset: "Pictures", Model: "Net", Batch: 32, AMP: true,
				Speed: 12.5, GPUUtil: 80, MemoryUtil: 20.25, Memory: 1000}},
		{ID: "8", User: "bob", VC: "blue", Name: "a, \"b\"\n c", Submit: noon + 5, Duration: 5, CPUs: 4,
			State: trace.TimedOut},
		{ID: "9", User: "ann", VC: "red", Submit: 2 * noon, Duration: 7200, GPUs: 16, CPUs: 64, State: trace.NodeFailed,
			Training: &trace.Training{Dataset: "Pictures", Model: "Net", Batch: 64, Speed: 10, GPUUtil: 0.5,
				MemoryUtil: 20, Memory: 1000}},
	}
}

func TestHeliosIsRead(t *testing.T) {
	jobs, r, err := readText(tracetest.Helios, trace.Options{})
	require.NoError(t, err)
	require.Equal(t, smallJobs(), jobs)
	require.Equal(t, "helios", r.Format())
	start, known := r.Start()
	require.True(t, known)
	require.Equal(t, time.Date(2021, 3, 4, 0, 0, 0, 0, time.UTC), start)
}

func TestACompressedTraceIsKnownByItsContent(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := io.WriteString(z, "\ufeff\r\n"+tracetest.Helios)
	require.NoError(t, errors.Join(err, z.Close()))
	jobs, _, err := readText(zipped.String(), trace.Options{})
	require.NoError(t, err)
	require.Equal(t, smallJobs(), jobs)
	for _, cut := range []int{5, zipped.Len() / 2, zipped.Len() - 3} {
		_, _, err = readText(zipped.String()[:cut], trace.Options{})
		require.ErrorIs(t, err, trace.ErrMalformed, "cut at %d", cut)
	}
}

// Columns are found by name, and optional columns may be missing.
func TestColumnsInAnyOrder(t *testing.T) {
	jobs, _, err := readText("vc,duration,submit_time,start_time,gpu_num,job_id\nred,60.0,12.4,x,2.0,7\n"+
		"red,None,-3,x,,8\n", trace.Options{})
	require.NoError(t, err)
	require.Equal(t, []trace.Job{{ID: "7", VC: "red", Submit: 12, Duration: 60, GPUs: 2},
		{ID: "8", VC: "red", Submit: -3}}, jobs)
}

func TestWhatIsKept(t *testing.T) {
	noon := int64(12 * 3600)
	for name, c := range map[string]struct {
		o       trace.Options
		ids     string
		submits []int64
		start   string
	}{
		"all, from midnight on": {trace.Options{}, "879", []int64{noon + 5, noon + 10, 2 * noon},
			"2021-03-04 00:00:00"},
		"from the first job on": {trace.Options{Origin: trace.FirstJob}, "879", []int64{0, 5, noon - 5},
			"2021-03-04 12:00:05"},
		"from the first job with GPUs on": {trace.Options{Origin: trace.FirstJob, OnlyGPU: true}, "79",
			[]int64{0, noon - 10}, "2021-03-04 12:00:10"},
		"of one virtual cluster": {trace.Options{Origin: trace.FirstJob, VCs: []string{"blue"}}, "8", []int64{0},
			"2021-03-04 12:00:05"},
		"a window with both its ends": {trace.Options{Window: &trace.Window{From: noon + 10, To: 2 * noon}}, "79",
			[]int64{noon + 10, 2 * noon}, "2021-03-04 00:00:00"},
		"since a date": {trace.Options{Since: time.Date(2021, 3, 4, 12, 0, 10, 0, time.UTC), Origin: trace.FirstJob},
			"79", []int64{0, noon - 10}, "2021-03-04 12:00:10"},
		"none": {trace.Options{VCs: []string{"green"}}, "", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := must(trace.ReadAll(files.OS{}, write(t, "a.csv", tracetest.Helios), c.o))
			var ids string
			var submits []int64
			for _, job := range all.Jobs {
				ids, submits = ids+job.ID, append(submits, job.Submit)
			}
			require.Equal(t, c.ids, ids)
			require.Equal(t, c.submits, submits)
			if c.start != "" {
				require.Equal(t, c.start, all.Start.Format(time.DateTime))
			}
		})
	}
}

// An error names its place, its field, the value and a remedy.
func TestFaultsInATrace(t *testing.T) {
	for name, c := range tracetest.Faults() {
		t.Run(name, func(t *testing.T) {
			_, _, err := readText(c.Text, trace.Options{})
			require.ErrorContains(t, err, c.Says)
			require.ErrorIs(t, err, trace.ErrMalformed)
		})
	}
	_, _, err := readText("a,b\n1,2\n", trace.Options{Format: "helios"})
	require.ErrorContains(t, err, "a.csv:1: the header has no column job_id, "+
		"which a helios trace needs; add the column")
}

// Reading ends at a fault: later reads return the same error.
func TestReadingEndsAtAFault(t *testing.T) {
	_, r, err := readText("job_id,gpu_num,submit_time,duration\n1,1,0,5\n2,1,0,x\n3,1,0,5\n", trace.Options{})
	require.ErrorContains(t, err, "a.csv:3:7: duration")
	require.Equal(t, err, r.Read(new(trace.Job)))
}

func TestOptionsAreCheckedTogether(t *testing.T) {
	_, _, err := readText(tracetest.Helios, trace.Options{Format: "x", Origin: 7, Processors: 7,
		Window: &trace.Window{From: 2, To: 1}, VCs: []string{""}})
	for _, part := range []string{`unknown trace format "x"; expected one of: graft, acme, helios`, "unknown origin 7",
		"unknown meaning of processors 7",
		"the window is from second 2 to 1", "to keep has an empty name"} {
		require.ErrorContains(t, err, part)
	}
}

func TestAFileThatIsNotThere(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "none.csv"), t.TempDir()} {
		_, err := trace.ReadAll(files.OS{}, path, trace.Options{})
		require.ErrorContains(t, err, "read "+path)
		require.NotErrorIs(t, err, trace.ErrMalformed)
	}
}

// The published trace reads as in Lucid's simulator: the same jobs, whether submissions are dates or seconds.
func TestPublishedTrace(t *testing.T) {
	vcs := must(trace.ReadNodes(files.OS{}, referenceFile(t, "vc_config.csv")))
	require.Len(t, vcs, 15)
	require.Equal(t, trace.VC{Name: "vcEwI", Nodes: 9}, vcs[0])
	require.Equal(t, trace.VC{Name: "vcgkz", Nodes: 1}, vcs[14])
	require.Equal(t, 135, trace.Nodes(vcs))
	o := trace.Options{Origin: trace.FirstJob, OnlyGPU: true, Window: &trace.Window{From: 13_219_200, To: 15_465_540}}
	for _, vc := range vcs {
		o.VCs = append(o.VCs, vc.Name)
	}
	seconds := must(trace.ReadAll(files.OS{}, referenceFile(t, "venus_sept_trace.csv"), o))
	dates := must(trace.ReadAll(files.OS{}, referenceFile(t, "cluster_full_log.published_order.csv"), o))
	require.Equal(t, "2020-04-01 00:00:00", dates.Start.Format(time.DateTime))
	require.Len(t, seconds.Jobs, 23_859)
	require.Equal(t, 3157, ties(seconds.Jobs))
	require.Equal(t, 3157, ties(dates.Jobs))
	require.True(t, maps.Equal(brief(seconds.Jobs), brief(dates.Jobs)), "the same jobs")
	require.Equal(t, trace.Job{ID: "765472", User: "ucpfn", VC: "vcEwI", Submit: 13219203, Duration: 97,
		GPUs: 1, CPUs: 1, State: trace.Completed, Training: &trace.Training{Dataset: "CIFAR-10", Model: "ResNet18",
			Batch: 64, AMP: true, Speed: 4038.576, GPUUtil: 62, MemoryUtil: 34, Memory: 3642}}, seconds.Jobs[0])
}

// ties returns the number of jobs that are submitted in the same second as the previous job.
func ties(jobs []trace.Job) (n int) {
	for k := range jobs[1:] {
		if jobs[k].Submit == jobs[k+1].Submit {
			n++
		}
	}
	return n
}

// described is a comparable job with its training.
type described struct {
	trace.Job
	training trace.Training
}

func brief(jobs []trace.Job) map[described]bool {
	list := map[described]bool{}
	for _, job := range jobs {
		training := job.Trains()
		job.Training = nil
		list[described{job, training}] = true
	}
	return list
}

// BenchmarkReadHelios reads a month of jobs from memory.
func BenchmarkReadHelios(b *testing.B) {
	text := bytes.Buffer{}
	data := must(os.ReadFile(referenceFile(b, "venus_sept_trace.csv")))
	text.Write(data)
	b.SetBytes(int64(text.Len()))
	jobs := 0
	for b.Loop() {
		r := must(trace.NewReader(bytes.NewReader(data), "month.csv", trace.Options{}))
		var job trace.Job
		var err error
		for err = r.Read(&job); err == nil; err = r.Read(&job) {
			jobs++
		}
		require.ErrorIs(b, err, io.EOF)
	}
	b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkReadSlurm reads 200,000 rows of sacct from memory.
func BenchmarkReadSlurm(b *testing.B) {
	const rows = 200_000
	var text bytes.Buffer
	text.WriteString("JobID|User|Partition|QOS|JobName|Submit|Start|End|ElapsedRaw|AllocTRES|ReqTRES|State|Timelimit\n")
	for k := range rows {
		at := time.Unix(1_777_593_600+60*int64(k), 0).UTC().Format("2006-01-02T15:04:05")
		fmt.Fprintf(&text, "%d|user%d|gpu|normal|train%d|%s|%[4]s|%[4]s|%d|cpu=8,gres/gpu:a100=%d,"+
			"gres/gpu=%[6]d,mem=64G|cpu=8,gres/gpu=%[6]d|COMPLETED|1-00:00:00\n",
			k, k%400, k%5000, at, k%100_000, 1+k%8)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r := must(trace.NewReader(bytes.NewReader(text.Bytes()), "a.csv", trace.Options{}))
		var job trace.Job
		jobs := 0
		for r.Read(&job) == nil {
			jobs++
		}
		require.Equal(b, rows, jobs)
	}
}

// must returns the value of a call that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Jobs with the same training share its description.
func TestTrainingsAreShared(t *testing.T) {
	jobs, _, err := readText("id,submit [s],duration [s],gpus,model,batch\na,1,9,1,net,8\nb,2,9,1,net,16\nc,3,9,1,,\n"+
		"d,4,9,1,net,8\n", trace.Options{})
	require.NoError(t, err)
	require.Equal(t, &trace.Training{Model: "net", Batch: 8}, jobs[0].Training)
	require.Equal(t, trace.Training{Model: "net", Batch: 16}, jobs[1].Trains())
	require.Nil(t, jobs[2].Training)
	require.Equal(t, trace.Training{}, jobs[2].Trains())
	require.Same(t, jobs[0].Training, jobs[3].Training)
}
