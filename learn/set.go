package learn

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"graft/learn/dense"
)

// SetOptions holds the options of an agent that chooses one candidate, or none, from a set of any size. An observation
// starts with the globals, followed by the features of each candidate.
type SetOptions struct {
	// number of values that describe the state, and number of features per candidate; required
	Globals, Features int
	Hidden            int     // width of the hidden layers; zero means 32
	Rate              float64 // learning rate of Adam; zero means 0.001
	Eps               float64 // epsilon of Adam; zero means 1e-5
	// Batches creates a Batcher for a network. If Batches is nil, batches are computed in Go. Single states are always
	// computed in Go.
	Batches func(n *dense.Network) (dense.Batcher, error)
}

// Set is a [Model] that scores a candidate by the product of the candidate's embedding and a query that depends on the
// state, as pointer networks do (Vinyals, Fortunato and Jaitly, NeurIPS 2015). The candidates can have any order, and
// their number can vary. The query, the value and the score of choosing no candidate are computed from the globals and
// the mean of the candidates. A candidate that has not changed since the previous state is not embedded again, because
// most actions change only one candidate.
type Set struct {
	o         SetOptions
	nets      [3]*dense.Network // embedding, query with the score of taking none, value
	passes    [3]*dense.Pass    // for single states
	batches   [3]dense.Batcher
	optimizer *dense.Adam
	changes   *int // number of changes of the parameters, shared by twins
	seen      seen // candidates of the last Score
	batch     seenBatch
}

// Networks of a Set.
const (
	ofCandidates = iota
	ofQueries
	ofValues
)

// NewSet creates an agent with random parameters.
func NewSet(o SetOptions, random *rand.Rand) (*Set, error) {
	o.Hidden = cmp.Or(o.Hidden, 32)
	if o.Batches == nil {
		o.Batches = dense.Batches
	}
	m := &Set{o: o, optimizer: &dense.Adam{Rate: cmp.Or(o.Rate, 1e-3), Eps: cmp.Or(o.Eps, 1e-5), Corrected: true},
		changes: new(int)}
	inputs, outputs := [3]int{o.Features, o.Globals + o.Features, o.Globals + o.Features},
		[3]int{o.Hidden, o.Hidden + 1, 1}
	for k, gain := range []float64{ofCandidates: 1, ofQueries: 0.01, ofValues: 1} {
		var err error
		m.nets[k], err = dense.New(inputs[k], random, dense.Full{Width: o.Hidden, Gain: math.Sqrt2}, dense.ReLU{},
			dense.Full{Width: o.Hidden, Gain: math.Sqrt2}, dense.ReLU{}, dense.Full{Width: outputs[k], Gain: gain})
		if err != nil {
			return nil, fmt.Errorf("create a model that scores candidates: %w", err)
		}
		if m.batches[k], err = o.Batches(m.nets[k]); err != nil {
			return nil, fmt.Errorf("create a model that scores candidates: %w", err)
		}
		m.passes[k] = m.nets[k].NewPass(1)
	}
	return m, nil
}

// Twin returns an agent that shares the weights, for use in another goroutine.
func (m *Set) Twin() Agent {
	twin := *m
	for k, n := range m.nets {
		twin.passes[k] = n.NewPass(1)
	}
	twin.seen, twin.batch = seen{}, seenBatch{}
	return &twin
}

// Score returns the logits and the value of one state.
func (m *Set) Score(o Observation) (logits []float64, value float64) {
	if m.seen.changes != *m.changes {
		m.seen = seen{changes: *m.changes}
	}
	m.look(&m.seen, o)
	pooled := m.pool(nil, o)
	query := m.passes[ofQueries].Forward(pooled)
	logits = make([]float64, len(m.seen.places)+1)
	for k, at := range m.seen.places {
		logits[k] = dense.Dot(query[:m.o.Hidden], m.seen.embedding(at, m.o.Hidden))
	}
	logits[len(logits)-1] = query[m.o.Hidden]
	return logits, m.passes[ofValues].Forward(pooled)[0]
}

// pool appends the globals and the mean of the candidates.
func (m *Set) pool(to []float64, o Observation) []float64 {
	globals, rows := o.Values[:m.o.Globals], o.Values[m.o.Globals:]
	to = append(to, globals...)
	at, n := len(to), float64(len(rows)/m.o.Features)
	to = append(to, make([]float64, m.o.Features)...)
	mean := to[at:]
	for ; len(rows) > 0; rows = rows[len(mean):] {
		for k, v := range rows[:len(mean)] {
			mean[k] += v
		}
	}
	for k := range mean {
		mean[k] /= max(1, n)
	}
	return to
}

// Forward returns the logits and values of a batch of states. The last logit of a state scores the choice of no
// candidate. Forward is fastest if consecutive states of an episode are consecutive in the batch.
func (m *Set) Forward(states []Observation) (logits [][]float64, values []float64) {
	b := &m.batch
	b.reset()
	for _, o := range states {
		b.find(o.Values[m.o.Globals:], m.o.Features)
		b.pooled = m.pool(b.pooled, o)
	}
	h := m.o.Hidden
	b.embeddings, b.queries = m.batches[ofCandidates].Forward(b.rows), m.batches[ofQueries].Forward(b.pooled)
	for k, places := range b.places {
		query, row := b.queries[k*(h+1):][:h+1], make([]float64, len(places)+1)
		for i, at := range places {
			row[i] = dense.Dot(query[:h], b.embeddings[at*h:][:h])
		}
		row[len(places)] = query[h]
		logits = append(logits, row)
	}
	return logits, m.batches[ofValues].Forward(b.pooled)
}

// Descend takes an optimizer step with Adam.
func (m *Set) Descend(logits [][]float64, values []float64, clip float64) error {
	gradients, err := m.gradients(logits, values)
	if err != nil {
		return err
	}
	dense.ClipNorm(gradients, clip)
	*m.changes++
	return m.optimizer.Step(params(m.nets[:]), gradients)
}

// gradients returns the gradients of all parameters, given the derivatives by the results of the last Forward.
func (m *Set) gradients(logits [][]float64, values []float64) (all [][]float64, err error) {
	b, h := &m.batch, m.o.Hidden
	slopes := [3][]float64{make([]float64, len(b.embeddings)), make([]float64, len(b.queries)), values}
	for k, places := range b.places {
		query, ofQuery := b.queries[k*(h+1):][:h], slopes[ofQueries][k*(h+1):][:h+1]
		for i, at := range places {
			if slope := logits[k][i]; slope != 0 {
				dense.AddScaled(ofQuery[:h], slope, b.embeddings[at*h:][:h])
				dense.AddScaled(slopes[ofCandidates][at*h:][:h], slope, query)
			}
		}
		ofQuery[h] = logits[k][len(places)]
	}
	for k, n := range m.nets {
		own := n.NewGradients()
		if err := m.batches[k].Backward(slopes[k], own); err != nil {
			return nil, err
		}
		all = append(all, own...)
	}
	return all, nil
}
