package dl2

import (
	"errors"
	"slices"

	"graft/cluster/elastic"
	"graft/internal/random/numpy"
)

// transition is an item of a memory: an action in a state. In imitation it has no probabilities, and the action is -1
// if its job is outside the window.
type transition struct {
	state         []float64
	probabilities []float64 // probabilities of all actions at that time, masked and divided by their sum
	action        int
	reward        float64
}

// lesson is a run of the teacher on a workload.
type lesson struct {
	world   *elastic.World
	teacher elastic.Scheduler
	noise   *noise
	played  int // slots played
	samples []transition
}

// newLesson starts a run, or resumes one after a number of slots. Samples have jobs in random columns.
func newLesson(s elastic.Study, teacher elastic.Kind, o elastic.WindowOptions, played int, random *numpy.Random,
	drawn []float64) (*lesson, error) {
	s.Options.Quirks = elastic.Compatible().Quirks
	w, err := elastic.NewWorld(s)
	if err != nil {
		return nil, err
	}
	l := &lesson{world: w, teacher: teacher.New(w), noise: newNoise(&s, random)}
	l.noise.join(w)
	if err := l.noise.replay(drawn, func() error { return l.again(played) }); err != nil {
		return nil, err
	}
	elastic.Record(w, o, func(s elastic.Sample) {
		l.samples = append(l.samples, transition{state: s.State, action: s.Label})
	})
	return l, nil
}

var errReplay = errors.New("the episode ends too early during replay; the workloads or schedulers have changed")

// again simulates slots and discards the samples.
func (l *lesson) again(slots int) error {
	for range slots {
		if l.done() {
			return errReplay
		}
		l.slot()
	}
	return nil
}

func (l *lesson) done() bool { return l.world.Done() }

// slot simulates a slot and returns its samples.
func (l *lesson) slot() []transition {
	l.world.Begin()
	l.teacher.Schedule(l.world)
	l.world.End()
	l.played++
	samples := l.samples
	l.samples = nil
	return samples
}

// replay uses previously drawn errors while play repeats slots.
func (n *noise) replay(drawn []float64, play func() error) error {
	n.drawn, n.again = slices.Clone(drawn), 0
	if err := play(); err != nil {
		return err
	}
	if n.again != len(n.drawn) || !n.keep && n.again > 0 {
		return errReplay
	}
	n.again = -1
	return nil
}

// restore repeats the actions of an episode, up to the start of a slot.
func (e *Env) restore(actions []int, now slotDraws, drawn []float64) error {
	err := e.noise.replay(drawn, func() error {
		for k, action := range actions {
			e.Window.Observe()
			last := e.Window.Actions() - 1
			if e.Done() || action < -1 || action > last || action >= 0 && action < last && e.job(action) == nil {
				return errReplay
			}
			if t := e.take(action); k == len(actions)-1 && !t.Ended {
				return errReplay
			}
		}
		return nil
	})
	e.slot = now
	return err
}
