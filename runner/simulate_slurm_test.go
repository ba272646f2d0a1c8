package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/fleet"
	"graft/fleet/fleettest"
	"graft/results/failure"
	"graft/work/simulate"
)

// largeScenario is 64 sequences of 85 legs.
var largeScenario = strings.NewReplacer(`"460ms"`, `"560ms"`, "max_decisions = 2", "max_decisions = 3", `"deepen:conv2",`, `"deepen:conv2", "deepen:conv3",`).Replace(scenarioFile)

// grid is a simulation that a test watches.
type gridRun struct {
	*testing.T
	run string // its folder
}

// status returns the output of `graft fleet status --json`.
func (g gridRun) status() (r simulate.Status) {
	g.Helper()
	o := graft("fleet", "status", g.run, "--json")
	require.Equal(g, failure.Done, o.code, o.stderr)
	require.NoError(g, json.Unmarshal([]byte(o.stdout), &r))
	return r
}

// await waits until the simulation is as it should be.
func (g gridRun) await(what string, so func(simulate.Status) bool) (r simulate.Status) {
	g.Helper()
	require.Eventually(g, func() bool {
		r = g.status()
		return so(r)
	}, patience, 20*time.Millisecond, what)
	return r
}

// killHolder kills a worker that has taken a leg, and says which worker and leg. It is
// stopped first, so that it has the leg for sure.
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

// mustTakeOver waits until another than the dead worker has a leg, or has done it, and
// says how long that took.
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

// soon is a time in which nobody can be taken for lost by silence alone, which takes
// 30 s.
const soon = 15 * time.Second

// The proof that workers, nodes and coordinators cost only time: a grid on Slurm, of
// which one each is killed, ends in the bytes of the grid on this machine.
func TestSimulateOnSlurm(t *testing.T) {
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
	said := simulated(t, path, "--folder", g.run, "--engine", "slurm", "--set", "fleet.cpus=4", "--set", "fleet.threads=1") // a node each
	require.Contains(t, said, "4 workers: job ")
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
	case <-time.After(6 * patience): // Slurm takes its time to find out that a node is lost
		t.Fatal("the grid does not end")
	}
	require.Contains(t, out.String(), "64 of 64 runs ended, of 85 legs")
	require.Equal(t, tableBytes(t, filepath.Join(here, "table")), tableBytes(t, filepath.Join(g.run, "table")))
	r = g.status()
	require.Equal(t, []int{64, 0, 0}, []int{r.State.Ended, r.State.Failed, r.Left})
	t.Logf("measured: a grid on Slurm that lost a worker, its coordinator and a node ended after %.0f s in the bytes of the one on this machine", time.Since(began).Seconds())
}
