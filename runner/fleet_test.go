package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	yaml3 "github.com/stretchr/testify/assert/yaml"
	"github.com/stretchr/testify/require"

	"graft/fleet"
	"graft/results/failure"
	"graft/results/runs"
	"graft/torch"
	"graft/work/simulate"
)

// What watches a simulation opens no LibTorch.
func withoutLibTorch(t *testing.T) {
	t.Setenv(torch.LibraryVariable, filepath.Join(t.TempDir(), "none.so"))
}

// A simulation of this machine is looked at, its logs are followed, its workers are
// cancelled by another process, and it goes on.
func TestFleetOfThisMachine(t *testing.T) {
	folder, path := newScenario(t, largeScenario)
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
	busy := graft("fleet", "attach", g.run)
	require.Equal(t, failure.Failed, busy.code)
	require.Contains(t, busy.stderr, "supervise batch", "its coordinator lives")

	_, leg := g.killHolder()
	require.Less(t, g.mustTakeOver(leg), soon, "a lock says on one machine who is dead")
	g.await("it was started again", func(r simulate.Status) bool {
		return r.Workers[0].State == fleet.Running && r.Workers[1].State == fleet.Running
	})

	followed, said := process(t, "fleet", "logs", g.run, "--follow")
	cancelled := graft("fleet", "cancel", g.run)
	require.Equal(t, failure.Done, cancelled.code, cancelled.stderr)
	require.Contains(t, cancelled.stdout, "2 workers of local ended; what was run is kept")
	require.Equal(t, failure.Requeue, left(t, p), out)
	require.Contains(t, out.String(), "the batch was cancelled, and what was run is kept; 'graft simulate' goes on with it")
	require.Equal(t, failure.Done, left(t, followed), said)
	require.Regexp(t, `(?m)^[01]: \{"level":"info"`, said.String())
	one := graft("fleet", "logs", g.run, "--worker", "1")
	require.Equal(t, failure.Done, one.code)
	log, err := os.ReadFile(fleet.LogPath(g.run, 1))
	require.NoError(t, err)
	require.Equal(t, string(log), one.stdout)
	shown := graft("fleet", "status", g.run)
	require.Equal(t, failure.Done, shown.code, shown.stderr)
	require.Contains(t, shown.stdout, " of local, which was cancelled")
	require.Regexp(t, `(?m)^worker  state +host +detail +log$`, shown.stdout)

	again := graft("fleet", "attach", g.run, "--json")
	require.Equal(t, failure.Requeue, again.code, "it stays cancelled")
	t.Setenv(torch.LibraryVariable, "")
	done := g.status().State.Done
	p, out = process(t, "simulate", path, "--folder", g.run, "--workers", "2")
	g.await("it goes on", func(r simulate.Status) bool { return r.State.Done > done && !r.Cancelled })
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Equal(t, failure.Requeue, left(t, p), out)
}

// A coordinator that was killed has taken its local workers along; whoever attaches
// starts them again, and ^C ends them with their work saved.
func TestFleetIsAttachedAfterAKill(t *testing.T) {
	folder, path := newScenario(t, largeScenario)
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
		return r.Workers[0].State == fleet.Unknown && r.Workers[1].State == fleet.Unknown && !slices.ContainsFunc(r.Legs, alive)
	})
	interrupt := begin(r.State.Done+1, "fleet", "attach", g.run)
	for _, leg := range r.Legs { // in the order of the sequences, so the last may wait for others
		g.mustTakeOver(leg)
	}
	require.ErrorContains(t, interrupt(syscall.SIGINT), "exit status 75")
	require.Empty(t, g.status().Legs, "what they had was given back")
}

// Faults end in a sentence with a remedy.
func TestFleetFaults(t *testing.T) {
	folder, path := newScenario(t, scenarioFile)
	run := filepath.Join(folder, "runs", "late")
	for _, command := range []string{"status", "logs", "attach", "cancel", "manifest"} {
		o := graft("fleet", command, folder)
		require.Equal(t, failure.Failed, o.code, command)
		require.Contains(t, o.stderr, "give the run folder of 'graft simulate'", command)
	}
	refused := graft("simulate", path, "--folder", run, "--engine", "slurm", "--set", `fleet.devices=["cuda:0"]`)
	require.Equal(t, failure.Configuration, refused.code)
	require.Contains(t, refused.stderr, "fleet.devices")
	long := filepath.Join(folder, "a\nb")
	require.Equal(t, failure.Configuration, graft("simulate", path, "--folder", long).code)
	require.NoDirExists(t, run)
	require.NoDirExists(t, long)

	search := os.Getenv("PATH")
	t.Setenv("PATH", folder)
	missing := graft("simulate", path, "--folder", run, "--engine", "slurm")
	require.Equal(t, failure.Failed, missing.code)
	require.Contains(t, missing.stderr, "run this where Slurm's programs are, such as a login node, or use the local engine")
	status := graft("fleet", "status", run)
	require.Equal(t, failure.Partial, status.code, "the engine cannot be asked")
	require.Contains(t, status.stdout, "0 of 9 runs ended, 0 failed, 9 left; 0 of 13 legs")
	require.Contains(t, status.stderr, "where Slurm's programs are")
	attached := graft("fleet", "attach", run)
	require.Equal(t, failure.Failed, attached.code)
	require.Contains(t, attached.stderr, "where Slurm's programs are")
	require.Equal(t, failure.Usage, graft("fleet", "attach", run, "--every", "-1s").code)
	t.Setenv("PATH", search)

	leases := filepath.Join(folder, "runs", "cache", runs.LeasesFolder)
	require.NoError(t, os.WriteFile(leases, nil, 0o644))
	o := graft("simulate", path, "--folder", run, "--workers", "1")
	require.Equal(t, failure.Failed, o.code)
	require.Contains(t, o.stderr, "worker 0: graft: open leases in "+leases)
	require.Contains(t, o.stderr, "name a folder that can be written with simulate.cache")
	require.Equal(t, failure.Usage, graft("fleet", "logs", run, "--worker", "1").code)
	require.NoError(t, os.Remove(leases))
	require.Contains(t, simulated(t, path, "--folder", run), "9 of 9 runs ended", "here, when nobody lives there")
	withoutLibTorch(t)
	require.Contains(t, graft("fleet", "attach", run).stdout, "9 of 9 runs ended")
}

// A manifest is of the run folder that it is about, and names what pods need.
func TestFleetManifest(t *testing.T) {
	folder, path := newScenario(t, scenarioFile)
	run := filepath.Join(folder, "runs", "late")
	bare := graft("fleet", "manifest", path, "--folder", run)
	require.Equal(t, failure.Configuration, bare.code)
	require.Contains(t, bare.stderr, "fleet.image: image is not named")
	image := []string{"--set", "fleet.image=graft:1", "--set", "fleet.claim=shared", "--set", "fleet.workers=3", "--set", "fleet.threads=2"}
	elsewhere := graft(append([]string{"fleet", "manifest", path, "--folder", run, "--set", `simulate.cache="/elsewhere"`}, image...)...)
	require.Equal(t, failure.Configuration, elsewhere.code)
	require.Contains(t, elsewhere.stderr, "set fleet.mount or simulate.cache")
	require.NoDirExists(t, run)

	o := graft(append([]string{"fleet", "manifest", path, "--folder", run}, image...)...)
	require.Equal(t, failure.Done, o.code, o.stderr)
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
	other := graft("fleet", "manifest", run, "--set", "train.batch=20")
	require.Equal(t, failure.Configuration, other.code)
	require.Contains(t, other.stderr, "train.batch was 40 and is 20")

	require.Contains(t, graft("fleet", "status", run).stdout, "0 of 9 runs ended, 0 failed, 9 left; 0 of 13 legs\n\nno workers were started from here")
	for _, command := range []string{"logs", "cancel"} {
		require.Contains(t, graft("fleet", command, run).stderr, "no workers were started from here")
	}
	watching, out := process(t, "fleet", "attach", run, "--every", "50ms")
	pods, said := process(t, "work", run, "--threads", "1")
	require.Equal(t, failure.Done, left(t, pods), said)
	require.Equal(t, failure.Done, left(t, watching), out)
	require.Contains(t, out.String(), "9 of 9 runs ended")
}
