package learning

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
	"graft/results"
	"graft/simulation"
	"graft/simulation/treetest"
	"graft/torch/weights"
)

// memory records everything in memory, unless fail returns an error.
type memory struct {
	mu    sync.Mutex
	kept  map[uint64][]byte
	saves int
	rows  map[string]Row // by seed and step
	step  func(p Progress)
	fail  func() error // called before recording a row or saving a learner
}

func newMemory() *memory {
	return &memory{kept: map[uint64][]byte{}, rows: map[string]Row{}, step: func(Progress) {},
		fail: func() error { return nil }}
}

func (m *memory) Step(p Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.step(p)
}

func (m *memory) Row(r Row) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[fmt.Sprint(r.Seed, " ", r.Step)] = r
	return m.fail()
}

func (m *memory) Save(seed uint64, set *weights.Set) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fail(); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := weights.WriteSafetensors(&b, set); err != nil {
		return err
	}
	m.kept[seed] = b.Bytes()
	m.saves++
	return nil
}

func (m *memory) Load(seed uint64) (*weights.Set, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, ok := m.kept[seed]
	if !ok {
		return nil, nil
	}
	return weights.ReadFrom(bytes.NewReader(text), int64(len(text)), weights.Options{})
}

// ticking returns a clock that advances by a second at every call.
func ticking() func() time.Time {
	var mu sync.Mutex
	now := time.Time{}
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}

// classes returns studies that differ in the state to restore.
func classes(t *testing.T) map[string]*Study {
	all := treetest.RandomTrees(t, 3)
	exact, drawn, stopped := quick(), quick(), quick()
	drawn.Sampled, drawn.Entropy = 3, 0.01
	stopped.Every, stopped.Patience = 2, 4
	study := func(o Options, held ...*simulation.Tree) *Study {
		return &Study{Trees: all[:2], Held: held, Options: o, Seeds: []uint64{4, 5, 6}, AtOnce: 2, Every: 3}
	}
	return map[string]*Study{"exact": study(exact), "drawn": study(drawn), "held out": study(stopped, all[2])}
}

// policiesOf returns the policies as files, and the rows that led to them.
func policiesOf(t *testing.T, all []Result) (text string) {
	for _, l := range all {
		set, err := l.Policy.Set()
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, weights.WriteSafetensors(&b, set))
		text += fmt.Sprint(l.Seed, l.Steps, l.Why, l.Rows) + b.String()
	}
	return text
}

// A study that is stopped or killed again and again gives the same bits as an uninterrupted study.
func TestTreeStudiesGoOnToTheBit(t *testing.T) {
	for name, study := range classes(t) {
		t.Run(name, func(t *testing.T) {
			whole, err := study.Run(context.Background())
			require.NoError(t, err)
			told, looked := newMemory(), 0
			told.step = func(p Progress) {
				if !math.IsNaN(p.HeldOut) {
					looked++
				}
			}
			study.Recorder = told
			one, err := study.Run(context.Background())
			require.NoError(t, err)
			for k := range whole { // without a recorder there are no rows
				whole[k].Rows = one[k].Rows
			}
			want := policiesOf(t, whole)
			require.Equal(t, want, policiesOf(t, one))
			require.Equal(t, name == "held out", looked > 0)
			random, stops := rand.New(rand.NewPCG(uint64(len(name)), 1)), 0
			for range 3 {
				book := newMemory()
				again, ended := cutShort(t, study, book, random)
				require.Equal(t, want, policiesOf(t, again))
				require.Equal(t, fmt.Sprint(told.rows), fmt.Sprint(book.rows), "rows are told once each")
				stops += ended
			}
			require.Greater(t, stops, 9)
			t.Logf("measured: %d stops and kills of three seeds, the same bits each time", stops)
		})
	}
}

// cutShort runs a study until it is done. Each attempt is stopped, or its recorder fails, after a few steps. It returns
// the results and the number of failed attempts.
func cutShort(t *testing.T, study *Study, book *memory, random *rand.Rand) ([]Result, int) {
	power := errors.New("the power is gone")
	for ended := 0; ; ended++ {
		require.Less(t, ended, 500, "it gets nowhere")
		s := *study
		s.Recorder, s.Now, s.Checkpoint, s.AtOnce = book, ticking(), time.Duration(1+random.IntN(9))*time.Second,
			1+random.IntN(3)
		ctx, cancel := context.WithCancel(context.Background())
		left, kill, gone := 1+random.IntN(30), random.IntN(2) == 0, false
		book.step = func(Progress) {
			if left--; left == 0 && kill {
				gone = true
			} else if left == 0 {
				cancel()
			}
		}
		book.fail = func() error {
			if gone {
				return power
			}
			return nil
		}
		all, err := s.Run(ctx)
		cancel()
		if err == nil {
			return all, ended
		}
		if !errors.Is(err, power) {
			require.ErrorIs(t, err, ErrStopped)
		}
	}
}

// Learners are saved at checkpoints, at a stop and at the end.
func TestTreeStudiesSaveWhenItIsTime(t *testing.T) {
	study := classes(t)["exact"]
	study.Seeds, study.AtOnce = study.Seeds[:1], 1
	saves := func(every time.Duration, now func() time.Time) int {
		book := newMemory()
		study.Recorder, study.Now, study.Checkpoint = book, now, every
		_, err := study.Run(context.Background())
		require.NoError(t, err)
		return book.saves
	}
	require.Equal(t, 1, saves(time.Second, nil), "no clock, no checkpoints")
	require.Equal(t, 2, saves(0, ticking()), "half a minute passes once")
	require.Equal(t, study.Options.Steps, saves(time.Second, ticking()))
	require.Less(t, saves(10*time.Second, ticking()), 5)
}

// The first fault stops all seeds and is returned. Without a recorder, a stop returns the error of ctx.
func TestTreeStudiesFail(t *testing.T) {
	study := classes(t)["exact"]
	book, full := newMemory(), errors.New("the disk is full")
	steps := 0
	book.step = func(Progress) { steps++ }
	book.fail = func() error { return full }
	study.Recorder, study.Options.Steps, study.Every = book, 5000, 2
	study.Options.Tolerance = -1
	_, err := study.Run(context.Background())
	require.ErrorIs(t, err, full)
	require.NotErrorIs(t, err, ErrStopped)
	require.Less(t, steps, 4000, "the others do not go on")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = study.Run(ctx)
	require.ErrorIs(t, err, ErrStopped)
	later, stop := context.WithCancel(context.Background())
	stopped := false
	book.step = func(Progress) { stopped = true; stop() }
	book.fail = func() error {
		if stopped {
			return full
		}
		return nil
	}
	_, err = study.Run(later)
	require.ErrorIs(t, err, full, "what was learned could not be saved")
	require.NotErrorIs(t, err, ErrStopped)
	study.Recorder = nil
	_, err = study.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, ErrStopped)
	_, err = Learn(ctx, study.Trees, nil, quick(), []uint64{1, 2}, 2)
	require.ErrorIs(t, err, context.Canceled)
}

// Figures describe the current policy, and computing them changes nothing.
func TestFiguresAreThePolicys(t *testing.T) {
	trees := treetest.RandomTrees(t, 3)
	o := quick()
	o.Entropy = 0.1
	withLearner(t, trees[:2], trees[2:], o, func(l *Learner) {
		for range 3 {
			advance(t, l, 5)
			before := bytesOf(t, l)
			row, err := l.Figures()
			require.NoError(t, err)
			require.Equal(t, before, bytesOf(t, l))
			now, err := l.current()
			require.NoError(t, err)
			require.InDelta(t, (regretOf(t, now, trees[0])+regretOf(t, now, trees[1]))/2, row.Regret, 1e-9)
			weighed, err := now.Probabilities(simulation.Situations(trees[:2])...)
			require.NoError(t, err)
			nats := 0.0
			for _, shares := range weighed {
				for _, p := range shares {
					nats -= p * math.Log(p) / float64(len(weighed)) // trees have equal sizes
				}
			}
			require.InDelta(t, nats, row.Entropy, 1e-9)
			require.Equal(t, l.Step, row.Step)
			advance(t, l, 1)
			require.Equal(t, row.Aim, l.Value, "the next step begins with it")
		}
		require.NoError(t, l.evaluateHeldOut())
		row, err := l.Figures()
		require.NoError(t, err)
		require.InDelta(t, l.Best, row.HeldOut, 1)
	})
}

// diskStudy runs a study in a run folder, which may exist.
func diskStudy(t *testing.T, fsys files.FS, study *Study, path string) ([]Result, error) {
	run, err := results.Open(fsys, path)
	if errors.Is(err, results.ErrNoRun) || errors.Is(err, os.ErrNotExist) {
		run, err = results.Create(fsys, path, results.CreateOptions{}, results.Manifest{})
	}
	if err != nil {
		return nil, err
	}
	defer run.Close()
	book, err := OpenFolder(fsys, run)
	if err != nil {
		return nil, err
	}
	s := *study
	s.Recorder, s.Now, s.Checkpoint = book, ticking(), 4*time.Second
	all, err := s.Run(context.Background())
	if err != nil {
		return nil, err
	}
	return all, book.Finish(all)
}

// After any disk fault, the study resumes and writes the same files.
func TestTreeStudiesSurviveTheDisk(t *testing.T) {
	study := classes(t)["held out"]
	study.Options.Steps, study.Seeds = 12, study.Seeds[:2]
	folder := t.TempDir()
	_, err := diskStudy(t, files.OS{}, study, filepath.Join(folder, "whole"))
	require.NoError(t, err)
	inside := func(name string) (text string) {
		for _, file := range []string{"learning.csv", "learners/seed-4.safetensors", "learners/seed-5.safetensors"} {
			b, err := os.ReadFile(filepath.Join(folder, name, file))
			require.NoError(t, err)
			text += string(b)
		}
		return text
	}
	want := inside("whole")
	random, failed := rand.New(rand.NewPCG(8, 1)), 0
	for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
		for round := range 4 {
			name, at := fmt.Sprint(kind, round), 1+random.IntN(140)
			if _, err := diskStudy(t, faults.New(files.OS{}, at, kind), study,
				filepath.Join(folder, name)); err != nil {
				require.ErrorIs(t, err, faults.ErrInjected)
				failed++
			}
			_, err := diskStudy(t, files.OS{}, study, filepath.Join(folder, name))
			require.NoError(t, err)
			require.Equal(t, want, inside(name), "%v at %d", kind, at)
		}
	}
	require.Greater(t, failed, 8)
}

// The table of a study is in the order of seeds and steps. A damaged learner is named.
func TestTreeFolder(t *testing.T) {
	study, path := classes(t)["held out"], filepath.Join(t.TempDir(), "run")
	all, err := diskStudy(t, files.OS{}, study, path)
	require.NoError(t, err)
	table, err := results.ReadStream(files.OS{}, filepath.Join(path, "learning.csv"))
	require.NoError(t, err)
	seeds, err := table.Floats("seed")
	require.NoError(t, err)
	regrets, err := table.Floats("regret")
	require.NoError(t, err)
	at := 0
	for _, l := range all {
		require.Equal(t, l.Steps, l.Rows[len(l.Rows)-1].Step)
		for _, r := range l.Rows {
			require.EqualValues(t, l.Seed, seeds[at])
			require.Equal(t, r.Regret, regrets[at])
			at++
		}
	}
	require.Equal(t, table.Rows, at)
	learner := filepath.Join(path, "learners", "seed-5.safetensors")
	require.NoError(t, os.Truncate(learner, 1000))
	_, err = diskStudy(t, files.OS{}, study, path)
	require.ErrorContains(t, err, learner)
	require.ErrorContains(t, err, "delete the file to restart this seed")
	require.NoError(t, os.Remove(learner))
	again, err := diskStudy(t, files.OS{}, study, path)
	require.NoError(t, err)
	require.Equal(t, policiesOf(t, all), policiesOf(t, again))
	study.Options.Beta++
	_, err = diskStudy(t, files.OS{}, study, path)
	require.ErrorContains(t, err, "other options")
}
