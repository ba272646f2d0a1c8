package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/runner/traces"
)

// eventsOfSlurm has events of two nodes. The drain of n1 was not announced.
const eventsOfSlurm = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n" +
	"c||2026-04-01T00:00:00|Unknown||Cluster Registered TRES|\n" +
	"c|n1|2026-05-01T00:05:00|2026-05-01T00:10:00|DRAIN|kernel update|root(0)\n" +
	"c|n2|2026-05-01T06:00:00|2026-05-01T12:00:00|DOWN*|Not responding|slurm(64030)\n" +
	"c|n2|2026-05-02T06:00:00|Unknown|DOWN|dead PSU|root(0)\n"

// jobsOfSlurm has a job of 1000 seconds that was submitted at midnight.
const jobsOfSlurm = "JobID|Submit|Start|End|ElapsedRaw|AllocTRES|State\n" +
	"1|2026-05-01T00:00:00|2026-05-01T00:00:00|2026-05-01T00:16:40|1000|gres/gpu=8|COMPLETED\n"

func TestTraceFailuresDescribesSlurmEvents(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "events.txt", eventsOfSlurm)
	text := done(t, "trace", "failures", "events.txt", "--nodes", "4", "--days", "4").stdout
	for _, line := range []string{
		"events.txt: 2 failures and 1 drain of 4 nodes in 4.0 days from 2026-05-01 00:00:00",
		"availability 81.250% without failures, 81.228% without failures and drains",
		"3 nodes without a failure; 0 overlapping failures; 1 failure without an end; 1 cluster event skipped",
		"failed periods       2  36.00  36.00  60.00  66.00", "drained periods      1   0.08   0.08   0.08   0.08",
		"dead PSU               1  50.0%   66.0", "n2           2   72.0       0          0.0",
	} {
		require.Contains(t, text, line)
	}
	info := decoded[traces.FailureInfo](t, done(t, "trace", "failures", "events.txt", "--json", "--start", "2026-05-02",
		"--days", "1").stdout)
	require.Equal(t, "slurm", info.List.Format)
	require.Equal(t, "2026-05-02 00:00:00", info.List.Start)
	require.Equal(t, 1, info.Faults)
	require.InDelta(t, 0.25, info.Availability, 1e-12)
	done(t, "trace", "failures", "events.txt", "--fit", "--generate", "more.json")
	require.Contains(t, done(t, "trace", "failures", "more.json").stdout, "Faults by class")
}

func TestTraceFailuresRefusesFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "text", "hello\n")
	fails(t, failure.Damaged, "text:1: unknown format of failures; name a fault trace", "trace", "failures", "text")
	write(t, "drains.csv", "node,from [s],to [s],kind\n1,2,3,drain\n")
	require.Contains(t, done(t, "trace", "failures", "drains.csv").stdout, "0 failures and 1 drain of 2 nodes")
	fails(t, failure.Usage, "drains.csv has no failures to fit a model to", "trace", "failures", "drains.csv", "--fit")
}

// If the drain is not announced, the job starts at once and ends on the drained node. If it is announced, the job
// starts after it.
func TestClusterRunsReplaySlurmEvents(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "events.txt", eventsOfSlurm)
	write(t, "jobs.txt", jobsOfSlurm)
	write(t, "outages.csv", "node,from [s],to [s],kind\nn1,300,600,drain\n")
	run := []string{"cluster", "run", "--trace", "jobs.txt", "--nodes", "1", "--scheduler", "fifo", "--quiet", "--set",
		`failures.nodes=["n[1]"]`, "--failures"}
	text := done(t, append(run, "events.txt", "--out", "slurm")...).stdout
	require.Contains(t, text, "Nodes fail: 0 failures and 1 unannounced drain of 1 node (Slurm events of events.txt), "+
		"without the events of other nodes (n2).")
	require.InDelta(t, 1000, float64(readStudy(t, "slurm").Cells[0].Values["jct_mean_s"]), 1e-9)
	require.Contains(t, done(t, "report", "slurm/fifo", "--node", "n1").stdout, "Node 0 of virtual cluster all")
	fails(t, failure.Usage, `outage of node "n2" not found`, "report", "slurm/fifo", "--node", "n2")
	fails(t, failure.Usage, "it is not in the trace, was left out (no GPUs, or never started), or is outside", "report",
		"slurm/fifo", "--job", "99")
	done(t, append(run, "outages.csv", "--out", "announced")...)
	require.InDelta(t, 1600, float64(readStudy(t, "announced").Cells[0].Values["jct_mean_s"]), 1)
	write(t, "undated.csv", "id,submit [s],duration [s],gpus\n1,0,100,8\n")
	run[3] = "undated.csv"
	fails(t, failure.Configuration, "events.txt has dates, but the trace of jobs has none; simulate a trace with dates",
		append(run, "events.txt", "--out", "none")...)
	write(t, "outages.csv", "vc,node,from [s],to [s]\nred,0,1,2\n")
	fails(t, failure.Configuration, `outages.csv:2: unknown virtual cluster "red"; set vc to one of all`,
		append(run, "outages.csv", "--out", "none")...)
}
