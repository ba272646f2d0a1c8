package runs

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/stat"
	"graft/results"
	"graft/trainer"
)

// Reach compares the costs of two cases of a sweep. For each seed, it compares the costs at which the trials of the two
// cases first reach the same validation loss: the final loss of the second case's trial. The first trial's cost is
// divided by the second trial's cost until this loss. If the first trial never reaches the loss, its whole cost counts,
// so Time and FLOP are underestimates.
type Reach struct {
	Case    string `json:"case"`    // name of the case
	Of      string `json:"of"`      // name of the case whose loss is to be reached
	Trials  int    `json:"trials"`  // number of trials with a seed that both cases have
	Reached int    `json:"reached"` // number of trials that reached the loss
	// fraction of the device time; null if the device time of a trial is unknown, and without a common seed
	Time *stat.OverSeeds `json:"device_time"`
	// fraction of the floating-point operations; null if their number is unknown for a trial, and without a common seed
	FLOP *stat.OverSeeds `json:"flop"`
	// difference between the final validation losses in nats; null without a common seed
	Loss *stat.OverSeeds `json:"difference"`
	// mean fraction of the device time of the second case's trials after which they first have their final losses; null
	// if the device time of a trial is unknown, and without a common seed
	First *float64 `json:"first"`
}

// curve is the validation loss of a job after each epoch, and the cost so far. The elapsed time ends with an epoch.
type curve struct{ epoch, loss, elapsed, time, flop []float64 }

// last returns the final loss.
func (c curve) last() float64 { return c.loss[len(c.loss)-1] }

// until returns the cost at which the interpolated loss first is at most the given one. If it never is, until returns
// the whole cost and false.
func (c curve) until(loss float64, cost []float64) (float64, bool) {
	for k, l := range c.loss {
		switch {
		case l > loss || math.IsNaN(l):
			continue
		case k == 0 || !(c.loss[k-1] > l):
			return cost[k], true
		}
		part := (c.loss[k-1] - loss) / (c.loss[k-1] - l)
		return cost[k-1] + part*(cost[k]-cost[k-1]), true
	}
	return cost[len(cost)-1], false
}

func (r *Run) curve(trial string) (c curve, err error) {
	return readCurve(r.Files, r.Path, trial)
}

func readCurve(fsys files.FS, folder, trial string) (c curve, err error) {
	t, err := results.ReadStream(fsys, filepath.Join(folder, trial, "epochs.csv"))
	if err != nil {
		return c, err
	}
	for _, column := range []struct {
		name string
		to   *[]float64
	}{{"epoch", &c.epoch}, {"validation_loss", &c.loss},
		{"time", &c.elapsed}, {"device_time", &c.time}, {"flop", &c.flop}} {
		if *column.to, err = t.Floats(column.name); err != nil {
			return c, err
		}
	}
	if len(c.loss) == 0 {
		return c, fmt.Errorf("no epochs in %s", filepath.Join(trial, "epochs.csv"))
	}
	return c, nil
}

// Reaches compares the cases of a sweep with a reference case, whose name is the argument "of". If the argument is the
// name of an arm in a sweep with swept values, each case is compared with the arm's case for the same values.
func (r *Run) Reaches(o *SweepOutcome, of string) (list []Reach, err error) {
	plan, err := ReadSweepPlan(r.Files, r.Path)
	if err != nil {
		return nil, err
	}
	pairs, known := plan.reaching(o, of)
	if !known {
		return nil, failure.Usagef("option \"reach\" is %q, but %s has no case or arm of this name", of, r.Path)
	}
	curves := map[string]curve{}
	for _, pair := range pairs {
		for _, c := range pair {
			if err := r.addCurves(curves, c); err != nil {
				return nil, err
			}
		}
	}
	for _, pair := range pairs {
		list = append(list, reachOf(pair[0], pair[1], curves))
	}
	return list, nil
}

// reaching pairs the ended cases with their reference cases. It reports whether the reference case or arm exists.
func (p *SweepPlan) reaching(o *SweepOutcome, of string) (pairs [][2]*CaseOutcome, known bool) {
	for _, base := range p.references(of) {
		known = true
		for _, a := range p.arms() {
			c, reference := o.Case(a.Plan.Name), o.Case(base.Plan.Name)
			comparable := base.Plan.Name == of || slices.Equal(a.Swept, base.Swept)
			if comparable && c != nil && reference != nil && c != reference {
				pairs = append(pairs, [2]*CaseOutcome{c, reference})
			}
		}
	}
	return pairs, known
}

// references returns the case with a name or, if there is none, the cases of the arm with this name.
func (p *SweepPlan) references(of string) (list []*SweepArm) {
	for _, a := range p.arms() {
		if a.Plan.Name == of {
			return []*SweepArm{a}
		}
		if a.Arm == of {
			list = append(list, a)
		}
	}
	return list
}

// addCurves reads the loss curves of a case's trials that are not read yet.
func (r *Run) addCurves(curves map[string]curve, c *CaseOutcome) (err error) {
	for _, t := range c.Trials {
		if _, read := curves[t.Folder]; read {
			continue
		}
		if curves[t.Folder], err = r.curve(t.Folder); err != nil {
			return fmt.Errorf("read the loss curve of %s, seed %d: %w", c.Name, t.Seed, err)
		}
	}
	return nil
}

func reachOf(c, base *CaseOutcome, curves map[string]curve) Reach {
	r := Reach{Case: c.Name, Of: base.Name}
	var times, flops, losses, firsts []float64
	for _, t := range c.Trials {
		for _, other := range base.Trials {
			if other.Seed != t.Seed {
				continue
			}
			own, theirs := curves[t.Folder], curves[other.Folder]
			time, reached := own.until(theirs.last(), own.time)
			flop, _ := own.until(theirs.last(), own.flop)
			theirTime, _ := theirs.until(theirs.last(), theirs.time)
			theirFLOP, _ := theirs.until(theirs.last(), theirs.flop)
			firsts = append(firsts, theirTime/theirs.time[len(theirs.time)-1])
			times, flops, losses = append(times, time/theirTime), append(flops, flop/theirFLOP),
				append(losses, own.last()-theirs.last())
			r.Trials++
			if reached {
				r.Reached++
			}
		}
	}
	r.Time, r.FLOP = known(times, stat.FromZero), known(flops, stat.FromZero)
	r.Loss, r.First = known(losses, stat.Unbounded), FiniteOrNil(stat.Mean(firsts))
	return r
}

// known returns the mean of values with its interval; nil without values, and if a value is not finite, because a cost
// of zero means unknown.
func known(values []float64, of stat.Range) *stat.OverSeeds {
	if len(values) == 0 || slices.ContainsFunc(values, func(v float64) bool { return !stat.Finite(v) }) {
		return nil
	}
	s := stat.NewOverSeeds(values, 0.05, of)
	return &s
}

// LossCurve is the validation loss of a trial over time.
type LossCurve struct {
	curve
	epochs int // number of whole epochs; a job that stops within an epoch has one more point
}

// LossCurves reads the curves of all trials of a sweep.
func LossCurves(fsys files.FS, folder string, o *SweepOutcome) (list []LossCurve, err error) {
	for k := range o.Cases {
		for _, t := range o.Cases[k].Trials {
			c, err := readLossCurve(fsys, folder, t.Folder)
			if err != nil {
				return nil, fmt.Errorf("read the loss curve of %s, seed %d: %w", o.Cases[k].Name, t.Seed, err)
			}
			list = append(list, c)
		}
	}
	return list, nil
}

func readLossCurve(fsys files.FS, folder, trial string) (c LossCurve, err error) {
	if c.curve, err = readCurve(fsys, folder, trial); err != nil {
		return c, err
	}
	job := &JobOutcome{Outcome: &trainer.Outcome{}}
	if err := results.ReadOutcome(fsys, filepath.Join(folder, trial), job); err != nil {
		return c, err
	}
	c.epochs = len(c.loss)
	if last := c.epoch[c.epochs-1]; int(last) == job.Epochs {
		c.epochs--
	}
	return c, nil
}

// Share returns the time until a trial reaches the loss of a reference trial after its last whole epoch, relative to
// the reference trial's own time until this loss. If the trial does not reach it, its whole time counts.
func (c LossCurve) Share(of LossCurve) (share float64, reached bool) {
	own, reached := c.until(of.Last(), c.elapsed)
	return own / of.First(), reached
}

// First returns the seconds after which a trial first has the loss of its last whole epoch. It is less than the time of
// this epoch if the loss rises again.
func (c LossCurve) First() float64 {
	first, _ := c.until(c.Last(), c.elapsed)
	return first
}

// Within returns the curve with only the whole epochs that end within a number of seconds, or the first one.
func (c LossCurve) Within(seconds float64) LossCurve {
	for c.epochs > 1 && c.elapsed[c.epochs-1] > seconds {
		c.epochs--
	}
	return c
}

// Epochs returns the number of whole epochs.
func (c LossCurve) Epochs() int { return c.epochs }

// Last returns the loss after the last whole epoch, or the only loss of a job without a whole epoch.
func (c LossCurve) Last() float64 { return c.loss[max(0, c.epochs-1)] }
