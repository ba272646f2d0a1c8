package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"graft/learn"
	"graft/original/tasks"
)

// PPO's steps: of a rollout, and of the published training.
const (
	ppoRollout   = 2048
	ppoPublished = 51200
)

// ppoLearner learns in the packing environment with the published settings, which are the defaults.
type ppoLearner struct {
	model   *learn.MLP
	rollout *learn.Rollout
	shuffle *rand.Rand
}

func newPPOLearner(seed uint64) (*ppoLearner, error) {
	env, err := tasks.NewEnv(tasks.EnvOptions{})
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 1))
	m, err := learn.NewMLP(learn.MLPOptions{Inputs: 2 * env.GPUs(), Actions: env.GPUs()}, random)
	return &ppoLearner{model: m, rollout: learn.NewRollout(env, m, seed, 1), shuffle: random}, err
}

// learn takes the steps of one rollout and returns the seconds.
func (l *ppoLearner) learn() (float64, error) {
	began := time.Now()
	steps, err := l.rollout.Play(ppoRollout)
	if err == nil {
		_, err = learn.UpdatePPO(l.model, steps, learn.PPOOptions{}, l.shuffle)
	}
	return time.Since(began).Seconds(), err
}

// ppo compares PPO with Stable-Baselines3's, one rollout at a time in turns.
func (b *bench) ppo() error {
	fmt.Printf("\nPPO: seconds for %d steps in the packing environment, published settings; "+
		"the twin is Stable-Baselines3\n", ppoPublished)
	why := exec.Command(b.python, "-c", "import stable_baselines3").Run()
	if why != nil {
		fmt.Printf("skipped: %s has no stable_baselines3 (%v); install it, or set GRAFT_PYTHON to another Python\n",
			b.python, why)
	}
	defer b.table.Flush()
	fmt.Fprintln(b.table, "threads\tratio\t\tgraft\ttwin")
	var faults []error
	for _, threads := range threadCounts() {
		faults = append(faults, b.ppoLine(threads, why == nil))
	}
	return errors.Join(faults...)
}

func (b *bench) ppoLine(threads int, twin bool) error {
	had := runtime.GOMAXPROCS(threads)
	defer runtime.GOMAXPROCS(had)
	l, err := newPPOLearner(uint64(b.seed))
	if err != nil {
		return err
	}
	var m measured
	learnTwin := func() (float64, error) { return 0, nil }
	if twin {
		s, err := start("Stable-Baselines3", nil, b.python, filepath.Join(filepath.Dir(b.twin), "twin_ppo.py"),
			fmt.Sprintf("--threads=%d", threads))
		if err != nil {
			return err
		}
		defer s.stop()
		learnTwin = func() (float64, error) {
			a, err := s.ask(command{Cmd: "learn", Steps: ppoRollout})
			return a.Seconds, err
		}
	}
	for k := range b.rounds + 1 { // the first round warms up
		ours, err := l.learn()
		theirs, failed := learnTwin()
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		if k > 0 {
			m.ours, m.twin = append(m.ours, ours), append(m.twin, theirs)
		}
	}
	const rollouts = ppoPublished / ppoRollout
	if !twin {
		fmt.Fprintf(b.table, "%d\t\t\t%.1f\t\n", threads, rollouts*median(m.ours))
		return nil
	}
	fmt.Fprintf(b.table, "%d\t%s\t%.1f\t%.1f\n", threads, m.ratio(), rollouts*median(m.ours), rollouts*median(m.twin))
	return nil
}
