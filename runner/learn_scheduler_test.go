package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
	"graft/internal/failure"
	"graft/report/runs"
	"graft/results"
	"graft/runner/learn"
)

// schedulerFile writes the file of a scheduler that learns on small workloads.
func schedulerFile(t *testing.T, more string) string {
	t.Helper()
	return jobFile(t, "[elastic]\nspeeds = \"analytic\"\nnodes = 4\nscaling = \"none\"\nmax_workers = 4\n[workloads]\n"+
		"jobs = 6\nmax_arrivals = 2\nepochs = 1500\ntrain_count = 4\nvalidation_count = 2\ntest_count = 5\n"+
		"[schedule]\n"+
		"schedulers = [\"drf\", \"srtf\"]\n"+more)
}

// A learned scheduler is compared on other workloads, and runs in any simulation.
func TestASchedulerIsLearnedAndCompared(t *testing.T) {
	path, folder := schedulerFile(t, "[learn]\nimitation_workloads = 12\nrounds = 2\nrollout = 128\n"+
		"envs = 2\nteacher = \"peak\"\nimitation_lr = 0.003\n[run]\nseeds = 2\ntensorboard = true\n"),
		filepath.Join(t.TempDir(), "learned")
	require.Contains(t, done(t, "config", "check", path).stdout, "2 schedulers learn from peak in 12 "+
		"lessons of one workload, then at most 2 rounds of ppo on 4 workloads, with 2 of validation and 5 of test")
	var r learn.SchedulerResult
	require.NoError(t, json.Unmarshal([]byte(done(t, "learn", path, "--folder", folder, "--json").stdout), &r))
	require.Len(t, r.Outcome.Seeds, 2)
	require.Equal(t, filepath.Join(folder, study.LearnedFile), r.Scheduler)
	best := r.Outcome.Seeds[r.Outcome.Best-1]
	require.Equal(t, contents(t, filepath.Join(folder, best.Scheduler)), contents(t, r.Scheduler))
	for _, s := range r.Outcome.Seeds {
		require.GreaterOrEqual(t, s.JCT, best.JCT)
		require.Equal(t, 14, s.Steps)
	}
	require.GreaterOrEqual(t, best.JCT, r.Outcome.Bound)
	require.Regexp(t, `(?s)validation jct .*SEED +STEPS +MEAN JCT .*learned, mean of seeds .*drf `,
		done(t, "report", folder).stdout)

	out := filepath.Join(t.TempDir(), "compared")
	text := done(t, "evaluate", path, "--policy", folder, "--against", "drf", "--out", out).stdout
	require.Regexp(t, `(?s)SCHEDULER +RANK +SEEDS +MEAN JCT .*\nlearned +1 +2 .*on 5 workloads. `+
		`No scheduler can have a mean below the lower bound.*DIFFERENCE is relative to drf.*results in `, text)
	var c runs.ElasticComparison
	require.NoError(t, json.Unmarshal([]byte(contents(t, filepath.Join(out, runs.OutcomeFile))), &c))
	require.Len(t, c.Standings, 3)
	for _, s := range c.Standings {
		require.Len(t, s.Times, 5)
		for k, row := range s.Times {
			require.GreaterOrEqual(t, row[0], c.Bounds[k])
		}
	}
	require.Contains(t, done(t, "report", out).stdout, "learned jct")
	fails(t, failure.Usage, "the folder contains a comparison of schedulers", "learn", path, "--folder", out,
		"--resume")

	trace := filepath.Join(t.TempDir(), "trace.json")
	write(t, trace, `{"overrides": {"REAL_SPEED_TRACE": false, "LARGE_SCALE": false, "CLUSTER_NUM_NODES": 4}, `+
		`"jobs": [{"id": 1, "type": 1, "arrv_time": 0, "num_epochs": 40, "real_num_epochs": 40}]}`)
	require.Regexp(t, `\nlearned, seed 1 +[0-9.]+ `, done(t, "cluster", "run", "--trace", trace, "--speeds", "analytic",
		"--scheduler", "drf,"+folder, "--out", filepath.Join(t.TempDir(), "run")).stdout)
	require.Regexp(t, `\nseed-0002 +[0-9.]+ `, done(t, "cluster", "run", "--trace", trace, "--speeds",
		"analytic", "--scheduler", "drf,"+filepath.Join(folder, "schedulers/seed-0002.safetensors"), "--out",
		filepath.Join(t.TempDir(), "run")).stdout)
}

func TestWhatSchedulersCannotLearn(t *testing.T) {
	path := schedulerFile(t, "[learn]\nimitation_workloads = 1\nmethod = \"none\"\n")
	refused := func(says string, args ...string) {
		t.Helper()
		fails(t, failure.Configuration, says,
			append([]string{"learn", path, "--folder", filepath.Join(t.TempDir(), "run")}, args...)...)
	}
	refused(`teacher: unknown scheduler "sjf"`, "--set", `learn.teacher="sjf"`)
	refused("nothing would be learned", "--set", `learn.teacher="none"`)
	refused("workloads.arrivals is trace, which requires a trace; add one to workload.traces", "--set",
		`workloads.arrivals="trace"`)
	refused("can never run", "--set", "elastic.gpus_per_node=2")
	refused("pattern has 0 slots; set pattern only with arrivals =", "--set", `workloads.arrivals="pattern"`)
	refused("pattern has 2 slots; set pattern only with arrivals =", "--set", "workloads.pattern=[0, 1]")
	refused("pattern has no jobs", "--set", `workloads.arrivals="pattern"`, "--set", "workloads.pattern=[0, 0]")
	refused("must not contain negative numbers", "--set", `workloads.arrivals="pattern"`, "--set",
		"workloads.pattern=[2, -1]")
	refused("speed_error is 1; must be at least 0 and less than 1", "--set", "elastic.speed_error=1")
	refused("no such file", "--set", `workloads.train=["none.json"]`)
	trace, _ := elasticFiles(t)
	refused("is also a training or validation trace", "--set", fmt.Sprintf("workloads.train=[%q]", trace), "--set",
		fmt.Sprintf("workloads.test=[%[1]q]", trace))
	fails(t, failure.Failed, "no scheduler completes the jobs of workload 0 within 1 slots; raise "+
		"learn.max_slots, or set learn.teacher",
		"learn", path, "--folder", filepath.Join(t.TempDir(), "run"), "--set", "learn.max_slots=1")

	fails(t, failure.Usage, "--table: valid only for policies on tables", "evaluate", path, "--table", "x")
	fails(t, failure.Usage, "--against is sjf; expected one of: drf, srtf", "evaluate", path, "--against", "sjf")
	fails(t, failure.Damaged, "expected the run folder of a completed 'graft learn'", "evaluate", path,
		"--policy", t.TempDir())
	network := filepath.Join(t.TempDir(), "net.safetensors")
	write(t, network, "garbage")
	fails(t, failure.Damaged, "net.safetensors", "evaluate", path, "--policy", network)
	fails(t, failure.Usage, "--set requires FILE, a file that trains schedulers", "evaluate", "--set", "a=1",
		"--policy", "x", "--table", "y")
}

// Resuming with other workloads is refused, and resuming a completed run only reads it.
func TestSchedulersResume(t *testing.T) {
	path, folder := schedulerFile(t, "[learn]\nimitation_workloads = 3\nmethod = \"none\"\n[run]\nseeds = 1\n"),
		filepath.Join(t.TempDir(), "run")
	done(t, "learn", path, "--folder", folder)
	was := learnt(t, folder)
	fails(t, failure.Configuration, "workloads.jobs was 6 and is now 7", "learn", path, "--folder", folder, "--resume",
		"--set", "workloads.jobs=7")
	done(t, "learn", path, "--folder", folder, "--resume", "--set", `schedule.schedulers=["fifo"]`)
	require.Equal(t, was, learnt(t, folder))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "learners", "seed-1.safetensors"), []byte("x"), 0o600))
	fails(t, failure.Failed, "delete the file to restart this seed", "learn", path, "--folder", folder, "--resume")
}

// DL2 learns as published, and its policy is compared like any other scheduler.
func TestDL2IsLearnedAndCompared(t *testing.T) {
	path, folder := jobFile(t, `[elastic]
speeds = "analytic"
compat = "dl2"
nodes = 4
max_workers = 4
[workloads]
jobs = 6
max_arrivals = 2
epochs = 1500
validation_count = 2
test_count = 3
[dl2]
supervised = {steps = 8, batch = 16}
reinforced = {steps = 4, batch = 16}
replay = {capacity = 32}
validation = {every = 4}
[schedule]
schedulers = ["drf", "optimus"]
[run]
seeds = 2
every = 4
`), filepath.Join(t.TempDir(), "dl2")
	require.Contains(t, done(t, "config", "check", path).stdout, "2 schedulers learn from drf in 8 updates as DL2, "+
		"then in 4 by reinforcement, on 100 workloads, with 2 of validation and 3 of test; scaling none")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ends(t, call(ctx, newRootCommand(), "learn", path, "--folder", folder), failure.Requeue, "rerun the command with "+
		"--resume")
	require.Regexp(t, `all 8 imitation updates and 4 reinforcement learning updates are complete`,
		done(t, "learn", path, "--folder", folder, "--resume").stdout)
	require.Regexp(t, `(?s)^seed,step,imitated,reinforced,imitation_loss,.*\n2,12,8.0,4.0,`,
		contents(t, filepath.Join(folder, "learning.csv")))
	require.Regexp(t, `\ndl2 +\d +2 +[0-9.]+ `, done(t, "evaluate", path, "--policy", folder).stdout)
	fails(t, failure.Configuration, "learn.rounds is not used if elastic.compat is dl2", "learn", path, "--set",
		"learn.rounds=3")
	fails(t, failure.Configuration, "dl2.agents is not used if elastic.compat is none", "config", "check",
		schedulerFile(t, "[dl2]\nagents = 2\n"))
	fails(t, failure.Configuration, "workloads.train is set; with compat dl2 each agent generates its workloads",
		"learn", path, "--set", `workloads.train=["x.json"]`)
}

// Learning that is killed at random moments ends with the same bytes.
func TestKilledLearningEndsTheSame(t *testing.T) {
	longOnly(t, "kills of a scheduler that learns; a policy that learns is killed")
	path := schedulerFile(t, "[run]\nseeds = 2\ncheckpoint_every = \"20ms\"\n[learn]\nimitation_workloads = 40\n"+
		"rounds = 60\n"+
		"rollout = 64\nhidden = 8\nenvs = 2\npatience = 100\n")
	whole, killed := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "killed")
	done(t, "learn", path, "--folder", whole)
	random, kills, most := rand.New(rand.NewPCG(6, 6)), 0, 3
	if longTests {
		most = 60
	}
	for ended := false; !ended; {
		args := []string{"learn", path, "--folder", killed, "--force"}
		if _, err := os.Stat(filepath.Join(killed, results.ManifestFile)); err == nil {
			args[len(args)-1] = "--resume"
		}
		p, out := process(t, args...)
		left := make(chan error, 1)
		go func() { left <- p.Wait() }()
		moment := time.Duration(random.Int64N(int64(600 * time.Millisecond)))
		if kills >= most {
			moment = time.Hour
		}
		select {
		case err := <-left:
			require.NoError(t, err, out)
			if ended = kills >= most; !ended { // too fast to kill: restart
				require.Equal(t, learnt(t, whole), learnt(t, killed))
				require.NoError(t, os.RemoveAll(killed))
			}
		case <-time.After(moment):
			require.NoError(t, p.Process.Signal(syscall.SIGKILL))
			<-left
			kills++
		}
	}
	require.Equal(t, learnt(t, whole), learnt(t, killed))
	t.Logf("measured: schedulers have the same bits after %d kills", kills)
}
