package learn

import (
	"errors"
	"fmt"
	"sync"

	"go.uber.org/zap"

	"graft/internal/words"
	"graft/results"
	"graft/runner/app"
	"graft/simulation/learning"
)

// seedLog writes the progress of all seeds into the run folder, its curves, the log and the progress bar.
type seedLog struct {
	*learning.Folder
	log    *zap.Logger
	pace   *app.ProgressLimiter // limits the log lines
	drawn  bool                 // a bar shows the progress, so the log does not
	curves *curves              // nil without TensorBoard
	most   int                  // steps of a seed
	track  *results.Tracker

	mu    sync.Mutex
	seeds map[uint64]*seedState
}

// seedState is the progress of one seed.
type seedState struct {
	learning.Progress
	regret float64 // regret at the last measurement, in points; negative before the first
}

func newSeedLog(f *learning.Folder, log *zap.Logger, seeds []uint64, most int) *seedLog {
	l := &seedLog{Folder: f, log: log, most: most, seeds: map[uint64]*seedState{}}
	for _, seed := range seeds {
		l.seeds[seed] = &seedState{regret: -1}
	}
	return l
}

// Step records the progress of a seed. When a line is due, it logs the progress of all seeds.
func (l *seedLog) Step(p learning.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seeds[p.Seed].Progress = p
	if p.Why != "" {
		l.log.Debug("trained policy", zap.Uint64("seed", p.Seed), zap.Int("steps", p.Step),
			zap.Float64("aim", p.Aim), zap.Float64("held_out", p.HeldOut), zap.String("ended", p.Why))
	}
	of := float64(l.most * len(l.seeds))
	l.track.Note(l.sum().part*of, of)
	if !l.drawn && l.pace.Due() {
		m := l.sum()
		l.log.Info("learning", zap.Int("done", m.done), zap.Int("of", m.all), zap.Int("steps", m.steps),
			zap.Float64("aim", app.Rounded(m.aim)), zap.Float64("regret_points", app.Rounded(m.regret)))
	}
}

// Row appends a row of metrics to the run folder and to the TensorBoard curves.
func (l *seedLog) Row(row learning.Row) error {
	l.mu.Lock()
	l.seeds[row.Seed].regret = row.Regret
	l.mu.Unlock()
	return errors.Join(l.Folder.Row(row), l.curves.tree(row))
}

// seedTotals is the combined progress of all seeds.
type seedTotals struct {
	all, done, begun int
	steps            int
	aim, regret      float64 // means over the seeds that have started
	part             float64 // completed part, if all steps are needed
}

// sum adds up the seeds.
func (l *seedLog) sum() (m seedTotals) {
	looked := 0
	for _, s := range l.seeds {
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
		part := float64(s.Step) / float64(l.most)
		if s.Why != "" {
			m.done++
			part = 1
		}
		m.part += part / float64(len(l.seeds))
	}
	m.aim /= float64(max(1, m.begun))
	m.regret /= float64(max(1, looked))
	return m
}

// totals is sum under the lock.
func (l *seedLog) totals() seedTotals {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum()
}

// wholeBar is the length of the progress bar.
const wholeBar = 1000

// scene returns the progress bar of the seeds.
func (l *seedLog) scene() app.Progress {
	return app.Progress{
		Done: func() (int64, int64) { return int64(wholeBar * l.totals().part), wholeBar },
		Text: func() string {
			m := l.totals()
			return fmt.Sprintf("%d of %d policies", m.done, m.all)
		},
		Details: func(width int) string { return l.totals().facts(width) },
	}
}

// facts returns the line below the bar, of at most width characters.
func (m seedTotals) facts(width int) string {
	return app.FitLine([]string{words.Plural(m.steps, "step"), fmt.Sprintf("objective %.3f", m.aim),
		fmt.Sprintf("regret %.3f points", m.regret),
		fmt.Sprintf("%d learning", m.begun-m.done)}, width)
}
