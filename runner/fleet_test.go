package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	yaml3 "github.com/stretchr/testify/assert/yaml"
	"github.com/stretchr/testify/require"

	"graft/fleet"
	"graft/fleet/fleettest"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/simulate"
	"graft/runner/sweep"
	"graft/runner/workers"
	"graft/torch"
)

// withoutLibTorch makes LibTorch unavailable, since commands that watch a simulation must not open it.
func withoutLibTorch(t *testing.T) {
	t.Setenv(torch.LibraryVariable, filepath.Join(t.TempDir(), "none.so"))
}

// Commands show a local simulation and follow its logs, another process cancels its workers, and it continues.
func TestFleetOfThisMachine(t *testing.T) {
	t.Setenv(leaseVariable, "1000h") // only the lock of a killed worker tells that it is dead
	folder, path := newScenario(t, endlessScenario)
	g := gridRun{t, filepath.Join(folder, "runs", "late")}
	p, out := process(t, "simulate", path, "--folder", g.run, "--workers", "2")
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(g.run, "fleet.json"))
		return err == nil
	}, patience, time.Millisecond)
	withoutLibTorch(t)
	r := g.await("a leg is done", func(r simulate.Status) bool { return r.State.Done > 0 && len(r.Legs) > 0 })
	require.Equal(t, "local", r.Engine)
	require.Len(t, r.Workers, 2)
	require.Equal(t, fleet.Running, r.Workers[1].State)
	require.Equal(t, r.State.Sequences, r.Left+r.State.Ended)
	fails(t, failure.Failed, "supervise batch", "fleet", "attach", g.run) // its coordinator lives

	_, leg := g.killHolder()
	t.Logf("measured: another worker took over the leg of a killed one after %.1f s", g.mustTakeOver(leg).Seconds())
	g.await("it was started again", func(r simulate.Status) bool {
		return r.Workers[0].State == fleet.Running && r.Workers[1].State == fleet.Running
	})

	followed, said := process(t, "fleet", "logs", g.run, "--follow")
	cancelled := done(t, "fleet", "cancel", g.run)
	require.Contains(t, cancelled.stdout, "2 workers of local ended; completed work is kept")
	require.Equal(t, failure.Requeue, left(t, p), out)
	require.Contains(t, out.String(),
		"the batch was cancelled; completed work is kept in")
	require.Equal(t, failure.Done, left(t, followed), said)
	require.Regexp(t, `(?m)^[01]: \{"level":"info"`, said.String())
	one := done(t, "fleet", "logs", g.run, "--worker", "1")
	log := contents(t, fleet.LogPath(g.run, 1))
	require.Equal(t, log, one.stdout)
	shown := done(t, "fleet", "status", g.run)
	require.Contains(t, shown.stdout, " of local, which was cancelled")
	require.Regexp(t, `(?m)^worker  state +host +detail +log$`, shown.stdout)

	fails(t, failure.Requeue, "", "fleet", "attach", g.run, "--json")
	t.Setenv(torch.LibraryVariable, "")
	done := g.status().State.Done
	p, out = process(t, "simulate", path, "--folder", g.run, "--workers", "2")
	g.await("it goes on", func(r simulate.Status) bool { return r.State.Done > done && !r.Cancelled })
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Equal(t, failure.Requeue, left(t, p), out)
}

// The local workers of a killed coordinator die with it. Attaching restarts them, and ^C ends them with their work
// saved.
func TestFleetIsAttachedAfterAKill(t *testing.T) {
	folder, path := newScenario(t, endlessScenario)
	g := gridRun{t, filepath.Join(folder, "runs", "late")}
	begin := func(done int, args ...string) func(syscall.Signal) error {
		p, out := process(t, args...)
		require.Eventually(t, func() bool {
			now, _ := filepath.Glob(filepath.Join(folder, "runs", "cache", "outcomes", "*", "*.json"))
			return len(now) >= done
		}, patience, time.Millisecond, out)
		return func(s syscall.Signal) error { return errors.Join(p.Process.Signal(s), p.Wait()) }
	}
	kill := begin(3, "simulate", path, "--folder", g.run, "--workers", "2")
	require.ErrorContains(t, kill(syscall.SIGKILL), "killed")
	alive := func(leg simulate.RunningLeg) bool { return !leg.Dead }
	r := g.await("its workers have died with it", func(r simulate.Status) bool {
		return r.Workers[0].State == fleet.Unknown && r.Workers[1].State == fleet.Unknown &&
			!slices.ContainsFunc(r.Legs, alive)
	})
	interrupt := begin(r.State.Done+1, "fleet", "attach", g.run)
	for _, leg := range r.Legs { // in the order of the sequences, so the last may wait for others
		g.mustTakeOver(leg)
	}
	require.ErrorContains(t, interrupt(syscall.SIGINT), "exit status 75")
	require.Empty(t, g.status().Legs, "what they had was given back")
}

// The workers of trials can be shown, cancelled and restarted like a simulation's.
func TestFleetOfTrials(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	p, out := process(t, brief(run, "--seeds", "3", "--set", "fleet.workers=2", "--set", "time.budget=2h")...)
	status := func() (r sweep.Status) {
		require.NoError(t, json.Unmarshal([]byte(done(t, "fleet", "status", run, "--json").stdout), &r))
		return r
	}
	await := func(what string, so func(sweep.Status) bool) {
		t.Helper()
		require.Eventually(t, func() bool { return workers.IsSweep(&app.Env{Files: files.OS{}}, run) && so(status()) },
			patience, 20*time.Millisecond, what)
	}
	await("two trials run", func(r sweep.Status) bool { return len(r.Running) == 2 && len(r.Workers) == 2 })
	require.Regexp(t, `(?s)^0 of 3 trials ended, 0 failed, 3 left\n\nunder way +seed +by\nas given +[12] .*worker  `+
		`state +host +detail +log`, done(t, "fleet", "status", run).stdout)
	require.Contains(t, done(t, "fleet", "cancel", run).stdout,
		"2 workers of local ended; completed work is kept, and the same command with --resume continues from it")
	require.Equal(t, failure.Requeue, left(t, p), out)
	require.Contains(t, done(t, "fleet", "logs", run, "--worker", "1").stdout, "started trial")
	fails(t, failure.Requeue, "the batch was cancelled", "fleet", "attach", run)

	write(t, filepath.Join(run, runs.FailuresFolder, "as-given_seed1.json"), `{"why": "it is a test"}`)
	failed := status()
	require.Equal(t, []runs.FailedTrial{{Case: "as given", Seed: 1, Why: "it is a test"}}, failed.Failed)
	require.Equal(t, 2, failed.Left)
	require.Contains(t, done(t, "fleet", "status", run).stdout, "as given, seed 1, failed: it is a test")
}

// The workers of a killed supervisor of trials die with it. Attaching restarts them and collects the outcome.
func TestTrialsAreAttachedAfterAKill(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	p, _ := process(t, brief(run, "--seeds", "2", "--set", "fleet.workers=2")...)
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(run, "fleet.json"))
		return err == nil
	}, patience, time.Millisecond)
	require.NoError(t, p.Process.Kill())
	_ = p.Wait()
	require.Contains(t, done(t, "fleet", "attach", run).stdout, "results in "+run)
	require.Contains(t, done(t, "fleet", "status", run).stdout, "2 of 2 trials ended, 0 failed, 0 left")
	require.Contains(t, done(t, "fleet", "attach", run).stdout, "results in "+run, "nothing is left")
}

// Errors of fleet commands state a remedy.
func TestFleetFaults(t *testing.T) {
	folder, path := newScenario(t, scenarioFile)
	run := filepath.Join(folder, "runs", "late")
	for _, command := range []string{"status", "logs", "attach", "cancel", "manifest"} {
		fails(t, failure.Failed, "expected a run folder of 'graft simulate'", "fleet", command, folder)
	}
	fails(t, failure.Configuration, "fleet.devices", "simulate", path, "--folder", run, "--engine", "slurm", "--set",
		`fleet.devices=["cuda:0"]`)
	long := filepath.Join(folder, "a\nb")
	require.Equal(t, failure.Configuration, graft("simulate", path, "--folder", long).code)
	require.NoDirExists(t, run)
	require.NoDirExists(t, long)

	search := os.Getenv("PATH")
	t.Setenv("PATH", folder)
	fails(t, failure.Failed, "run this on a machine with Slurm's programs, such as a login node, or use the local "+
		"engine", "simulate", path, "--folder", run, "--engine", "slurm")
	status := fails(t, failure.Partial, "", "fleet", "status", run)
	require.Contains(t, status.stdout, "0 of 9 runs ended, 0 failed, 9 left; 0 of 13 legs")
	require.Contains(t, status.stderr, "with Slurm's programs")
	fails(t, failure.Failed, "with Slurm's programs", "fleet", "attach", run)
	require.Equal(t, failure.Usage, graft("fleet", "attach", run, "--every", "-1s").code)
	t.Setenv("PATH", search)

	leases := filepath.Join(folder, "runs", "cache", runs.LeasesFolder)
	require.NoError(t, os.WriteFile(leases, nil, 0o644))
	o := fails(t, failure.Failed, "worker 0: graft: open leases in "+leases, "simulate", path, "--folder", run,
		"--workers", "1")
	require.Contains(t, o.stderr, "set simulate.cache to a writable folder")
	require.Equal(t, failure.Usage, graft("fleet", "logs", run, "--worker", "1").code)
	require.NoError(t, os.Remove(leases))
	require.Contains(t, simulated(t, path, "--folder", run), "9 of 9 runs ended", "here, when nobody lives there")
	withoutLibTorch(t)
	require.Contains(t, graft("fleet", "attach", run).stdout, "9 of 9 runs ended")
}

// A manifest refers to its run folder and names what pods need.
func TestFleetManifest(t *testing.T) {
	folder, path := newScenario(t, scenarioFile)
	run := filepath.Join(folder, "runs", "late")
	fails(t, failure.Configuration, "fleet.image: image is missing", "fleet", "manifest", path, "--folder", run)
	image := []string{"--set", "fleet.image=graft:1", "--set", "fleet.claim=shared", "--set", "fleet.workers=3",
		"--set", "fleet.threads=2"}
	fails(t, failure.Configuration, "set fleet.mount or simulate.cache",
		append([]string{"fleet", "manifest", path, "--folder", run, "--set", `simulate.cache="/elsewhere"`},
			image...)...)
	require.NoDirExists(t, run)

	o := done(t, append([]string{"fleet", "manifest", path, "--folder", run}, image...)...)
	var job struct {
		Spec struct {
			Completions int `yaml:"completions"`
			Template    struct {
				Spec struct {
					Containers []struct {
						Command []string            `yaml:"command"`
						Mounts  []map[string]string `yaml:"volumeMounts"`
					} `yaml:"containers"`
				} `yaml:"spec"`
			} `yaml:"template"`
		} `yaml:"spec"`
	}
	require.NoError(t, yaml3.Unmarshal([]byte(o.stdout), &job))
	require.Equal(t, 3, job.Spec.Completions)
	pod := job.Spec.Template.Spec.Containers[0]
	require.Equal(t, []string{"graft", "work", run, "--threads", "2"}, pod.Command)
	require.Equal(t, filepath.Dir(run), pod.Mounts[0]["mountPath"], "with the cache")
	again := graft("fleet", "manifest", run)
	require.Equal(t, o.stdout, again.stdout, again.stderr)
	fails(t, failure.Configuration, "train.batch was 40 and is now 20", "fleet", "manifest", run, "--set",
		"train.batch=20")

	require.Contains(t, graft("fleet", "status", run).stdout,
		"0 of 9 runs ended, 0 failed, 9 left; 0 of 13 legs\n\nno workers were started from this folder")
	for _, command := range []string{"logs", "cancel"} {
		require.Contains(t, graft("fleet", command, run).stderr, "no workers were started from this folder")
	}
	watching, out := process(t, "fleet", "attach", run, "--every", "50ms")
	pods, said := process(t, "work", run, "--threads", "1")
	require.Equal(t, failure.Done, left(t, pods), said)
	require.Equal(t, failure.Done, left(t, watching), out)
	require.Contains(t, out.String(), "9 of 9 runs ended")
}

// largeScenario has 64 sequences of 85 legs.
var largeScenario = strings.NewReplacer(`"460ms"`, `"560ms"`, "max_decisions = 2", "max_decisions = 3",
	`"deepen:conv2",`, `"deepen:conv2", "deepen:conv3",`).Replace(scenarioFile)

// endlessScenario repeats these sequences so often that no simulation ends while a test watches it.
var endlessScenario = strings.Replace(largeScenario, "[simulate]", "[simulate]\nseeds = 10", 1)

// gridRun is a simulation that a test watches.
type gridRun struct {
	*testing.T
	run string // run folder
}

// status returns the decoded output of `graft fleet status --json`.
func (g gridRun) status() (r simulate.Status) {
	g.Helper()
	o := graft("fleet", "status", g.run, "--json")
	require.Equal(g, failure.Done, o.code, o.stderr)
	require.NoError(g, json.Unmarshal([]byte(o.stdout), &r))
	return r
}

// await waits until the status satisfies a condition.
func (g gridRun) await(what string, so func(simulate.Status) bool) (r simulate.Status) {
	g.Helper()
	require.Eventually(g, func() bool {
		r = g.status()
		return so(r)
	}, patience, 20*time.Millisecond, what)
	return r
}

// killHolder kills a worker that holds a leg, and returns the worker and the leg. It stops the worker first, so the
// worker still holds the leg.
func (g gridRun) killHolder() (worker int, leg simulate.RunningLeg) {
	g.Helper()
	for range 1000 {
		r := g.await("a worker has a leg", func(r simulate.Status) bool { return len(r.Legs) > 0 })
		_, err := fmt.Sscanf(r.Legs[0].Owner, "worker %d,", &worker)
		require.NoError(g, err)
		pids := fleettest.WorkerProcesses(g.T, g.run, worker)
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}
		for _, leg := range g.status().Legs {
			if leg.Owner == r.Legs[0].Owner && len(pids) > 0 {
				fleettest.KillWorker(g.T, g.run, worker)
				return worker, leg
			}
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
	g.Fatal("no worker was caught with a leg")
	return 0, leg
}

// mustTakeOver waits until another worker holds the leg or has done it, and returns the elapsed time.
func (g gridRun) mustTakeOver(leg simulate.RunningLeg) time.Duration {
	g.Helper()
	began := time.Now()
	g.await("the leg is taken over", func(r simulate.Status) bool {
		for _, l := range r.Legs {
			if fmt.Sprint(l.Sequence) == fmt.Sprint(leg.Sequence) && l.Owner == leg.Owner {
				return false
			}
		}
		return true
	})
	return time.Since(began)
}

// soon is too short for a takeover by a missing heartbeat alone, which takes 30 s.
const soon = 15 * time.Second

// Deaths of workers, nodes and coordinators cost only time. A grid on Slurm that loses one of each ends with the bytes
// of a local grid.
func TestSimulateOnSlurm(t *testing.T) {
	longOnly(t, "a grid on Slurm that loses a worker, a coordinator and a node; the page on Slurm runs one")
	fleettest.NeedSlurm(t)
	folder, path := newScenario(t, largeScenario)
	cluster, err := fleettest.StartCluster(fleet.NewClock(time.Now))
	require.NoError(t, err)
	t.Cleanup(cluster.Stop)
	cluster.Use(t)
	here := filepath.Join(folder, "here", "late")
	require.Contains(t, simulated(t, path, "--folder", here, "--workers", "2"), "64 of 64 runs ended, of 85 legs")

	began := time.Now()
	g := gridRun{t, filepath.Join(folder, "there", "late")}
	// one node per worker
	said := simulated(t, path, "--folder", g.run, "--engine", "slurm", "--set", "fleet.cpus=4", "--set",
		"fleet.threads=1")
	require.Contains(t, said, "submitted 4 workers: job ")
	require.Contains(t, said, "graft fleet attach "+g.run)
	attach := []string{"fleet", "attach", g.run, "--every", "500ms"}
	first, _ := process(t, attach...)
	g.await("legs are done", func(r simulate.Status) bool { return r.State.Done >= 5 })

	killed, leg := g.killHolder()
	took := g.mustTakeOver(leg)
	require.Less(t, took, soon, "a lock says on one machine who is dead")
	t.Logf("measured: the leg of a worker that was killed under Slurm was another's after %.1f s", took.Seconds())

	g.await("legs are done", func(r simulate.Status) bool { return r.State.Done >= 25 })
	require.NoError(t, first.Process.Kill())
	_ = first.Wait()
	second, out := process(t, attach...)

	r := g.await("another worker runs", func(r simulate.Status) bool {
		return r.State.Done >= 35 && r.Workers[(killed+1)%4].State == fleet.Running
	})
	lost := r.Workers[(killed+1)%4]
	require.Positive(t, r.Left, "it is lost in mid-run")
	require.NoError(t, syscall.Kill(cluster.Daemon(t, "slurmd."+lost.Host), syscall.SIGKILL))
	fleettest.KillStep(t, g.run, lost.Worker)
	fleettest.KillWorker(t, g.run, lost.Worker)

	over := make(chan error, 1)
	go func() { over <- second.Wait() }()
	select {
	case err := <-over:
		require.NoError(t, err, out)
	case <-time.After(6 * patience): // Slurm takes a while to detect a lost node
		t.Fatal("the grid does not end")
	}
	require.Contains(t, out.String(), "64 of 64 runs ended, of 85 legs")
	require.Equal(t, tableBytes(t, filepath.Join(here, "table")), tableBytes(t, filepath.Join(g.run, "table")))
	r = g.status()
	require.Equal(t, []int{64, 0, 0}, []int{r.State.Ended, r.State.Failed, r.Left})
	t.Logf("measured: a grid on Slurm that lost a worker, its coordinator and a node ended after %.0f s in the bytes "+
		"of the one on this machine", time.Since(began).Seconds())
}
