package curves

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"graft/internal/stat"
	"graft/internal/words"
	"graft/model"
	"graft/net2net"
	"graft/simulation/tables"
)

// folds is the number of parts of a table; each part is predicted from the others.
const folds = 4

// least is the smallest number of sequences of a fit, which has eight parameters and at least two points per sequence.
const least = 8

// Fit fits a curve to the sequences of a table, which begin with a network.
func Fit(t *tables.Table, n *model.Network) (*Curve, error) {
	chance, err := chanceOf(n)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", t.Name, err)
	}
	paths, err := pathsOf(t)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", t.Name, err)
	}
	c := fit(paths, chance)
	c.Name, c.Actions, c.First = t.Name, t.Decisions, paths[0].shares[0]
	c.Fit = judge(paths, chance)
	return c, nil
}

// chanceOf returns the error of random answers of a network.
func chanceOf(n *model.Network) (float64, error) {
	out, err := n.Output()
	if err != nil {
		return 0, err
	}
	if classes := out[len(out)-1]; classes > 1 {
		return 1 - 1/float64(classes), nil
	}
	return 0, errors.New("the network has a single output; expected a classifier")
}

// path is a sequence of a table: parts between growths, and the accuracies at their ends.
type path struct {
	name   string
	shares []float64 // share of the budget of each part
	steps  []float64 // time of a step in each part
	before []Network // network of each part
	kind   []int     // growth after each part; negative for none
	errors []float64 // error at the end of each part, NaN if the job had not evaluated yet; the last one is final
	noise  float64   // standard error of the final accuracy; zero for one seed
}

// pathsOf reads the sequences of a table.
func pathsOf(t *tables.Table) (paths []path, err error) {
	for k := range t.Records {
		r := &t.Records[k]
		if len(r.Step) != t.Decisions || len(r.Before) != t.Decisions || r.LastStep <= 0 || r.Step[0] <= 0 {
			return nil, fmt.Errorf("sequence %s has no step times or no accuracies before its decisions; simulate the "+
				"scenario again", tables.Tuple(r.Sequence))
		}
		p := path{name: tables.Tuple(r.Sequence)}
		if n := len(r.Accuracy); n > 1 {
			p.noise = stat.Deviation(r.Accuracy) / math.Sqrt(float64(n))
		}
		network, at := Network{}, t.Budget
		for d, action := range r.Sequence {
			before := math.NaN()
			if r.Before[d] > 0 {
				before = 1 - r.Before[d]
			}
			p.part(at-r.Left[d], r.Step[d], network, before, t.Budget)
			kind, err := kindOf(action)
			if err != nil {
				return nil, err
			}
			p.kind, at = append(p.kind, kind), r.Left[d]
			if kind >= 0 {
				network = network.Grown(Kind(kind))
			}
		}
		p.part(at, r.LastStep, network, 1-r.Mean(), t.Budget)
		paths = append(paths, p)
	}
	if len(paths) < least {
		return nil, fmt.Errorf("got %s; expected at least %d", words.Plural(len(paths), "sequence"), least)
	}
	return paths, nil
}

func (p *path) part(seconds, step float64, n Network, e, budget float64) {
	p.shares, p.steps = append(p.shares, seconds/budget), append(p.steps, step)
	p.before, p.errors = append(p.before, n), append(p.errors, e)
}

// kindOf returns the way in which an action grows a network; negative for none.
func kindOf(action string) (int, error) {
	a, err := net2net.ParseAction(action)
	switch {
	case err != nil:
		return 0, err
	case a.Kind == net2net.None:
		return -1, nil
	case strings.HasPrefix(string(a.Kind), "deepen"):
		return int(Deepen), nil
	}
	return int(Widen), nil
}

// follow predicts the error at the end of each part.
func (c *Curve) follow(p *path) (list []float64) {
	e := c.Chance
	for k, share := range p.shares {
		e = c.Train(p.before[k], e, share)
		list = append(list, e)
		if k < len(p.kind) && p.kind[k] >= 0 {
			e = c.Grow(Kind(p.kind[k]), e)
		}
	}
	return list
}

// judge predicts every sequence from the sequences of the other folds.
func judge(paths []path, chance float64) Quality {
	q := Quality{Sequences: len(paths)}
	best, chosen, lowest, never := math.Inf(1), 0.0, math.Inf(1), math.NaN()
	for fold := range folds {
		here, rest := split(paths, fold)
		c, mean := fit(rest, chance), 0.0
		for k := range rest {
			mean += rest[k].final() / float64(len(rest))
		}
		for k := range here {
			p := &here[k]
			predicted, final := last(c.follow(p)), p.final()
			q.Error += math.Abs(predicted - final)
			q.Constant += math.Abs(mean - final)
			q.Noise += p.noise
			if predicted < lowest {
				lowest, chosen = predicted, final
			}
			if best = min(best, final); last(p.before).Total() == 0 {
				never = final
			}
		}
	}
	n := float64(len(paths)) / 100 // in points
	q.Error, q.Constant, q.Noise = q.Error/n, q.Constant/n, q.Noise/n
	q.Regret = 100 * (chosen - best)
	if !math.IsNaN(never) {
		q.Never = 100 * (never - best)
	}
	return q
}

// split returns the sequences of a fold, and the others. Folds have equal sizes, and digests of the sequences choose
// them, so that neighbouring sequences are not in one fold.
func split(paths []path, fold int) (here, rest []path) {
	digest := func(p path) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(p.name))) }
	sorted := slices.SortedFunc(slices.Values(paths), func(a, b path) int {
		return cmp.Compare(digest(a), digest(b))
	})
	for k, p := range sorted {
		if k%folds == fold {
			here = append(here, p)
		} else {
			rest = append(rest, p)
		}
	}
	return here, rest
}

func last[T any](list []T) T { return list[len(list)-1] }

func (p *path) final() float64 { return last(p.errors) }

// powers are the exponents that a fit tries.
var powers = []float64{0.5, 1, 2}

// Weights of the residuals. The final accuracy is what predictions are for; accuracies before decisions, which are
// evaluations in the middle of an epoch, guide the fit.
const (
	finalWeight  = 2
	beforeWeight = 0.5
	priorWeight  = 0.02 // pulls the effects of growth towards none, and decides where a table has no such growth
	usualLoss    = -4   // logarithm of a usual loss: about 2% of the gained accuracy
	lossWeight   = 0.3  // of priorWeight
	usualMost    = 10   // magnitude of initial terms beyond which curves hardly change
	fitSteps     = 60
)

// fit fits a curve, with the exponent that fits best.
func fit(paths []path, chance float64) *Curve {
	step := stepsOf(paths)
	var best *Curve
	least := math.Inf(1)
	for _, power := range powers {
		made := func(x []float64) *Curve {
			return &Curve{Chance: chance, Power: power, Step: step, Rate: Terms{x[0], x[1], x[2]},
				Floor: Terms{x[3], x[4], x[5]}, Loss: Terms{0, x[6], x[7]}}
		}
		x, sum := stat.Fit(func(x []float64) []float64 { return made(x).residuals(paths) },
			[]float64{0.5, 0, 0, 0, 0, 0, usualLoss, usualLoss}, fitSteps)
		if sum < least {
			best, least = made(x), sum
		}
	}
	return best
}

func (c *Curve) residuals(paths []path) (r []float64) {
	for k := range paths {
		p := &paths[k]
		list := c.follow(p)
		for i, e := range list[:len(list)-1] {
			if !math.IsNaN(p.errors[i]) {
				r = append(r, beforeWeight*(e-p.errors[i]))
			}
		}
		r = append(r, finalWeight*(last(list)-p.final()))
	}
	for _, term := range []float64{c.Rate.Initial, c.Floor.Initial} {
		r = append(r, priorWeight*max(0, math.Abs(term)-usualMost))
	}
	for _, effect := range []float64{c.Rate.Deepen, c.Rate.Widen, c.Floor.Deepen, c.Floor.Widen} {
		r = append(r, priorWeight*effect)
	}
	return append(r, priorWeight*lossWeight*(c.Loss.Deepen-usualLoss), priorWeight*lossWeight*(c.Loss.Widen-usualLoss))
}

// stepsOf fits the logarithm of step times, relative to the initial network.
func stepsOf(paths []path) Terms {
	x, _ := stat.Fit(func(x []float64) (r []float64) {
		for _, p := range paths {
			for k, n := range p.before {
				r = append(r, x[0]*float64(n[Deepen])+x[1]*float64(n[Widen])-math.Log(p.steps[k]/p.steps[0]))
			}
		}
		return append(r, priorWeight*x[0], priorWeight*x[1])
	}, []float64{0, 0}, fitSteps)
	return Terms{Deepen: x[0], Widen: x[1]}
}
