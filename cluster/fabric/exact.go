package fabric

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Plan is the best sequence of degrees in an episode, computed in hindsight.
type Plan struct {
	Degrees []int // degree of each job
	Blocked int   // number of blocked jobs, the minimum over all sequences
	Nodes   int   // number of visited states
}

// ErrTooLarge reports that an exact search would visit more states than its limit allows.
var ErrTooLarge = errors.New("the exact search is too large")

// Exact finds the degrees that block the fewest jobs of an episode with known arrivals, by branch and bound. If jobs
// hold the same servers for the same times in several states, Exact searches only one of these states. The argument
// most limits the number of visited states; Exact returns ErrTooLarge if the search needs more. Exact stops when ctx
// ends.
func Exact(ctx context.Context, study *Study, most int) (*Plan, error) {
	world, err := NewWorld(study)
	if err != nil {
		return nil, err
	}
	s := search{most: most, seen: map[string]int{}, plan: Plan{Blocked: math.MaxInt}}
	if s.infeasible, err = study.infeasible(ctx); err != nil {
		return nil, err
	}
	if err := s.visit(ctx, world, nil); err != nil {
		return nil, err
	}
	return &s.plan, nil
}

// search is a branch-and-bound search.
type search struct {
	most       int
	seen       map[string]int // fewest blocked jobs on reaching a state
	infeasible []int          // per job: number of jobs from it on that cannot start at any degree
	plan       Plan
}

// Hopeless counts the jobs that cannot start even on an empty cluster, so every decider blocks them.
func (s *Study) Hopeless(ctx context.Context) (int, error) {
	counts, err := s.infeasible(ctx)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// infeasible counts, for each job, the jobs from it on that cannot start even on an empty cluster.
func (s *Study) infeasible(ctx context.Context) ([]int, error) {
	counts := make([]int, len(s.Jobs)+1)
	for k := len(s.Jobs) - 1; k >= 0; k-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		world, err := NewWorld(s.With(s.Jobs[k : k+1]))
		if err != nil {
			return nil, err
		}
		degree, err := Thrifty{}.Degree(world)
		if err != nil {
			return nil, err
		}
		if counts[k] = counts[k+1]; degree == 0 {
			counts[k]++
		}
	}
	return counts, nil
}

func (s *search) visit(ctx context.Context, w *World, degrees []int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.plan.Nodes++; s.plan.Nodes > s.most {
		return fmt.Errorf("%w: more than %d states; use fewer jobs or degrees", ErrTooLarge, s.most)
	}
	job := w.Waiting()
	if job == nil {
		if w.Record.Blocked < s.plan.Blocked {
			s.plan.Blocked, s.plan.Degrees = w.Record.Blocked, slices.Clone(degrees)
		}
		return nil
	}
	if w.Record.Blocked+s.infeasible[job.ID] >= s.plan.Blocked {
		return nil
	}
	key := w.state()
	if blocked, ok := s.seen[key]; ok && blocked <= w.Record.Blocked {
		return nil
	}
	s.seen[key] = w.Record.Blocked
	choices, err := w.choices()
	if err != nil {
		return err
	}
	for _, degree := range choices {
		next := w.Clone()
		if err := next.Decide(degree); err != nil {
			return err
		}
		if err := s.visit(ctx, next, append(degrees, degree)); err != nil {
			return err
		}
	}
	return nil
}

// choices lists the degrees at which the waiting job can start, in order of least server time, and 0 last.
func (w *World) choices() ([]int, error) {
	offers, err := w.Offers()
	if err != nil {
		return nil, err
	}
	offers = slices.DeleteFunc(offers, func(o Offer) bool { return o.Cause != NoCause })
	slices.SortStableFunc(offers, func(a, b Offer) int {
		if a.Area() < b.Area() {
			return -1
		}
		return 1
	})
	degrees := make([]int, 0, len(offers)+1)
	for k := range offers {
		degrees = append(degrees, offers[k].Degree)
	}
	return append(degrees, 0), nil
}

// state encodes which job waits and until when each server is held.
func (w *World) state() string {
	key := make([]byte, 0, 8*len(w.owner)+4)
	add := func(bits uint64) {
		for shift := 0; shift < 64; shift += 8 {
			key = append(key, byte(bits>>shift))
		}
	}
	add(uint64(w.waiting))
	for _, id := range w.owner {
		until := 0.0
		if id >= 0 {
			until = w.Jobs[id].Started + w.Jobs[id].Time
		}
		add(math.Float64bits(until))
	}
	return string(key)
}
