package clock

import (
	"math"
	"sync"

	"graft/internal/stat"
	"graft/model"
	"graft/net2net"
)

// predicted returns the time of a network that the operators predict, corrected by its measured relatives.
func (p *Profile) predicted(w Work, fingerprint string) (float64, error) {
	made, err := p.predict(w.Network, fingerprint, w.Rows)
	if err != nil {
		return 0, err
	}
	size := Size{}
	relatives := p.relatives(w.Network)
	if len(relatives) > 0 {
		if size, err = p.sizes.of(w.Network, fingerprint); err != nil {
			return 0, err
		}
	}
	seconds, ratio := made.Step, stepRatio
	if w.Kind == Batches {
		seconds, ratio = made.Forward, batchRatio
	}
	return seconds * ratioOf(relatives, size.blocked(p.Costs.ChannelBlock), w.Rows, ratio), nil
}

// atBatch returns the time of a measured network at any batch size. Outside the range of the measured sizes, the
// operators scale the time at the nearest size.
func (p *Profile) atBatch(same []Measurement, w Work, fingerprint string) (float64, error) {
	seconds, near, inside := interpolated(same, w.Rows, timeOfKind(w.Kind))
	if inside {
		return seconds, nil
	}
	to, err := p.predict(w.Network, fingerprint, w.Rows)
	if err != nil {
		return 0, err
	}
	from, err := p.predict(w.Network, fingerprint, near.Batch)
	if err != nil {
		return 0, err
	}
	if w.Kind == Batches {
		return seconds * to.Forward / from.Forward, nil
	}
	return seconds * to.Step / from.Step, nil
}

// knownSizes remembers the sizes of networks by fingerprint. It is safe for concurrent use.
type knownSizes struct {
	mutex sync.Mutex
	known map[string]Size
}

// mostSizes limits the remembered sizes.
const mostSizes = 1 << 12

// of returns the size of a network. If k is nil, it is not remembered.
func (k *knownSizes) of(n *model.Network, fingerprint string) (Size, error) {
	if k == nil {
		return SizeOf(n)
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if size, known := k.known[fingerprint]; known {
		return size, nil
	}
	size, err := SizeOf(n)
	if err != nil {
		return Size{}, err
	}
	if len(k.known) == mostSizes {
		clear(k.known)
	}
	k.known[fingerprint] = size
	return size, nil
}

// stepRatio returns the ratio of the measured to the predicted time of a step; zero if no time was predicted.
func stepRatio(m Measurement) float64 { return ratioTo(m.StepSeconds, m.StepPredictedSeconds) }

// batchRatio returns the ratio for an evaluation batch.
func batchRatio(m Measurement) float64 { return ratioTo(m.BatchSeconds, m.BatchPredictedSeconds) }

func ratioTo(measured, predicted float64) float64 {
	if predicted <= 0 {
		return 0
	}
	return measured / predicted
}

// ratioOf returns the ratio of relatives at their batch sizes nearest to the given one: a geometric mean, with the
// weights of [correction]. Without relatives it is 1.
func ratioOf(all []relative, of Size, rows int, ratio timeOf) float64 {
	sum, weights := 0.0, 0.0
	for _, ms := range all {
		near := ms[0]
		for _, m := range ms {
			if batchDistance(m.Batch, rows) < batchDistance(near.Batch, rows) {
				near = m
			}
		}
		if r := ratio(near); r > 0 {
			weight := math.Pow(near.Size.distance(of)+leastDistance, -4)
			sum, weights = sum+weight*math.Log(r), weights+weight
		}
	}
	if weights == 0 {
		return 1
	}
	return math.Exp(sum / weights)
}

func batchDistance(a, b int) float64 { return math.Abs(math.Log(float64(a) / float64(b))) }

// PredictMeasured stores the times that graft's operators predict for the measured networks, which are given by
// fingerprint, and the errors of these predictions. Networks that are not given are not predicted.
func (p *Profile) PredictMeasured(networks map[string]*model.Network) error {
	for k := range p.Measured {
		m := &p.Measured[k]
		n := networks[m.Fingerprint]
		if n == nil {
			continue
		}
		made, err := p.Predict(n, m.Batch)
		if err != nil {
			return err
		}
		m.StepPredictedSeconds, m.BatchPredictedSeconds = digits(made.Step), digits(made.Forward)
	}
	measured := blocked(p.Measured, p.Costs.ChannelBlock)
	p.Fit = Fit{Networks: networksIn(p.Measured), Step: missOfRatio(measured, stepRatio, true),
		Batch: missOfRatio(measured, batchRatio, true), NewStep: missOfRatio(measured, stepRatio, false),
		NewBatch: missOfRatio(measured, batchRatio, false)}
	return nil
}

// missOfRatio returns the errors of predictions by operators. If related is true, the other measured networks of the
// same class correct each prediction, and networks without such others are left out.
func missOfRatio(measured []Measurement, ratio timeOf, related bool) (e FitError) {
	var all []float64
	for _, m := range measured {
		r := ratio(m)
		if r == 0 {
			continue
		}
		corrected := 1.0
		if related {
			var others []relative
			for _, other := range relativesOf(measured, m.class(), m.Graph) {
				if other[0].Fingerprint != m.Fingerprint {
					others = append(others, other)
				}
			}
			if len(others) == 0 {
				continue
			}
			corrected = ratioOf(others, m.Size, m.Batch, ratio)
		}
		miss := math.Abs(corrected/r - 1)
		if all = append(all, miss); miss > e.Worst || e.Network == "" {
			e.Worst, e.Network = miss, m.String()
		}
	}
	if len(all) > 0 {
		e.Median = stat.Median(all)
	}
	return e
}

// Networks returns the networks of subjects by fingerprint.
func Networks(subjects []Subject) map[string]*model.Network {
	all := map[string]*model.Network{}
	for _, s := range subjects {
		all[net2net.Fingerprint(s.Network)] = s.Network
	}
	return all
}
