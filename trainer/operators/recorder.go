package operators

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"graft/internal/stat"
	"graft/model"
	"graft/torch"
)

// Recorder collects the times of operators in graft's own training steps, over several networks and batch sizes.
type Recorder struct {
	path     Path
	order    []same // operators in the order in which they were measured first
	calls    map[same]*recorded
	networks map[*model.Network]bool // measured networks
}

// recorded holds the times of a call, for each measurement of a network.
type recorded struct {
	call  Call
	times [pointTimes][]timed
}

// timed holds the seconds of a call and of the reference around it.
type timed struct{ seconds, reference float64 }

// NewRecorder creates a recorder for a path of graft: Exact or Fast.
func NewRecorder(p Path) *Recorder {
	return &Recorder{path: p, calls: map[same]*recorded{}, networks: map[*model.Network]bool{}}
}

// Whole holds the seconds of a step and of an evaluation whose operators are not timed. Zero means not measured.
type Whole struct {
	Step, Evaluation float64
	// Reference is the time of a step of another network, which is always the same, around the measurement. Zero means
	// unknown.
	Reference float64
}

// Add adds the measured steps of a network on a batch, and its measured evaluations of a batch of the same size. The
// times of the operators are scaled so that their sums are the whole times. A network may be added several times.
func (r *Recorder) Add(n *model.Network, rows int, steps, evaluations []torch.StepTimes, whole Whole) error {
	calls, err := r.path.calls(n, rows)
	if err != nil {
		return err
	}
	samples := map[same]*[pointTimes][]float64{}
	for k, all := range [][]torch.StepTimes{steps, evaluations} {
		for i := range all {
			if err := addStep(calls, &all[i], k == 1, n.Graph != nil, samples); err != nil {
				return fmt.Errorf("times of %s: %w", n.Name(), err)
			}
		}
	}
	scales := whole.scales(calls, samples)
	for k := range calls {
		at := calls[k].same()
		s := samples[at]
		if s == nil {
			continue // it was added with the first equal call
		}
		delete(samples, at)
		if r.calls[at] == nil {
			r.calls[at], r.order = &recorded{call: calls[k]}, append(r.order, at)
		}
		for i, list := range s {
			if len(list) > 0 {
				one := timed{scales[i] * lowerQuartile(list), whole.Reference}
				r.calls[at].times[i] = append(r.calls[at].times[i], one)
			}
		}
	}
	r.networks[n] = true
	return nil
}

// scales returns what the times of operators are multiplied by. A step takes longer than the sum of the lower quartiles
// of its operators, because some operator is usually slower than usual, and measuring takes time.
func (w Whole) scales(calls []Call, samples map[same]*[pointTimes][]float64) (scales [pointTimes]float64) {
	var sums [pointTimes]float64
	for k := range calls {
		if s := samples[calls[k].same()]; s != nil {
			for i, list := range s {
				if len(list) > 0 {
					sums[i] += lowerQuartile(list)
				}
			}
		}
	}
	step, evaluation := sums[forwardTime]+sums[backwardTime], sums[evaluationTime]
	scales = [pointTimes]float64{1, 1, 1}
	if w.Step > 0 && step > 0 {
		scales[forwardTime] = w.Step / step
		scales[backwardTime] = scales[forwardTime]
	}
	if w.Evaluation > 0 && evaluation > 0 {
		scales[evaluationTime] = w.Evaluation / evaluation
	}
	return scales
}

// addStep adds the mean times of equal calls in a step to their samples. The rest of a step, such as removing
// gradients, takes time for each operator and each parameter.
func addStep(calls []Call, t *torch.StepTimes, evaluation, sizes bool, to map[same]*[pointTimes][]float64) error {
	times, rest, err := divideStep(calls, t, evaluation)
	if err == nil && rest > 0 && !sizes {
		err = fmt.Errorf("the listed layers lack %v of the forward pass", time.Duration(rest*1e9))
	}
	if err != nil {
		return err
	}
	sums, counts := map[same][2]float64{}, map[same]float64{}
	each := (t.Rest + rest) / float64(len(calls))
	for k := range times {
		at := calls[k].same()
		sum := sums[at]
		sums[at], counts[at] = [2]float64{sum[0] + times[k][0] + each, sum[1] + times[k][1]}, counts[at]+1
	}
	for at, sum := range sums {
		if to[at] == nil {
			to[at] = &[pointTimes][]float64{}
		}
		s := to[at]
		if evaluation {
			s[evaluationTime] = append(s[evaluationTime], sum[0]/counts[at])
			continue
		}
		s[forwardTime] = append(s[forwardTime], sum[0]/counts[at])
		s[backwardTime] = append(s[backwardTime], sum[1]/counts[at])
	}
	return nil
}

// divideStep returns the times of calls in a step, forward and backward, and the time of instructions that belong to no
// call, such as the sizes that graphs compute. The listed calls must be the ones that the compiled network runs.
func divideStep(calls []Call, t *torch.StepTimes, evaluation bool) (times [][2]float64, rest float64, err error) {
	updates := t.Updates
	for _, seconds := range t.Forward {
		rest += seconds
	}
	times = make([][2]float64, len(calls))
	for k := range calls {
		c, to := &calls[k], &times[k]
		switch {
		case c.Name == Updating && evaluation:
			continue
		case c.Name == Updating && len(updates) > 0:
			to[0], updates = updates[0], updates[1:]
		case c.Name == batching:
			to[0] = t.Batch
		case c.Name == losing:
			to[0] = t.Loss
		case c.Name != Updating && c.from+c.length <= len(t.Forward):
			for i := c.from; i < c.from+c.length; i++ {
				to[0], to[1] = to[0]+t.Forward[i], to[1]+t.Backward[i]
			}
			rest -= to[0]
		}
		if to[0] == 0 {
			return nil, 0, fmt.Errorf("%s of %s did not run", c.Name, c.Place)
		}
	}
	if len(updates) > 0 {
		return nil, 0, fmt.Errorf("the optimizer has %d parameters too many", len(updates))
	}
	return times, max(0, rest-rounding), nil
}

// rounding is above the errors of sums of times in seconds.
const rounding = 1e-9

// lowerQuartile is the value for repeated measurements, because interruptions can only make a step slower.
func lowerQuartile(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return stat.Quantile(list, 0.25)
}

// Maximum number of points that a device keeps of an operator. Operators that take most of the time of steps keep more.
const (
	keptPoints = 384
	keptOthers = 96
)

// Device returns the measured times. The argument quiet is the time of the reference while no other program slows the
// machine down; zero means unknown.
func (r *Recorder) Device(quiet float64) *Device {
	d, all := &Device{Path: r.path, Format: pointFormat, Networks: len(r.networks)}, map[string][]*recorded{}
	for _, key := range r.order {
		if all[key.name] == nil {
			d.Operators = append(d.Operators, Operator{Name: key.name})
		}
		all[key.name] = append(all[key.name], r.calls[key])
	}
	for k := range d.Operators {
		o := &d.Operators[k]
		kept := keptOthers
		if keepsMore(o.Name) {
			kept = keptPoints
		}
		var points []point
		for _, of := range all[o.Name] {
			points = append(points, pointOf(o.Name, of.call.sizes, false))
		}
		for _, at := range spread(points, kept) {
			o.Points = append(o.Points, all[o.Name][at].measured(quiet).text())
		}
	}
	return d
}

// spread returns the indices of at most count points, in order. Each next point is the one that is farthest from all
// chosen points (Gonzalez, Clustering to Minimize the Maximum Intercluster Distance, 1985), so they cover rare sizes
// too.
func spread(points []point, count int) (chosen []int) {
	nearest := make([]float64, len(points)) // squared distances from the chosen points
	for k := range nearest {
		nearest[k] = math.Inf(1)
	}
	for next := 0; len(chosen) < min(count, len(points)); {
		chosen = append(chosen, next)
		for k := range points {
			nearest[k] = min(nearest[k], distance(&points[k], &points[next]))
		}
		nearest[next] = -1 // not again
		for k := range nearest {
			if nearest[k] > nearest[next] {
				next = k
			}
		}
	}
	slices.Sort(chosen)
	return chosen
}

// keepsMore reports whether an operator takes so much of the time of steps that more of its points are kept. The calls
// around the network's operators take much of short steps.
func keepsMore(name string) bool {
	_, heavy := operationRate(name)
	return heavy || strings.HasPrefix(name, norming) || around(base(name))
}

// measured returns the medians of the times, divided by the slowdown of the reference: if other programs slow the
// machine down, the times of all networks grow by about the same factor. Without a reference, other programs only make
// times longer, and the lower quartiles count.
func (r *recorded) measured(quiet float64) *measured {
	m, middle := &measured{call: r.call}, lowerQuartile
	if quiet > 0 {
		middle = stat.Median
	}
	for k, all := range r.times {
		var list []float64
		for _, t := range all {
			if quiet > 0 && t.reference > quiet {
				t.seconds *= quiet / t.reference
			}
			list = append(list, t.seconds)
		}
		if len(list) > 0 {
			m.times[k] = middle(list)
		}
	}
	return m
}
