package trace_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
)

const sacctHeader = "JobID|Submit|Start|End|ElapsedRaw|AllocTRES|State|Timelimit|NodeList|Restarts\n"

// interrupted is a start on four GPUs from minute 0 to minute 60, which an eviction ended.
const interrupted = "1|2026-05-01T00:00:00|2026-05-01T00:00:00|2026-05-01T01:00:00|3600|gres/gpu=4|PREEMPTED|" +
	"1-00:00:00|n1|0\n"

// other runs on four GPUs in the two hours between the starts of the interrupted job.
const other = "2|2026-05-01T01:00:00|2026-05-01T01:00:00|2026-05-01T03:00:00|7200|gres/gpu=4|COMPLETED|" +
	"1-00:00:00|n1|0\n"

func sacctSummary(t *testing.T, rows string) *trace.Summary {
	r := must(trace.NewReader(strings.NewReader(sacctHeader+rows), "a.csv", trace.Options{History: true}))
	return must(trace.Summarize(r, trace.SummaryOptions{GPUs: 4}))
}

func TestGPUsInUseBySacct(t *testing.T) {
	for _, c := range []struct {
		name, rows string
		want       trace.Usage
	}{
		{"a restarted job frees its GPUs between its starts", interrupted + other +
			"1|2026-05-01T01:00:00|2026-05-01T03:00:00|2026-05-01T04:00:00|3600|gres/gpu=4|COMPLETED|1-00:00:00|n1|1\n",
			trace.Usage{MeanGPUs: 4, MostGPUs: 4}},
		{"a runaway start has no known end", interrupted + other +
			"1|2026-05-01T01:00:00|2026-05-01T01:00:00|Unknown|90001|gres/gpu=4|RUNNING|1-00:00:00|n1|1\n",
			trace.Usage{MeanGPUs: 4, MostGPUs: 4}},
		{"the time limit is for each start", interrupted +
			"1|2026-05-01T01:00:00|2026-05-01T01:00:00|Unknown|90000|gres/gpu=4|RUNNING|1-00:00:00|n1|1\n",
			trace.Usage{MeanGPUs: 4, MostGPUs: 4}},
		{"components of a heterogeneous job",
			"3+0|2026-05-01T00:00:00|2026-05-01T00:00:00|2026-05-01T02:00:00|7200|gres/gpu=2|COMPLETED||n1|0\n" +
				"3+1|2026-05-01T00:00:00|2026-05-01T00:00:00|2026-05-01T01:00:00|3600|gres/gpu=4|COMPLETED||n2|0\n",
			trace.Usage{MeanGPUs: 4, MostGPUs: 6}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, *sacctSummary(t, c.rows).InUse) })
	}
}

// The end of a runaway job is unknown, so only its earlier starts count.
func TestRunawayJobsDoNotCount(t *testing.T) {
	const runaway = "1|2026-05-01T01:00:00|2026-05-01T01:00:00|Unknown|90001|gres/gpu=4|RUNNING|1-00:00:00|n1|1\n"
	s := sacctSummary(t, interrupted+other+runaway)
	require.Equal(t, 2, s.Jobs)
	require.Equal(t, trace.Runaways{Jobs: 1, GPUHours: 4 * 90001.0 / 3600}, s.Runaway)
	require.InDelta(t, 12, s.GPUHours, 1e-9)
	require.InDelta(t, 3, *s.Load, 1e-9)
	require.Equal(t, int64(7200), s.Duration.Max)
	require.InDelta(t, 4, s.Waste.Lost, 1e-9)
	require.Equal(t, 1, s.Adapt.Jobs)
	hours := map[string]float64{}
	for _, state := range s.States {
		hours[state.State] = state.GPUHours
	}
	require.Equal(t, map[string]float64{"COMPLETED": 8, "RUNNING": 4}, hours)
	require.InDelta(t, 12, s.VCs[0].GPUHours, 1e-9)
	require.Contains(t, kindsOf(s.Findings), trace.Runaway)
}

// Simulations read traces without histories, and find the same runaway jobs.
func TestRunawayJobsWithoutHistory(t *testing.T) {
	const row = "1|2026-05-01T01:00:00|2026-05-01T01:00:00|Unknown|90000|gres/gpu=4|RUNNING|1-00:00:00|n1|1\n"
	const graft = "id,submit [s],duration [s],gpus,state,limit [s],lost [s]\n1,0,93600,4,RUNNING,86400,3600\n"
	for name, text := range map[string]string{"slurm": sacctHeader + interrupted + row, "graft": graft} {
		for _, history := range []bool{false, true} {
			jobs, _, err := readText(text, trace.Options{History: history})
			require.NoError(t, err)
			require.Equal(t, int64(93600), jobs[0].Duration)
			require.False(t, jobs[0].Runaway(), name)
			jobs[0].Duration++
			require.True(t, jobs[0].Runaway(), name)
		}
	}
}

func TestRestartsWithoutRows(t *testing.T) {
	const last = "|2026-05-01T01:00:00|2026-05-01T01:00:00|2026-05-01T02:00:00|3600|gres/gpu=4|COMPLETED||n1|"
	const waits = "1|2026-05-01T01:00:00|Unknown|Unknown|0||PENDING||None assigned|1\n"
	for _, c := range []struct {
		name, rows         string
		restarts, unlisted int
	}{
		{"a row for each start", interrupted + "1" + last + "1\n", 1, 0},
		{"only the last row", "1" + last + "2\n3" + last + "1\n", 3, 3},
		{"the first row is missing", interrupted + "1" + last + "2\n", 2, 1},
		{"the next start waits", interrupted + waits, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			waste := sacctSummary(t, c.rows).Waste
			require.Equal(t, []int{c.restarts, c.unlisted}, []int{waste.Restarts, waste.Unlisted})
		})
	}
}

// Each failed start of a job counts for its node.
func TestNodesWithMostFailures(t *testing.T) {
	row := func(day, node, state string) string {
		at := "2026-05-0" + day + "T00:00:00|"
		return "15|" + at + at + "2026-05-0" + day + "T01:00:00|3600|gres/gpu=8|" + state + "||" + node + "|0\n"
	}
	s := sacctSummary(t, row("1", "gn02", "NODE_FAIL")+row("2", "gn02", "NODE_FAIL")+row("3", "gn03", "NODE_FAIL")+
		row("4", "gn[04-05]", "NODE_FAIL")+row("5", "gn06", "COMPLETED"))
	require.Equal(t, 4, s.Failures.Failures)
	require.Equal(t, []trace.FailedNode{{Node: "gn02", Failures: 2}, {Node: "gn03", Failures: 1}}, s.Failures.Worst)
}

// Only jobs that started have waits, whatever time sacct prints as their start.
func TestWaitsOfJobsThatStarted(t *testing.T) {
	const at = "|2026-05-01T00:00:00|2026-05-03T00:00:00|2026-05-03T00:00:00|"
	for _, c := range []struct {
		name, row string
		started   bool
	}{
		{"cancelled while it waited", "1" + at + "0||CANCELLED by 5||None assigned|0\n", false},
		{"cancelled without a list of nodes", "1" + at + "0||CANCELLED|||0\n", false},
		{"expected start of a pending job", "1" + at + "0||PENDING|||0\n", false},
		{"pending with a time since its submission", "1" + at + "77||PENDING|||0\n", false},
		{"no nodes", "1" + at + "77||FAILED||None assigned|0\n", false},
		{"failed in its first second", "1" + at + "0|gres/gpu=1|FAILED||n1|0\n", true},
		{"cancelled while it ran", "1" + at + "1|gres/gpu=1|CANCELLED||n1|0\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			jobs, _, err := readText(sacctHeader+c.row, trace.Options{History: true})
			require.NoError(t, err)
			require.Equal(t, c.started, jobs[0].History.Started)
			if !c.started {
				require.Zero(t, jobs[0].Duration)
				require.Zero(t, jobs[0].History.Wait)
			}
		})
	}
}

func TestHeadersOfSacctThatAreNotRead(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"commas", "JobID,Submit,Start,State", "its columns are separated by commas; run sacct with --parsable2"},
		{"semicolons", "JobID;Submit;State", "its columns are separated by semicolons"},
		{"tabs", "JobID\tSubmit\tState", "its columns are separated by tabs"},
		{"blanks", "JobID  JobName  State", "its columns are separated by blanks"},
		{"no Submit", "JobID|Start|State", "the column Submit is missing; add Submit to the columns of sacct --format"},
		{"no JobID", "Submit|Start|State", "the column JobID is missing; add JobID to"},
		{"no header", "7_1|2026-05-01T00:00:00|COMPLETED", "it has no column names; run sacct without --noheader"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readText(c.line+"\n", trace.Options{})
			require.ErrorContains(t, err, "the first line looks like sacct output, but "+c.want)
			require.ErrorContains(t, err, ", or set the trace format with --from or the key cluster.format")
		})
	}
	for _, line := range []string{"a|b|c", "State,End,other", "7|8|9"} {
		_, _, err := readText(line+"\n", trace.Options{})
		require.ErrorContains(t, err, "unknown trace format; set the trace format with --from", line)
	}
}

// Clocks go back by an hour at the end of daylight saving time.
func TestPhillyAttemptsAcrossTheEndOfDaylightSaving(t *testing.T) {
	for _, c := range []struct {
		name, start, end string
		want             int64
	}{
		{"within an hour", "01:10:00", "01:50:00", 2400},
		{"across the change", "01:50:00", "01:10:00", 1200},
		{"an end before the start", "03:50:00", "01:10:00", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			attempt := `{"start_time": "2017-11-05 ` + c.start + `", "end_time": "2017-11-05 ` + c.end + `"}`
			jobs, _, err := readText(`[{"jobid": "a", "submitted_time": "2017-11-05 01:00:00", "attempts": [`+
				attempt+`]}]`, trace.Options{})
			require.NoError(t, err)
			require.Equal(t, c.want, jobs[0].Duration)
		})
	}
}
