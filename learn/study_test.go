package learn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
	"graft/internal/parallel"
	"graft/results"
	"graft/torch/weights"
)

// walker learns the walk by PPO.
type walker struct {
	model  *MLP
	all    []*Rollout
	steps  int
	last   PPOFigures
	poison int // step before which a parameter becomes NaN; zero is never
}

func newWalker(t require.TestingT, seed uint64) *walker {
	m, err := NewMLP(MLPOptions{Inputs: 8, Actions: 3, Hidden: []int{8}, Rate: 3e-3}, rand.New(rand.NewPCG(seed, 0)))
	require.NoError(t, err)
	w := &walker{model: m}
	for k := range 2 {
		w.all = append(w.all, NewRollout(&walk{length: 8}, m.Twin(), seed, uint64(1+k)))
	}
	return w
}

func (w *walker) Advance(ctx context.Context) error {
	if w.steps+1 == w.poison {
		w.model.policy.Params[0][0] = math.NaN()
	}
	steps, err := PlayAll(ctx, w.all, 50, 2)
	if err != nil {
		return err
	}
	if w.last, err = UpdatePPO(w.model, steps, PPOOptions{Epochs: 1},
		rand.New(rand.NewPCG(9, uint64(w.steps)))); err == nil {
		w.steps++
	}
	return err
}

func (w *walker) Steps() int { return w.steps }

func (w *walker) Ended() string {
	if w.steps < 12 {
		return ""
	}
	return "it has walked enough"
}

func (w *walker) Figures() ([]float64, error) { return []float64{w.last.Entropy, math.NaN()}, nil }

func (w *walker) Save() (*weights.Set, error) {
	now := map[string]any{"steps": w.steps, "rollouts": []RolloutState{w.all[0].State(), w.all[1].State()}}
	text, err := json.Marshal(now)
	set := &weights.Set{Metadata: map[string]string{"walker": string(text)}}
	SaveModel(w.model, set, "agent.")
	return set, err
}

func (w *walker) Restore(set *weights.Set) error {
	var was struct {
		Steps    int            `json:"steps"`
		Rollouts []RolloutState `json:"rollouts"`
	}
	if err := json.Unmarshal([]byte(set.Metadata["walker"]), &was); err != nil {
		return err
	}
	w.steps = was.Steps
	return errors.Join(RestoreModel(w.model, set, "agent."), w.all[0].Restore(was.Rollouts[0]),
		w.all[1].Restore(was.Rollouts[1]))
}

// studied runs a study in a run folder, and returns the learned parameters and the table of figures.
func studied(t *testing.T, ctx context.Context, fsys files.FS, path string, seeds []uint64,
	poison int) (string, error) {
	run, err := results.Open(fsys, path)
	if errors.Is(err, results.ErrNoRun) || errors.Is(err, os.ErrNotExist) {
		run, err = results.Create(fsys, path, results.CreateOptions{}, results.Manifest{})
	}
	if err != nil {
		return "", err
	}
	defer run.Close()
	folder, err := OpenFolder(fsys, run, []results.Column{{Name: "entropy"}, {Name: "nothing"}})
	if err != nil {
		return "", err
	}
	rows, learned := make([][]Row, len(seeds)), make([]string, len(seeds))
	now := time.Time{}
	s := &Study{Seeds: seeds, Every: 3, Checkpoint: 3 * time.Second, Recorder: folder, Pool: parallel.Pool{Workers: 1},
		Now: func() time.Time {
			now = now.Add(time.Second)
			return now
		}, With: func(seed uint64, learn func(Learner) ([]Row, error)) (err error) {
			w := newWalker(t, seed)
			w.poison = poison
			rows[seed], err = learn(w)
			learned[seed] = fmt.Sprint(w.model.policy.Params, w.model.value.Params)
			return err
		}}
	if err := s.Run(ctx); err != nil {
		return "", err
	}
	if err := folder.Finish(rows...); err != nil {
		return "", err
	}
	table, err := files.ReadAll(fsys, filepath.Join(path, "learning.csv"), 1<<20)
	return fmt.Sprint(learned) + string(table), err
}

// A resumed study ends with the same bits, after any disk fault and any stop.
func TestStudiesGoOnToTheBit(t *testing.T) {
	seeds, ctx := []uint64{0, 1}, context.Background()
	counting := faults.New(files.OS{}, 0, faults.Fail)
	want, err := studied(t, ctx, counting, filepath.Join(t.TempDir(), "run"), seeds, 0)
	require.NoError(t, err)
	require.Contains(t, want, "\n1,12,")
	all := len(counting.Ops())
	for at := 1; at <= all; at += 1 + all/40 {
		folder := filepath.Join(t.TempDir(), "run")
		_, _ = studied(t, ctx, faults.New(files.OS{}, at, []faults.Kind{faults.Fail, faults.Crash}[at%2]), folder,
			seeds, 0)
		got, err := studied(t, ctx, files.OS{}, folder, seeds, 0)
		require.NoError(t, err)
		require.Equal(t, want, got, "after a fault at %d", at)
	}
	folder := filepath.Join(t.TempDir(), "run")
	for range 6 {
		stopped, stop := context.WithTimeout(ctx, time.Millisecond)
		if _, err := studied(t, stopped, files.OS{}, folder, seeds, 0); err != nil {
			require.ErrorIs(t, err, ErrStopped)
		}
		stop()
	}
	got, err := studied(t, ctx, files.OS{}, folder, seeds, 0)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// A score or gradient that is not finite ends learning with an error that names the step.
func TestStudiesNameTheStepOfAFault(t *testing.T) {
	_, err := studied(t, context.Background(), files.OS{}, filepath.Join(t.TempDir(), "run"), []uint64{0}, 5)
	require.ErrorContains(t, err, "seed 0, step 5: play environment 0: draw an action: "+
		"the agent's scores are not finite")
	m := agent(t)
	steps, err := PlayAll(context.Background(), rollouts(m), 20, 1)
	require.NoError(t, err)
	m.value.Params[0][0] = math.NaN()
	_, err = UpdatePPO(m, steps, PPOOptions{}, rand.New(rand.NewPCG(1, 1)))
	require.ErrorContains(t, err, "learn with PPO: optimizer step 1: the gradient norm is not a number")
}
