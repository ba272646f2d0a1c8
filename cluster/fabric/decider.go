package fabric

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Decider chooses the degree of the waiting job: the number of parts into which its training step is split. Degree 0
// blocks the job.
type Decider interface {
	Degree(w *World) (int, error)
}

// Degrees returns the degrees that can be chosen now: 0, followed by 1 and the even degrees for which a block of free
// servers exists.
func (w *World) Degrees() []int {
	degrees := []int{0}
	for n := 1; n <= w.largest(); n++ {
		if w.allows(n) {
			degrees = append(degrees, n)
		}
	}
	return degrees
}

// largest is the upper bound on the degrees that can be chosen now.
func (w *World) largest() int { return min(w.study.Options.MaxParts, len(w.owner)-w.Held()) }

// allows reports whether a degree up to the largest can be chosen now.
func (w *World) allows(n int) bool {
	switch {
	case n == 1:
		return true
	case n%2 == 1:
		return false
	case w.quirks.Keeps(EmptyShapes):
		return w.study.Network.Fits(n)
	}
	block := w.study.Network.Block(n, func(server int) bool { return w.owner[server] < 0 }, w.places[:0])
	if block == nil {
		return false
	}
	w.places = block
	return true
}

// atMost returns the largest degree up to n that can be chosen now; 0 if none exists.
func (w *World) atMost(n int) int {
	for n = min(n, w.largest()); n > 0 && !w.allows(n); n-- {
	}
	return n
}

// Constant chooses the same degree for all jobs, or the maximum possible degree if that is smaller. PAC-ML's authors
// use this rule as the baseline SiP-ML.
type Constant struct{ Parts int }

// Degree implements [Decider].
func (c Constant) Degree(w *World) (int, error) {
	if w.quirks.Keeps(MaskedConstant) {
		return min(c.Parts, w.atMost(w.study.Options.MaxParts)), nil
	}
	return w.atMost(c.Parts), nil
}

// Never is the decider that splits no job: it chooses degree 1 for every job.
type Never struct{}

// Degree implements [Decider].
func (Never) Degree(*World) (int, error) { return 1, nil }

// Least chooses the smallest degree that splits a job.
type Least struct{}

// Degree returns degree 2 if a job can be split, otherwise degree 1, or degree 0 if the job cannot run.
func (Least) Degree(w *World) (int, error) { return min(2, len(w.Degrees())-1), nil }

// Most chooses the maximum possible degree.
type Most struct{}

// Degree implements [Decider].
func (Most) Degree(w *World) (int, error) { return w.atMost(w.study.Options.MaxParts), nil }

// InTime splits a job just enough to end in time, assuming that a job with n parts runs n times as fast. PAC-ML's
// authors call this rule Para_min.
type InTime struct{}

// Degree divides the job's time on one server by its time limit. It chooses the smallest degree that is at least this
// ratio, or the maximum possible degree if every degree is smaller than the ratio.
func (InTime) Degree(w *World) (int, error) {
	job := w.Waiting()
	sequential := w.study.Sequential(job)
	need := int(math.Ceil(sequential / (job.Limit * sequential)))
	degrees := w.Degrees()
	at, _ := slices.BinarySearch(degrees, need)
	return degrees[min(at, len(degrees)-1)], nil
}

// Random chooses uniformly among the degrees above 0.
type Random struct {
	Choose func(n int) int // random number generator: returns a number from 0 to n-1
}

// Degree returns a random degree above 0, or 0 if no other degree is possible.
func (r Random) Degree(w *World) (int, error) {
	degrees := w.Degrees()[1:]
	if len(degrees) == 0 {
		return 0, nil
	}
	return degrees[r.Choose(len(degrees))], nil
}

// Replay repeats recorded decisions.
type Replay struct{ Degrees []int }

// Degree returns the decision that was recorded for the waiting job.
func (r Replay) Degree(w *World) (int, error) {
	job := w.Waiting()
	if job.ID >= len(r.Degrees) {
		return 0, fmt.Errorf("job %d has no recorded decision; the recording has decisions for %d jobs", job.ID,
			len(r.Degrees))
	}
	return r.Degrees[job.ID], nil
}

// Play runs an episode in which a decider decides on all jobs. It stops when ctx ends.
func Play(ctx context.Context, w *World, d Decider) error {
	for w.Waiting() != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		degree, err := d.Degree(w)
		if err != nil {
			return err
		}
		if err := w.Decide(degree); err != nil {
			return err
		}
	}
	return nil
}
