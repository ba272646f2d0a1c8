package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/runner/traces"
)

// troubledRows is a Slurm trace with jobs that a replay must correct or skip: a job without GPUs, a job that was
// cancelled before its start, a pending job, a runaway job, and a job that a failing node stopped after 5,000 s.
const troubledRows = `JobID|Submit|Start|End|ElapsedRaw|Timelimit|State|AllocTRES|ReqTRES|NodeList
1|2024-01-01T00:00:00|2024-01-01T00:00:10|2024-01-01T00:16:50|1000|1-00:00:00|COMPLETED|gres/gpu=8|gres/gpu=8|n1
2|2024-01-01T00:00:05|2024-01-01T00:00:10|2024-01-01T00:16:50|1000|1-00:00:00|COMPLETED|cpu=4|cpu=4|n1
3|2024-01-01T00:00:20|None|2024-01-01T00:30:00|0|1-00:00:00|CANCELLED by 7||gres/gpu=16|None assigned
4|2024-01-01T00:00:30|Unknown|Unknown|0|1-00:00:00|PENDING||gres/gpu=16|None assigned
5|2024-01-01T00:00:40|2024-01-01T01:00:00|Unknown|9000000|1-00:00:00|RUNNING|gres/gpu=8|gres/gpu=8|n2
6|2024-01-01T00:01:00|2024-01-01T00:20:00|2024-01-01T01:43:20|5000|1-00:00:00|NODE_FAIL|gres/gpu=16|gres/gpu=16|n[1-2]
6|2024-01-01T01:43:20|2024-01-01T02:00:00|2024-01-01T03:40:00|6000|1-00:00:00|COMPLETED|gres/gpu=16|gres/gpu=16|n[1-2]
`

// A replay leaves out jobs that did not run on the traced cluster and reports them. It does not repeat a node failure
// of the trace in addition to the simulated failures.
func TestClusterReplaysWhatRan(t *testing.T) {
	curves, err := filepath.Abs("../scenarios/growing/curves.json")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	write(t, "sacct.txt", troubledRows)
	write(t, "outages.csv", "node,from [s],to [s]\n1,90000,90010\n")
	write(t, "events.txt", "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"+
		"c|n1|2023-01-01T00:00:00|2023-01-02T00:00:00|DOWN|x|root\n"+
		"c|n2|2023-01-01T00:00:00|2023-01-02T00:00:00|DOWN|x|root\n")
	args := []string{"cluster", "run", "--trace", "sacct.txt", "--nodes", "2", "--scheduler", "fifo,fair", "--quiet"}
	text := done(t, append(args, "--out", "plain")...).stdout
	containsAll(t, text, "Left out of the trace: 1 job without GPUs, 2 jobs that never started, 1 job without an end, "+
		"although the time limit passed more than an hour ago.",
		"On the traced cluster, these jobs waited for 575.0 s on average.",
		"Schedulers that resize every job: fair; the speed of a job is proportional to its GPUs.")
	ends := func(folder string) (list []string) {
		for _, row := range lines(t, folder+"/fifo/jobs.csv") {
			list = append(list, row["end [s]"])
		}
		return list
	}
	require.Equal(t, []string{"1000", "12000"}, ends("plain"), "a replay repeats the lost work")
	require.Contains(t, text, "22 GPU hours of earlier starts in the trace, before failures or preemptions, are "+
		"replayed; a simulation with failures leaves them out, and so does cluster.earlier_starts = \"drop\".")
	done(t, append(args, "--out", "dropped", "--set", "cluster.earlier_starts=drop")...)
	require.Equal(t, []string{"1000", "7000"}, ends("dropped"))
	done(t, append(args, "--out", "kept", "--failures", "outages.csv", "--set", "cluster.earlier_starts=replay")...)
	require.Equal(t, []string{"1000", "12000"}, ends("kept"))
	fails(t, failure.Configuration, "growth selects no job (states all, at least 9 h and 1 GPU); change growth.states",
		append(args, "--set", "growth.curves="+curves, "--set", "growth.min_hours=9")...)
	write(t, "sacct.txt", strings.ReplaceAll(troubledRows, "1-00:00:00", "01:50:00"))
	done(t, append(args, "--out", "limited", "--set", "cluster.enforce_limits=true")...)
	require.Equal(t, []string{"1000", "12000"}, ends("limited"), "each start has its own limit")
	met := func(folder, enforces string) float64 {
		done(t, append(args, "--out", folder, "--set", "cluster.enforce_limits="+enforces, "--set",
			"schedule.deadline_factor=1.0")...)
		return float64(readStudy(t, folder).Cells[0].Values["deadlines_met_share"])
	}
	require.Equal(t, 0.5, met("enforced", "true"), "job 6 ends 12,000 s after its submission, its limit is 6,600 s")
	require.Equal(t, 0.5, met("exceeded", "false"))
	write(t, "sacct.txt", troubledRows)
	text = done(t, append(args, "--out", "failing", "--failures", "outages.csv")...).stdout
	require.Contains(t, text, "22 GPU hours of earlier starts in the trace, before failures or preemptions, are left "+
		"out (cluster.earlier_starts).")
	fails(t, failure.Configuration, "events.txt has no event of this cluster after second 0 of the trace; name "+
		"another file", append(args, "--failures", "events.txt")...)
	require.Equal(t, []string{"1000", "7000"}, ends("failing"))
	for _, starts := range []string{"drop", "replay"} {
		text = done(t, append(args, "--out", "selected-"+starts, "--set", "cluster.earlier_starts="+starts, "--set",
			"resizing.min_hours=3", "--set", "resizing.shares=[1]")...).stdout
		require.Contains(t, text, "100% of 1 job (states all, at least 3 h and 1 GPU) can be resized.", starts)
	}
	allocated := readStudy(t, "failing").Cells[0].Values["allocated_gpu_h"]
	require.InDelta(t, (8*1000+16*6000)/3600.0, float64(allocated), 1e-9)
	require.NotContains(t, readStudy(t, "plain").Cells[0].Values, "allocated_gpu_h")
}

// The command counts jobs that ran on a GPU type that the cluster does not have.
func TestClusterNamesOtherTypes(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "id,submit [s],duration [s],gpus,gpu_type\n1,0,10,1,A100\n2,0,10,1,v100\n3,0,10,1,\n")
	write(t, "c.toml", "[[cluster.types]]\nname = \"a100\"\nnodes = 1\n[workload]\ntraces = [\"jobs.csv\"]\n")
	require.Contains(t, done(t, "cluster", "run", "c.toml", "--quiet").stdout, "Types of GPUs: 8 GPUs of a100. In the "+
		"trace, 1 job ran on types that are not among them (v100); their durations count as times on a100. If these "+
		"are other names of the same types, use the names of the trace in cluster.types.")
}

// Nodes of two types have different numbers of GPUs, and partitions have both types. A job of 8 GPUs takes two nodes of
// 4, two jobs of 6 do not fit on a node of 8, and no job runs in a partition without a type that it requires.
func TestClusterOfPartitionsWithTypes(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "id,vc,submit [s],duration [s],gpus,gpu_type,needs_type\n1,short,0,100,8,v100,1\n"+
		"2,long,0,100,6,a100,1\n3,long,1,100,6,a100,1\n"+
		"4,long,2,100,4,,0\n5,short,3,100,2,a100,1\n6,long,4,100,9,v100,1\n")
	write(t, "nodes.csv", "partition,num,type\nshort,2,V100\nlong,1,V100\nlong,1,A100\n")
	write(t, "c.toml", "[cluster]\nvc_file = \"nodes.csv\"\n[[cluster.types]]\nname = \"a100\"\nspeed = 2.0\n"+
		"[[cluster.types]]\nname = \"v100\"\ngpus_per_node = 4\n[workload]\ntraces = [\"jobs.csv\"]\n")
	r := fails(t, failure.Partial, "1 requires GPU type a100, which its virtual cluster does not have, such as job 5; "+
		"1 more devices requested than its virtual cluster has of one type, such as job 6",
		"cluster", "run", "c.toml", "--out", "run", "--scheduler", "fair,fifo", "--quiet")
	containsAll(t, r.stdout, "on 20 GPUs in 2 virtual clusters", "Types of GPUs: 8 GPUs of a100, 12 GPUs of v100.")
	var got []string
	for _, row := range lines(t, "run/fifo/jobs.csv") {
		got = append(got, fmt.Sprint(row["job"], " ", row["start [s]"], "-", row["end [s]"], " ", row["gpu_type"], " ",
			row["nodes"]))
	}
	require.Equal(t, []string{"1 0-100 v100 [{0: [0, 1, 2, 3]}, {1: [0, 1, 2, 3]}]",
		"2 0-100 a100 [{0: [0, 1, 2, 3, 4, 5]}]", "3 100-200 a100 [{0: [0, 1, 2, 3, 4, 5]}]",
		"4 100-300 v100 [{1: [0, 1, 2, 3]}]"}, got)

	write(t, "sizes.csv", "partition,num,type,gpus_per_node\nshort,2,V100,4\nlong,1,V100,8\nlong,1,A100,8\n")
	fails(t, failure.Configuration, `nodes of type "V100" have 8 GPUs in virtual cluster "long" of sizes.csv, but 4 in`,
		"cluster", "run", "c.toml", "--vc-file", "sizes.csv", "--quiet")
	write(t, "more.csv", "partition,num,type\nshort,2,V100\n")
	fails(t, failure.Configuration, `more.csv has no nodes of type "a100"; remove the type, or correct its name`,
		"cluster", "run", "c.toml", "--vc-file", "more.csv", "--quiet")
	write(t, "plain.csv", "partition,num\nshort,2\nlong,2\n")
	fails(t, failure.Configuration, `plain.csv has no types of GPUs; add the column "type", or remove cluster.types`,
		"cluster", "run", "c.toml", "--vc-file", "plain.csv", "--quiet")
	write(t, "nodes.csv", "partition,num,type\nshort,2,h100\n")
	fails(t, failure.Configuration, `virtual cluster "short" in nodes.csv has nodes of type "h100"; add a section`,
		"config", "check", "c.toml")
}

// A trace without a job to replay is refused, even if it has jobs with durations.
func TestClusterNeedsJobsThatRan(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "id,submit [s],duration [s],gpus\n1,0,10,0\n")
	fails(t, failure.Configuration, "jobs.csv has no job that ran on GPUs and whose end is known; name another trace",
		"cluster", "run", "--trace", "jobs.csv", "--nodes", "1", "--load", "2", "--quiet")
}

// A check counts the jobs that simulations leave out. If no job is left, the check and the run refuse the file.
func TestClusterFilesThatLeaveOutJobs(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "id,submit [s],duration [s],gpus,vc\n1,0,10,1,a\n2,0,10,9,a\n3,0,10,1,b\n4,0,10,1,b\n")
	write(t, "vcs.csv", "vc,num\na,1\n")
	write(t, "c.toml", "[cluster]\nvc_file = \"vcs.csv\"\n[workload]\ntraces = [\"jobs.csv\"]\n")
	const left = "3 jobs: 1 larger than its virtual cluster, such as job 2; 2 unknown virtual cluster, such as job 3"
	require.Contains(t, done(t, "config", "check", "c.toml").stdout, "; simulations will leave out "+left)
	fails(t, failure.Partial, "could not simulate 3 jobs: ", "cluster", "run", "c.toml", "--quiet")
	write(t, "vcs.csv", "vc,num\nc,1\n")
	for _, command := range []string{"config check", "cluster run"} {
		fails(t, failure.Configuration, "no job can be simulated: 4 unknown virtual cluster, such as job 1; correct "+
			"the trace or the nodes", append(strings.Fields(command), "c.toml")...)
	}
}

// A check and a run give a wrong file of a cluster the same exit code, and messages name the key and the flag.
func TestExitCodesOfClusterFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "id,submit [s],duration [s],gpus\n1,0,10,1\n")
	write(t, "outages.csv", "node,from [s],to [s]\n99,0,1\n")
	write(t, "types.csv", "partition,num,type\nall,1,h100\n")
	for set, says := range map[string]string{
		"schedule.schedulers=[\"qssf\"]":                   "schedule.estimates",
		"schedule.schedulers=[\"lucid\"]":                  "schedule.estimates",
		"schedule.estimates=\"limits\"":                    "schedule.estimates",
		"failures.file=\"outages.csv\"":                    "node 99",
		"cluster.from_seconds=99":                          "jobs.csv has no jobs after second 99; change or remove",
		"cluster.to_seconds=-1":                            "to_seconds is -1",
		"cluster.types=[{name=\"a100\",nodes=1,speed=-1}]": "speed is -1",
	} {
		write(t, "c.toml", "[cluster]\nnodes = 1\n[workload]\ntraces = [\"jobs.csv\"]\n")
		for _, command := range []string{"config check", "cluster run"} {
			fails(t, failure.Configuration, says, append(strings.Fields(command), "c.toml", "--set", set)...)
		}
	}
	got := fails(t, failure.Failed, "set failures.file (--failures) to another file", "cluster", "run", "c.toml",
		"--failures", "none.csv")
	require.NotContains(t, got.stderr, "--help")
	fails(t, failure.Failed, "set cluster.vc_file (--vc-file) to another file", "cluster", "run", "c.toml", "--set",
		"cluster.nodes=0", "--vc-file", "none.csv")
}

// Flags and sections that would have no effect, or a wrong one, are refused.
func TestClusterRefusesCombinations(t *testing.T) {
	aCluster(t, 50)
	rigid := []string{"cluster", "run", "--trace", "jobs.csv", "--nodes", "8", "--quiet"}
	for says, more := range map[string][]string{
		"lucid does not enforce time limits in its profiler": {"--scheduler", "lucid", "--set",
			"cluster.enforce_limits=true"},
		"spot jobs and other jobs would not share links": {"--set", "cluster.spot.evict=true", "--set",
			`training.models=["x"]`, "--set", `training.networks=["ConvNet2"]`, "--set", "training.batches=[64]"},
		"training.models is missing, so the other keys": {"--set", "training.bandwidth=1e9"},
		"the section lucid has options for the scheduler lucid, which is not in schedule.schedulers": {"--set",
			"lucid.max_gpus=2"},
	} {
		require.Contains(t, fails(t, failure.Configuration, "", append(rigid, more...)...).stderr, says)
	}
	ablated := []string{"cluster", "run", "--trace", "jobs.csv", "--nodes", "8", "--quiet", "--out", "run", "--ablate"}
	require.Contains(t, done(t, append(ablated, "--scheduler", "fifo")...).stdout,
		"schedule.ablate has no effect: no scheduler of this run has faults of a published simulator.")
	require.NotContains(t, done(t, append(ablated, "--force", "--scheduler", "srtf")...).stdout, "has no effect")
	typed := []string{"cluster", "run", "--trace", "jobs.csv", "--quiet", "--out", "run", "--force", "--gpus-per-node",
		"4", "--set", `cluster.types=[{name="a", nodes=8, gpus_per_node=8}]`}
	require.Contains(t, done(t, typed...).stdout, "cluster.gpus_per_node has no effect: each type of nodes has its own")
	write(t, "adaptive.toml", "[adaptive]\nnodes = 2\n[workload]\ntraces = [\"jobs.csv\"]\n[schedule]\n"+
		"schedulers = [\"pollux\"]\n")
	fails(t, failure.Usage, "--failures does not apply to simulations of adaptive jobs", "cluster", "run",
		"adaptive.toml", "--failures", "outages.csv")
}

// Jobs of other partitions run in the virtual clusters that vc_aliases names.
func TestClusterRenamesPartitions(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "id,vc,submit [s],duration [s],gpus\n1,gpu,0,100,8\n2,debug,0,100,8\n")
	write(t, "nodes.csv", "partition,num\ngpu,1\n")
	args := strings.Fields("cluster run --trace jobs.csv --vc-file nodes.csv --scheduler fifo --quiet")
	without := fails(t, failure.Partial, "unknown virtual cluster", append(args, "--out", "without")...)
	require.Contains(t, without.stdout, "excluded: 1 job: unknown virtual cluster, such as job 2")
	done(t, append(args, "--out", "with", "--set", `cluster.vc_aliases=["debug=gpu"]`)...)
	require.Equal(t, "200", lines(t, "with/fifo/jobs.csv")[1]["end [s]"])
	for alias, says := range map[string]string{
		"debug=cpu": `vc_aliases has "debug=cpu", but the virtual clusters are gpu; expected another name and one of`,
		"gpu=gpu":   `vc_aliases has "gpu=gpu"`,
		"debgu=gpu": `vc_aliases has the name "debgu", but no job of the trace has it; correct or remove it`,
		"debug":     `vc_aliases[0] is "debug"; expected NAME=VC, such as "debug=gpu"`,
	} {
		fails(t, failure.Configuration, says, append(args, "--set", `cluster.vc_aliases=["`+alias+`"]`)...)
	}
	describe := strings.Fields("trace describe jobs.csv --vc-file nodes.csv --vc-alias")
	got := decoded[traces.Description](t, done(t, append(describe, "debug=gpu", "--json")...).stdout)
	require.Len(t, got.VCs, 1)
	for _, f := range got.Findings {
		require.False(t, f.Refused, f)
	}
	for alias, says := range map[string]string{
		"debug=cpu": `--vc-alias has "debug=cpu", but the virtual clusters are gpu`,
		"debgu=gpu": `--vc-alias has the name "debgu", but no job of the trace has it; correct or remove it`,
	} {
		fails(t, failure.Usage, says, append(describe, alias)...)
	}
}
