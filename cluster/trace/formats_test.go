package trace_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
	"graft/cluster/trace/tracetest"
	"graft/internal/files"
)

// samples holds small files of each format and their content.
var samples = map[string]struct {
	text   string
	format string
	start  string // date of second 0, or empty
	jobs   []trace.Job
}{
	"our own": {tracetest.Ours, "graft", "2021-03-04 00:00:00", smallJobs()},
	"Helios":  {tracetest.Helios, "helios", "2021-03-04 00:00:00", smallJobs()},
	"Helios as it was published": {
		"job_id,user,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue,vc\n" +
			"5,u1,8,40,1,FAILED,2020-04-01 00:00:07,2020-04-01 00:00:08,2020-04-01 00:01:00,52,1,vc1\n",
		"helios", "2020-04-01 00:00:00",
		[]trace.Job{{ID: "5", User: "u1", VC: "vc1", GPUs: 8, CPUs: 40, State: trace.Failed, Submit: 7, Duration: 52}}},
	"Philly": {tracetest.Philly, "philly", "2017-10-07 00:00:00", []trace.Job{
		{ID: "application_1_1", User: "ce2f", VC: "11cb48", GPUs: 3, State: trace.Completed, Submit: 3600 + 11*60 + 39,
			Duration: 3660},
		{ID: "application_1_2", VC: "11cb48", State: trace.Cancelled, Submit: -86400},
		{ID: "application_1_3", User: "ce2f", GPUs: 1, State: trace.Failed, Submit: 86400},
	}},
	"Philly as a table": {tracetest.PhillyCSV, "philly-csv", "2017-10-07 00:00:00", []trace.Job{
		{ID: "application_1", User: "ce2f", VC: "11cb48", GPUs: 3, State: trace.Completed, Submit: 9, Duration: 3660},
		{ID: "application_2", VC: "11cb48", State: trace.Cancelled, Submit: 10},
	}},
	"a table of Tiresias": {tracetest.Tiresias, "philly-csv", "",
		[]trace.Job{{ID: "1", GPUs: 4, Submit: 10, Duration: 500,
			Training: &trace.Training{Model: "vgg16"}}}},
	"Alibaba's of 2020": {tracetest.Alibaba2020, "alibaba2020", "", []trace.Job{
		{ID: "j1", VC: "T4", Name: "worker", GPUs: 4, Share: 500, CPUs: 28, RAM: 180020, State: trace.Completed,
			Submit: 1000, Duration: 600},
		{ID: "j2", VC: "V100", Name: "tensorflow", GPUs: 1, CPUs: 6, RAM: 30004, State: trace.Running, Submit: 2000},
		{ID: "j4", VC: "P100", Name: "worker", GPUs: 6, CPUs: 3, RAM: 2048, State: trace.Failed, Submit: 3000,
			Duration: 5},
	}},
	"Alibaba's of 2023": {tracetest.Alibaba2023, "alibaba2023", "", []trace.Job{
		{ID: "pod-1", GPUs: 1, Share: 220, CPUs: 13, RAM: 65536, State: trace.Running, Submit: 100, Duration: 390},
		{ID: "pod-2", GPUs: 8, CPUs: 8, RAM: 1, State: trace.Completed, Submit: 200, Duration: 100},
		{ID: "pod-3", CPUs: 4, RAM: 1, State: trace.Pending, Submit: 300},
	}},
	"Alibaba's of 2026": {tracetest.Alibaba2026, "alibaba2026", "", []trace.Job{
		{ID: "1", User: "13", GPUs: 1, CPUs: 20, GPUType: "A10", NeedsType: true, Duration: 3600},
		{ID: "2", User: "57", GPUs: 128, CPUs: 248, GPUType: "A100-SXM4-80GB", NeedsType: true, Spot: true, Submit: 60,
			Duration: 41060},
		{ID: "3", User: "57", GPUs: 2, Share: 250, CPUs: 4, GPUType: "A10", NeedsType: true, Spot: true, Submit: 70,
			Duration: 10},
		{ID: "4", User: "13", CPUs: 8, Submit: 80, Duration: 5},
	}},
	"Acme's": {tracetest.Acme, "acme", "2023-05-17 00:00:00", []trace.Job{
		{ID: "dlc1", User: "u1", Name: "Pretrain", GPUs: 64, CPUs: 960, State: trace.Failed, Duration: 50},
		{ID: "dlc2", User: "u2", Name: "Other", GPUs: 1, CPUs: 16, State: trace.Cancelled, Submit: 5},
		{ID: "dlc3", User: "u2", Name: "Eval", GPUs: 8, CPUs: 16, State: trace.Completed, Submit: 6, Duration: 3600},
	}},
	"a workload of Pollux": {tracetest.Pollux, "pollux", "", []trace.Job{
		{ID: "cifar10-0", GPUs: 6, Submit: 53, Training: &trace.Training{Model: "cifar10", Batch: 2048}},
		{ID: "ncf-1", GPUs: 1, Submit: 60, Training: &trace.Training{Model: "ncf"}}}},
	"our own with only what is required": {"gpus,id,submit [s],duration [s],limit [s]\n2,a,5,60,\n1,b,6,7,90\n",
		"graft", "",
		[]trace.Job{{ID: "a", GPUs: 2, Submit: 5, Duration: 60}, {ID: "b", GPUs: 1, Submit: 6, Duration: 7,
			Limit: 90}}},
	"the accounting of Slurm": {tracetest.Slurm, "slurm", "2026-05-01 00:00:00", []trace.Job{
		{ID: "71", User: "ann", VC: "gpu", Name: `a "b", c`, GPUs: 4, CPUs: 8, RAM: 65536, State: trace.Completed,
			GPUType: "a100", Submit: 217, Duration: 89886, Limit: 172800},
		{ID: "72_3", User: "bob", VC: "cpu", Name: "x", GPUs: 1, CPUs: 2, State: trace.Cancelled, Submit: 240,
			GPUType: "v100", NeedsType: true},
		{ID: "74", User: "ann", VC: "gpu", Name: "y", CPUs: 1, State: trace.TimedOut, Submit: 360, Duration: 2},
		{ID: "73", User: "bob", VC: "gpu", GPUs: 2, CPUs: 4, RAM: 1, State: trace.NodeFailed, Submit: 300,
			GPUType: "v100", Duration: 600, Limit: 1800},
	}},
	"Slurm with raw times": {"JobID|Submit|ElapsedRaw|Elapsed|TimelimitRaw|Timelimit|\n" +
		"7|2026-05-01T00:00:09|61|00:00:00|90|01:30:00|\n",
		"slurm", "2026-05-01 00:00:00", []trace.Job{{ID: "7", Submit: 9, Duration: 61, Limit: 5400}}},
	"Slurm with raw IDs": {"JobIDRaw|Submit|ElapsedRaw|\n8.batch|2026-05-01T00:00:09|61|\n8|2026-05-01T00:00:09|61|\n",
		"slurm", "2026-05-01 00:00:00", []trace.Job{{ID: "8", Submit: 9, Duration: 61}}},
	"the Standard Workload Format": {tracetest.SWF, "swf", "2020-09-13 12:26:40", []trace.Job{
		{ID: "1", User: "3", VC: "2", Name: "7", GPUs: 4, State: trace.Completed, Submit: 100, Duration: 60,
			Limit: 3600},
		{ID: "2", VC: "6", GPUs: 2, State: trace.Cancelled, Submit: 200},
		{ID: "3", User: "4", VC: "1", Submit: 300, Duration: 2},
	}},
}

func TestFormatsAreKnownAndRead(t *testing.T) {
	for name, s := range samples {
		t.Run(name, func(t *testing.T) {
			for _, format := range []string{"", s.format} {
				jobs, r, err := readText(s.text, trace.Options{Format: format})
				require.NoError(t, err)
				require.Equal(t, s.format, r.Format())
				require.Equal(t, s.jobs, jobs)
				start, known := r.Start()
				require.Equal(t, s.start != "", known)
				if known {
					require.Equal(t, s.start, start.Format(time.DateTime))
				}
			}
		})
	}
}

// With option History, formats with start times give waiting times.
func TestHistories(t *testing.T) {
	for name, want := range map[string][]*trace.History{
		"Helios as it was published": {{Started: true, Wait: 1}},
		"Philly": {{Started: true, Wait: 21, Restarts: 1, Lost: 60}, nil,
			{Started: true, Wait: 1, Restarts: 1}},
		"Acme's": {{Started: true, Wait: 10}, nil, {Started: true}},
		"the accounting of Slurm": {{Started: true, Wait: 32*60 + 21}, {},
			{Started: true, Wait: 1}, {Started: true, Wait: 1, NodeFailures: 1}},
		"the Standard Workload Format": {{Started: true, Wait: 5}, nil, nil},
	} {
		jobs, _, err := readText(samples[name].text, trace.Options{History: true})
		require.NoError(t, err)
		for k := range jobs {
			require.Equal(t, want[k], jobs[k].History, "%s, job %d", name, k)
			jobs[k].History = nil
		}
		require.Equal(t, samples[name].jobs, jobs)
	}
}

func TestSpotJobsOfSlurm(t *testing.T) {
	const text = "JobID|Partition|QOS|Submit|State\n1|spot|normal|2026-05-01T00:00:00|COMPLETED\n" +
		"2|gpu|scavenger|2026-05-01T00:00:00|COMPLETED\n3|gpu|normal|2026-05-01T00:00:00|PREEMPTED\n" +
		"4|gpu|normal|2026-05-01T00:00:00|COMPLETED\n"
	jobs, _, err := readText(text, trace.Options{Spot: []string{"scavenger", "spot"}})
	require.NoError(t, err)
	require.Equal(t, []bool{true, true, false, true}, []bool{jobs[0].Spot, jobs[1].Spot, jobs[2].Spot, jobs[3].Spot})
	_, _, err = readText(text, trace.Options{Spot: []string{"scavnger", "spot"}})
	require.ErrorContains(t, err, `no job has the partition or quality of service "scavnger"; correct or remove it `+
		"in the list of spot jobs")
}

func TestEveryFormatHasASample(t *testing.T) {
	for _, f := range trace.Formats() {
		found := false
		for _, s := range samples {
			found = found || s.format == f.Name
		}
		require.True(t, found, f.Name)
		require.NotEmpty(t, f.About)
	}
}

// The job table gives the user and the submission time of a job.
func TestAlibabasTableOfJobs(t *testing.T) {
	o := trace.Options{JobTable: write(t, "pai_job_table.csv", tracetest.Owners)}
	path := write(t, "pai_task_table.csv", tracetest.Alibaba2020)
	all := must(trace.ReadAll(files.OS{}, path, o))
	require.Equal(t, []string{"ann", "", ""}, []string{all.Jobs[0].User, all.Jobs[1].User, all.Jobs[2].User})
	require.Equal(t, int64(990), all.Jobs[0].Submit)
	require.Equal(t, int64(600), all.Jobs[0].Duration, "it waited for ten seconds")
	for text, want := range map[string]string{
		"j1,i1,ann,Terminated,990.0\n":        "the line has 5 fields, expected 6",
		"j1,i1,ann,Terminated,soon,1601.0\n":  `jobs.csv:1:22: start_time is "soon": expected a number of seconds`,
		"j1,i1,\"ann,Terminated,990,1601.0\n": "the quote that begins here is not closed",
	} {
		_, err := trace.ReadAll(files.OS{}, path, trace.Options{JobTable: write(t, "jobs.csv", text)})
		require.ErrorContains(t, err, want)
	}
	_, err := trace.Open(files.OS{}, path, trace.Options{JobTable: path + "y"})
	require.ErrorContains(t, err, "read "+path+"y")
}

func TestRowsWithoutATimeAreCounted(t *testing.T) {
	_, r, err := readText(tracetest.Alibaba2020, trace.Options{})
	require.NoError(t, err)
	require.Equal(t, 1, r.Skipped())
}

func TestWhatAProcessorStandsFor(t *testing.T) {
	jobs, r, err := readText(tracetest.SWF, trace.Options{Processors: trace.AsCPUs})
	require.NoError(t, err)
	require.Equal(t, 4, jobs[0].CPUs)
	require.Zero(t, jobs[0].GPUs)
	nodes, processors := r.Size()
	require.Equal(t, []int{16, 128}, []int{nodes, processors})
}

// Numbers parse as with strconv, to the last bit.
func TestNumbersAreExact(t *testing.T) {
	const head = "job_id,gpu_num,submit_time,duration,speed\n"
	for _, text := range []string{"0.1", "29773.989", "1e22", "123456789012345678", "0.000001", "9007199254740993",
		"5e-324", "-0.3", "4.", ".25", "179769313486231570000000000000000", "2.2250738585072011e-308"} {
		var want float64
		_, err := fmt.Sscan(text, &want)
		require.NoError(t, err)
		jobs, _, err := readText(head+"1,1,0,1,"+text+"\n", trace.Options{})
		require.NoError(t, err)
		require.Equal(t, want, jobs[0].Trains().Speed, text)
	}
	for _, text := range []string{"-", ".", "1.2.3", "0x", "1_000", "--1", "1e400"} {
		_, _, err := readText(head+"1,1,0,1,"+text+"\n", trace.Options{})
		require.ErrorContains(t, err, "expected a number", text)
	}
}

// A column of the format graft with another unit, or without its unit, is an error: its values would be left out. It is
// ignored if the header also has the column with the right unit.
func TestColumnsWithOtherUnits(t *testing.T) {
	header := "id,submit [s],duration [s],gpus,"
	for column, known := range map[string]string{"limit [min]": "limit [s]", "limit": "limit [s]",
		"memory [GiB]": "memory [MiB]", "ram [MB]": "ram [MiB]", "share [%]": "share [1/1000]"} {
		_, _, err := readText(header+column+"\n1,0,10,1,5\n", trace.Options{})
		require.ErrorContains(t, err, column+" is not a column of this format, which has "+known)
	}
	for _, columns := range []string{"remark,note", "limit [min],limit [s]", "limit [s],limit [min]"} {
		_, _, err := readText(header+columns+"\n1,0,10,1,5,5\n", trace.Options{})
		require.NoError(t, err, columns)
	}
	_, _, err := readText("submit [min],id,submit [s since 2020-09-01 00:00:00],duration [s],gpus\n5,1,0,10,1\n",
		trace.Options{})
	require.NoError(t, err)
}
