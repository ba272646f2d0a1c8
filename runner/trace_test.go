package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/traces"
)

const fewJobs = "job_id,user,vc,jobname,gpu_num,cpu_num,state,submit_time,duration,dataset,model,batchsize,amp\n" +
	"7,ann,red,train,2,8,COMPLETED,2021-03-04 12:00:10,60,Pictures,Net,32,1\n" +
	"8,bob,blue,\"te\x1bst\",0,4,TIMEOUT,2021-03-04 12:00:05,5,,,,\n" +
	"9,ann,red,,16,64,NODE_FAIL,2021-03-05 00:00:00,7200,Pictures,Net,64,0\n" +
	"9,eve,red,,3,3,FAILED,2021-03-06 00:00:00,0,Pictures,Net,64,0\n"

// accounting has a job that a node failure and a preemption restarted, a heterogeneous job, and a spot job.
const accounting = "JobID|User|Partition|QOS|Submit|Start|End|ElapsedRaw|AllocTRES|ReqTRES|State|NodeList\n" +
	"1|ann|gpu|normal|2026-05-01T00:00:00|2026-05-01T00:10:00|2026-05-01T01:10:00|3600|cpu=8,gres/gpu:a100=4," +
	"gres/gpu=4|cpu=8,gres/gpu=4|NODE_FAIL|n1\n" +
	"1|ann|gpu|normal|2026-05-01T01:10:00|2026-05-01T01:20:00|2026-05-01T02:20:00|3600|cpu=8,gres/gpu:a100=4," +
	"gres/gpu=4|cpu=8,gres/gpu=4|PREEMPTED|n2\n" +
	"1|ann|gpu|normal|2026-05-01T02:20:00|2026-05-01T02:20:00|2026-05-01T04:20:00|7200|cpu=8,gres/gpu:a100=4," +
	"gres/gpu=4|cpu=8,gres/gpu=4|COMPLETED|n3\n" +
	"2+0|bob|gpu|normal|2026-05-01T00:30:00|2026-05-01T00:31:00|2026-05-01T01:31:00|3600|cpu=1|cpu=1|FAILED|n1\n" +
	"2+1|bob|gpu|normal|2026-05-01T00:30:00|2026-05-01T00:31:00|2026-05-01T01:31:00|3600|cpu=8,gres/gpu:h100=2," +
	"gres/gpu=2|cpu=8,gres/gpu:h100=2,gres/gpu=2|FAILED|n4\n" +
	"3|eve|gpu|scavenger|2026-05-01T01:00:00|2026-05-01T01:00:00|2026-05-01T01:00:30|30|cpu=1,gres/gpu=1|" +
	"cpu=1,gres/gpu=1|NODE_FAIL|n1\n" +
	"4|eve|gpu|normal|2026-05-01T01:00:00|Unknown|Unknown|0||cpu=1,gres/gpu=1|PENDING|None assigned\n"

// troubled has a runaway job, a job with three starts in one row, jobs that never started, and more GPUs in use than
// the cluster has.
const troubled = "JobID|Partition|Submit|Start|End|ElapsedRaw|AllocTRES|ReqTRES|State|Timelimit|NodeList|Restarts\n" +
	"1|gpu|2026-05-01T00:00:00|2026-05-01T00:00:00|Unknown|86400|gres/gpu=8|gres/gpu=8|RUNNING|02:00:00|n1|0\n" +
	"2|gpu|2026-05-01T00:00:00|2026-05-01T00:00:00|2026-05-01T01:00:00|3600|gres/gpu=8|gres/gpu=8|COMPLETED|" +
	"02:00:00|n1|2\n" +
	"3|gpu|2026-05-01T00:00:00|2026-05-01T00:30:00|2026-05-01T01:30:00|3600|gres/gpu=2|gres/gpu=2|COMPLETED|" +
	"02:00:00|n2|0\n" +
	"4|gpu|2026-05-01T00:00:00|2026-05-01T09:00:00|Unknown|0||gres/gpu=1|PENDING|02:00:00|None assigned|0\n" +
	"5|gpu|2026-05-01T00:10:00|2026-05-01T08:00:00|2026-05-01T08:00:00|0||gres/gpu=1|CANCELLED by 7|02:00:00|" +
	"None assigned|0\n"

// writeTraces changes to a new folder with traces.
func writeTraces(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"few.csv": fewJobs, "half.csv": fewJobs + "10,eve,red,,three,3,FAILED,2021-03-07 00:00:00,0,,,,\n",
		"nodes.csv": ",num\nred,1\nblue,2\ngreen,1\n",
		"none.swf":  "; MaxProcs: 12\n",
		"pods.csv":  "name,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\npod,1,500,0,20,10\n",
		"tasks.csv": "j1,worker,2.0,Terminated,10.0,15.0,600.0,29.3,50.0,T4\n" +
			"j2,worker,1.0,Waiting,,,600.0,29.3,50.0,T4\n",
		"jobs.csv":  "j1,i1,ann,Terminated,5.0,15.0\n",
		"slurm.csv": accounting, "troubled.csv": troubled,
	} {
		write(t, name, text)
	}
}

func TestTraceScreensAreTheGoldenOnes(t *testing.T) {
	writeTraces(t)
	goldenScreens(t, "trace", "trace describe", "", map[string]goldenCall{
		"few.txt":      {"few.csv", failure.Done},
		"nodes.txt":    {"few.csv --vc-file nodes.csv --gpus-per-node 4", failure.Done},
		"nodes.json":   {"few.csv --vc-file nodes.csv --gpus-per-node 4 --json", failure.Done},
		"half.txt":     {"half.csv", failure.Partial},
		"window.txt":   {"few.csv --window 43210..", failure.Done},
		"empty.txt":    {"none.swf", failure.Done},
		"pods.txt":     {"pods.csv", failure.Done},
		"tasks.txt":    {"tasks.csv --job-table jobs.csv", failure.Done},
		"slurm.txt":    {"slurm.csv --gpus 16 --spot scavenger", failure.Done},
		"troubled.txt": {"troubled.csv --gpus 8", failure.Done},
		"slurm.json":   {"slurm.csv --gpus 16 --adapt-hours 0.5 --adapt-gpus 1 --json", failure.Done},
	})
}

func TestTraceConvertGoesThereAndBack(t *testing.T) {
	writeTraces(t)
	require.Equal(t, outcome{stdout: "wrote ours.csv.gz: 4 jobs (helios to graft), second 0 is 2021-03-04 00:00:00\n"},
		graft("trace", "convert", "few.csv", "ours.csv.gz", "--to", "graft"))
	require.Equal(t, outcome{stdout: "wrote back.csv: 4 jobs (graft to helios), second 0 is 2021-03-04 00:00:00\n"},
		graft("trace", "convert", "ours.csv.gz", "back.csv", "--to", "helios"))
	first, err := trace.ReadAll(files.OS{}, "few.csv", trace.Options{})
	require.NoError(t, err)
	for _, name := range []string{"ours.csv.gz", "back.csv"} {
		again, err := trace.ReadAll(files.OS{}, name, trace.Options{})
		require.NoError(t, err)
		require.Equal(t, first.Jobs, again.Jobs, name)
	}
	require.Equal(t, outcome{stdout: "wrote day.swf: 1 job (graft to swf), second 0 is 2021-03-04 00:00:00\n"},
		graft("trace", "convert", "ours.csv.gz", "day.swf", "--to", "swf", "--from", "graft", "--window",
			"80000..86400"))
	text := contents(t, "day.swf")
	require.Equal(t, "; Version: 2.2\n; UnixStartTime: 1614816000\n; Note: a processor is a GPU\n"+
		"9 86400 -1 7200 16 -1 -1 16 -1 -1 0 1 -1 -1 -1 1 -1 -1\n", text)
	require.Equal(t, outcome{stdout: "wrote pods.swf: 1 job (alibaba2023 to swf); 1 job with a share of a GPU, " +
		"which that format cannot express\n"}, graft("trace", "convert", "pods.csv", "pods.swf", "--to", "swf"))
	report := decoded[traces.Description](t, done(t, "trace", "describe", "day.swf", "--processors", "cpus",
		"--json").stdout)
	require.Equal(t, 0, report.Sizes[0].GPUs)
}

func TestTraceFilesAreReplacedOnlyWithForce(t *testing.T) {
	writeTraces(t)
	for _, args := range [][]string{
		{"convert", "few.csv", "nodes.csv", "--to", "graft"},
		{"convert", "few.csv", "few.csv", "--to", "graft", "--force"}, {"generate", "few.csv", "--jobs", "5"},
		{"generate", "new.csv", "--vc-file-out", "few.csv"}, {"generate", "new.csv", "--vc-file-out", "new.csv"},
	} {
		fails(t, failure.Usage, "", append([]string{"trace"}, args...)...)
	}
	text := contents(t, "few.csv")
	require.Equal(t, fewJobs, text)
	require.NoFileExists(t, "new.csv")
	require.Equal(t, failure.Done, graft("trace", "convert", "few.csv", "nodes.csv", "--to", "graft", "--force").code)
	require.Equal(t, failure.Done, graft("trace", "generate", "few.csv", "--jobs", "5", "--force").code)
}

func TestTraceGenerate(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"trace", "generate", "a.csv", "--jobs", "2000", "--days", "7", "--nodes", "20", "--vcs", "3",
		"--load", "0.7", "--seed", "9", "--arrivals", "poisson", "--vc-file-out", "nodes.csv"}
	require.Equal(t, outcome{stdout: "wrote a.csv: 2000 jobs (graft) for 20 nodes in 3 virtual clusters, " +
		"second 0 is 2020-09-01 00:00:00\n"}, graft(args...))
	args[2], args[len(args)-1] = "b.csv", "nodes2.csv"
	require.Equal(t, failure.Done, graft(args...).code)
	for _, pair := range [][2]string{{"a.csv", "b.csv"}, {"nodes.csv", "nodes2.csv"}} {
		require.Equal(t, contents(t, pair[0]), contents(t, pair[1]), "equal flags, equal bytes")
	}
	report := decoded[traces.Description](t, done(t, "trace", "describe", "a.csv", "--vc-file", "nodes.csv",
		"--json").stdout)
	require.Equal(t, []any{2000, 160, 3}, []any{report.Jobs, report.GPUs, len(report.VCs)})
	require.InDelta(t, 0.7, *report.Load, 0.35, "chance moves the few long jobs")
	for _, f := range report.Findings {
		require.False(t, f.Refused, f)
	}
}

func TestTraceIsCalledWrongly(t *testing.T) {
	writeTraces(t)
	for args, want := range map[string]string{
		"describe few.csv --window 5":                      "--window 5: expected whole seconds as A..B",
		"describe few.csv --window 5..x":                   "--window 5..x",
		"describe few.csv --window 5..4":                   "expected an end at or after its start",
		"describe few.csv --processors x":                  "--processors x: expected gpus or cpus",
		"describe few.csv --from x":                        `unknown trace format "x"`,
		"describe few.csv --gpus -1":                       "the cluster has -1 GPUs; expected 0",
		"describe few.csv --gpus 8 --vc-file nodes.csv":    "exclude each other",
		"describe few.csv --spot scav":                     "--spot applies to traces in the format slurm, but",
		"describe few.csv --adapt-gpus 0 --adapt-hours -1": "could have adapted is -1 hours; expected more than 0",
		"describe few.csv --gpus-per-node 0":               "the number of GPUs per node is 0; expected",
		"convert few.csv out.csv":                          `"to"`,
		"convert few.csv out.csv --to philly":              `--to is "philly"; expected one of: graft, helios, swf`,
		"generate out.csv --arrivals x":                    "--arrivals x: expected diurnal or poisson",
		"generate out.csv --jobs -1 --load -2":             "the number of jobs is -1; expected 1",
		"generate out.csv --to philly":                     `--to is "philly"`,
		"generate out.csv --nodes 2 --vcs 3":               "3 virtual clusters, but only 2 nodes",
	} {
		fails(t, failure.Usage, want, append([]string{"trace"}, strings.Fields(args)...)...)
	}
}
