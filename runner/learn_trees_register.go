package main

import (
	"errors"
	"fmt"
	"sync"

	"go.uber.org/zap"

	"graft/simulation/learning"
)

// register writes into the run folder where each seed stands, and tells the log and
// the bars.
type register struct {
	*learning.Folder
	log    *zap.Logger
	teller *teller
	curves *curves // nil where TensorBoard is not wanted
	most   int     // steps of a seed

	mu    sync.Mutex
	seeds map[uint64]*pupilState
}

// pupilState is what is known of a seed.
type pupilState struct {
	learning.Progress
	regret float64 // in points, when it was last looked at; less than zero before
}

func newRegister(f *learning.Folder, log *zap.Logger, seeds []uint64, most int) *register {
	r := &register{Folder: f, log: log, most: most, seeds: map[uint64]*pupilState{}}
	for _, seed := range seeds {
		r.seeds[seed] = &pupilState{regret: -1}
	}
	return r
}

// Step notes where a seed stands, and tells of all when it has not been told for a
// while.
func (r *register) Step(p learning.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seeds[p.Seed].Progress = p
	if p.Why != "" {
		r.log.Debug("a seed has learned", zap.Uint64("seed", p.Seed), zap.Int("steps", p.Step), zap.Float64("aim", p.Aim), zap.Float64("held_out", p.HeldOut), zap.String("ended", p.Why))
	}
	if !r.teller.drawn && r.teller.due() {
		m := r.sum()
		r.log.Info("learning", zap.Int("done", m.done), zap.Int("of", m.all), zap.Int("steps", m.steps), zap.Float64("aim", rounded(m.aim)),
			zap.Float64("regret_points", rounded(m.regret)))
	}
}

// Row adds figures.
func (r *register) Row(row learning.Row) error {
	r.mu.Lock()
	r.seeds[row.Seed].regret = row.Regret
	r.mu.Unlock()
	return errors.Join(r.Folder.Row(row), r.curves.tree(row))
}

// classState is where all seeds stand together.
type classState struct {
	all, done, begun int
	steps            int
	aim, regret      float64 // means over those that have begun
	part             float64 // that is done, if all steps are needed
}

// sum adds up the seeds.
func (r *register) sum() (m classState) {
	looked := 0
	for _, s := range r.seeds {
		m.all++
		m.steps += s.Step
		if s.Step > 0 {
			m.begun++
			m.aim += s.Aim
		}
		if s.regret >= 0 {
			looked++
			m.regret += s.regret
		}
		part := float64(s.Step) / float64(r.most)
		if s.Why != "" {
			m.done++
			part = 1
		}
		m.part += part / float64(len(r.seeds))
	}
	m.aim /= float64(max(1, m.begun))
	m.regret /= float64(max(1, looked))
	return m
}

// now is sum for whoever looks from outside.
func (r *register) now() classState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sum()
}

// wholeBar is how finely a bar is divided.
const wholeBar = 1000

// scene is where the seeds stand.
func (r *register) scene() scene {
	return scene{
		part: func() (int64, int64) { return int64(wholeBar * r.now().part), wholeBar },
		right: func() string {
			m := r.now()
			return fmt.Sprintf("%d of %d policies", m.done, m.all)
		},
		facts: func(width int) string { return r.now().facts(width) },
	}
}

// facts are a line of a width.
func (m classState) facts(width int) string {
	return fitting([]string{counted(m.steps, "step"), fmt.Sprintf("aim %.3f", m.aim), fmt.Sprintf("regret %.3f points", m.regret),
		fmt.Sprintf("%d learning", m.begun-m.done)}, width)
}
