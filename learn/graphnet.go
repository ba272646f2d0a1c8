package learn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"graft/internal/validate"
	"graft/learn/dense"
)

// Graph is a directed graph whose nodes and edges have features.
type Graph struct {
	Nodes [][]float64 // feature values of each node
	Edges [][2]int    // source and target of each edge, as indexes in Nodes
	Ties  [][]float64 // feature values of each edge
}

// GraphOptions holds the options of an agent that reads a graph.
type GraphOptions struct {
	Graphs []Graph // graphs to which observations refer; required
	// number of values in an observation in addition to its graph, and number of actions; required
	Globals, Actions int
	Rounds           int     // number of message-passing rounds; zero means 2
	Message          int     // number of values per message, even; zero means 32
	Hidden           int     // number of values per node between rounds; zero means 64
	Out              int     // number of values in the graph's embedding; zero means 16
	GlobalOut        int     // number of values in the globals' embedding; zero means 8
	Head             int     // width of the hidden layers for logits and value; zero means 256
	ZeroSources      bool    // sets the values of nodes without incoming edges to zero
	Rate             float64 // learning rate of Adam; zero means 0.0003
	Eps              float64 // epsilon of Adam; zero means 1e-5
}

func (o *GraphOptions) ensureDefaults() {
	for v, value := range map[*int]int{&o.Rounds: 2, &o.Message: 32, &o.Hidden: 64, &o.Out: 16, &o.GlobalOut: 8,
		&o.Head: 256} {
		*v = cmp.Or(*v, value)
	}
}

func (o *GraphOptions) validate() error {
	if len(o.Graphs) == 0 {
		return errors.New("got no graphs; expected at least one")
	}
	if o.Message%2 != 0 {
		return fmt.Errorf("message size is %d; must be even", o.Message)
	}
	node, tie := 0, 0
	for k, g := range o.Graphs {
		if len(g.Nodes) == 0 || len(g.Ties) == 0 || len(g.Edges) != len(g.Ties) {
			return fmt.Errorf("graph %d has %d nodes, %d edges and features for %d edges; expected at least one node, "+
				"at least one edge, and features for every edge", k, len(g.Nodes), len(g.Edges), len(g.Ties))
		}
		node, tie = cmp.Or(node, len(g.Nodes[0])), cmp.Or(tie, len(g.Ties[0]))
		for at, e := range g.Edges {
			if e[0] < 0 || e[1] < 0 || e[0] >= len(g.Nodes) || e[1] >= len(g.Nodes) || len(g.Ties[at]) != tie {
				return fmt.Errorf("graph %d, edge %d connects nodes %d and %d and has %d features; "+
					"expected nodes from 0 to %d, and %d features", k, at, e[0], e[1], len(g.Ties[at]),
					len(g.Nodes)-1, tie)
			}
		}
		for at, n := range g.Nodes {
			if len(n) != node {
				return fmt.Errorf("graph %d, node %d: got %d features, expected %d", k, at, len(n), node)
			}
		}
	}
	return nil
}

// GraphNet is a [Model] that passes messages along the edges of a graph and averages the resulting node values, as
// PAC-ML does (Parsonson et al., 2023). The first value of an observation is the index of its graph in the options. The
// global values follow this index. Each graph is read once per batch, even if several observations refer to it.
type GraphNet struct {
	o         GraphOptions
	rounds    []round
	nets      []*dense.Network // all networks, in the order of Params
	globals   *dense.Network
	logits    *dense.Network
	value     *dense.Network
	optimizer *dense.Adam
	changes   *int // number of changes of the parameters, shared by twins

	readings   []*reading // by graph; nil if the graph was not read
	last       []Observation
	globalPass *dense.Pass
	logitPass  *dense.Pass
	valuePass  *dense.Pass
}

// round holds the networks of a round of messages.
type round struct{ node, tie, reduce *dense.Network }

// NewGraphNet creates an agent with random parameters. Hidden layers for logits and values are initialized to
// orthogonal matrices, as in [NewMLP].
func NewGraphNet(o GraphOptions, random *rand.Rand) (*GraphNet, error) {
	o.ensureDefaults()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("create an agent for graphs: %w", err)
	}
	m := &GraphNet{o: o, optimizer: &dense.Adam{Rate: cmp.Or(o.Rate, 3e-4), Eps: cmp.Or(o.Eps, 1e-5), Corrected: true},
		changes: new(int)}
	var faults validate.Faults
	add := func(inputs int, layers ...dense.Layer) *dense.Network {
		n, err := dense.New(inputs, random, layers...)
		faults, m.nets = append(faults, err), append(m.nets, n)
		return n
	}
	read := func(inputs, width int) *dense.Network {
		return add(inputs, dense.LayerNorm{}, dense.Full{Width: width, Gain: math.Sqrt2}, dense.ReLU{})
	}
	inputs := len(o.Graphs[0].Nodes[0])
	for k := range o.Rounds {
		outputs := o.Hidden
		if k == o.Rounds-1 {
			outputs = o.Out
		}
		m.rounds = append(m.rounds, round{read(inputs, o.Message/2), read(len(o.Graphs[0].Ties[0]), o.Message/2),
			read(o.Message, outputs)})
		inputs = outputs
	}
	m.globals = add(o.Globals, dense.LayerNorm{}, dense.Full{Width: o.GlobalOut, Gain: 1})
	head := func(outputs int, gain float64) *dense.Network {
		return add(o.Out+o.GlobalOut, dense.Full{Width: o.Head, Gain: math.Sqrt2}, dense.ReLU{},
			dense.Full{Width: outputs, Gain: gain})
	}
	m.logits, m.value = head(o.Actions, 0.01), head(1, 1)
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("create an agent for graphs: %w", err)
	}
	m.fresh()
	return m, nil
}

// fresh allocates its own memory.
func (m *GraphNet) fresh() {
	m.readings, m.last = make([]*reading, len(m.o.Graphs)), nil
	m.room(1)
}

func (m *GraphNet) room(batch int) {
	m.globalPass, m.logitPass, m.valuePass = m.globals.NewPass(batch), m.logits.NewPass(batch), m.value.NewPass(batch)
}

// Twin returns an agent that shares the weights, for use in another goroutine.
func (m *GraphNet) Twin() Agent {
	twin := *m
	twin.fresh()
	return &twin
}

// Params returns the parameters. In each round, nodes, edges and messages each have a normalization and a layer. A
// normalization and a layer for the globals follow, then two layers for the logits and two layers for the value.
func (m *GraphNet) Params() [][]float64 { return params(m.nets) }

// Score returns the logits and the value of one state.
func (m *GraphNet) Score(o Observation) (logits []float64, value float64) {
	all, values := m.Forward([]Observation{o})
	return all[0], values[0]
}

// Embedding returns the vector that the network computes from an observation's graph and global values.
func (m *GraphNet) Embedding(o Observation) []float64 { return m.embed([]Observation{o}) }

func (m *GraphNet) embed(states []Observation) (inputs []float64) {
	if len(states) > m.globalPass.Room() {
		m.room(len(states))
	}
	var globals []float64
	for _, s := range states {
		globals = append(globals, s.Values[1:]...)
	}
	globals = m.globalPass.Forward(globals)
	for k, s := range states {
		inputs = append(append(inputs, m.reading(int(s.Values[0])).mean...),
			globals[k*m.o.GlobalOut:][:m.o.GlobalOut]...)
	}
	return inputs
}

// reading returns the embedding of a graph.
func (m *GraphNet) reading(graph int) *reading {
	if m.readings[graph] == nil {
		m.readings[graph] = newReading(m, &m.o.Graphs[graph])
	}
	if r := m.readings[graph]; r.changes != *m.changes || r.mean == nil {
		r.forward(m.rounds)
		r.changes = *m.changes
	}
	return m.readings[graph]
}

// Forward returns the logits and values of a batch of states.
func (m *GraphNet) Forward(states []Observation) (logits [][]float64, values []float64) {
	inputs := m.embed(states)
	m.last = states
	all := m.logitPass.Forward(inputs)
	for k := range states {
		logits = append(logits, all[k*m.o.Actions:][:m.o.Actions])
	}
	return logits, m.valuePass.Forward(inputs)
}

// Descend takes an optimizer step with Adam.
func (m *GraphNet) Descend(logits [][]float64, values []float64, clip float64) error {
	gradients := m.gradients(logits, values)
	dense.ClipNorm(gradients, clip)
	*m.changes++
	return m.optimizer.Step(m.Params(), gradients)
}

// gradients returns the gradients of all parameters, given the derivatives by the results of the last Forward.
func (m *GraphNet) gradients(logits [][]float64, values []float64) [][]float64 {
	var flat []float64
	for _, row := range logits {
		flat = append(flat, row...)
	}
	all := make([][]float64, 0, len(m.nets)*4)
	own := make([][][]float64, len(m.nets))
	for k, n := range m.nets {
		own[k] = n.NewGradients()
		all = append(all, own[k]...)
	}
	of := own[len(own)-3:] // globals, logits, value
	width := m.o.Out + m.o.GlobalOut
	slopes, more := make([]float64, len(logits)*width), make([]float64, len(logits)*width)
	m.logitPass.BackwardTo(slopes, flat, of[1])
	m.valuePass.BackwardTo(more, values, of[2])
	dense.AddScaled(slopes, 1, more)
	var ofGlobals []float64
	ofGraphs := map[int][]float64{}
	for k, s := range m.last {
		graph, row := int(s.Values[0]), slopes[k*width:][:width]
		if ofGraphs[graph] == nil {
			ofGraphs[graph] = make([]float64, m.o.Out)
		}
		dense.AddScaled(ofGraphs[graph], 1, row[:m.o.Out])
		ofGlobals = append(ofGlobals, row[m.o.Out:]...)
	}
	m.globalPass.Backward(ofGlobals, of[0])
	for graph := range m.readings {
		if slope := ofGraphs[graph]; slope != nil {
			m.readings[graph].backward(m.rounds, slope, own)
		}
	}
	return all
}

func (m *GraphNet) networks() []*dense.Network { return m.nets }
func (m *GraphNet) adam() *dense.Adam          { return m.optimizer }
func (m *GraphNet) changed()                   { *m.changes++ }
