package goodput

import "math"

// Measured holds the times of a step, measured on one set of devices.
type Measured struct {
	// number of nodes, number of devices, and number of examples that a device processes at once
	Nodes, Devices, Device int
	Compute, Step          float64 // seconds for the gradients alone, and for the whole step without accumulation
}

// parameters is the number of parameters of a [Speed].
const parameters = 7

// vector holds the parameters of a [Speed], in its order.
type vector [parameters]float64

// Indexes in a vector of parameters.
const (
	computeStart = iota
	computeExample
	nodesStart
	nodesDevice
	nodeStart
	nodeDevice
	overlap
)

func (v vector) speed() Speed { return Speed{v[0], v[1], v[2], v[3], v[4], v[5], v[6]} }

// problem is a fit: a start and bounds.
type problem struct {
	rows             []Measured
	logs             []times // logarithms of the measured times
	start, low, high vector
}

type times struct{ compute, step float64 }

// Weights of the penalties that keep parameters near likely values, as in Pollux.
const (
	overlapWeight = 1e-3
	networkWeight = 1e-2
)

// newProblem returns the fit of measurements. Parameters that the measurements do not determine are fixed.
func newProblem(rows []Measured) *problem {
	inf := math.Inf(1)
	p := &problem{rows, make([]times, len(rows)), vector{0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.001},
		vector{tiny, tiny, tiny, tiny, tiny, tiny, 1}, vector{inf, inf, inf, inf, inf, inf, 10}}
	oneBatch, oneNode, oneNodeOnly, most, compute := true, false, true, 0, 0.0
	for k, r := range rows {
		p.logs[k] = times{math.Log(r.Compute), math.Log(r.Step)}
		oneBatch = oneBatch && r.Device == rows[0].Device
		oneNode = oneNode || r.Nodes == 1 && r.Devices > 1
		oneNodeOnly = oneNodeOnly && r.Nodes <= 1
		most = max(most, r.Devices)
		compute += r.Compute
	}
	if oneBatch {
		p.fix(compute/float64(len(rows))/2, computeStart)
	}
	if oneNodeOnly {
		p.fix(tiny, nodesStart, nodesDevice)
	}
	if !oneNode {
		p.fix(tiny, nodeStart, nodeDevice)
	}
	if most <= 2 {
		p.fix(tiny, nodesDevice, nodeDevice)
	}
	return p
}

func (p *problem) fix(value float64, places ...int) {
	for _, k := range places {
		p.start[k], p.low[k], p.high[k] = value, value, value
	}
}

// objective returns the error of parameters and its gradient. The error is the root-mean-square error of the logarithms
// of both times, plus the distance of the parameters from likely values. A root of zero adds no gradient.
func (p *problem) objective(v vector) (float64, vector) {
	var computeSquares, stepSquares float64
	var computeSlope, stepSlope vector
	s := v.speed()
	for k, r := range p.rows {
		compute, network := s.compute(float64(r.Device)), s.network(r.Nodes, r.Devices)
		computeLog, networkLog := math.Log(compute), math.Log(network)
		off := computeLog - p.logs[k].compute
		computeSquares += off * off
		computeSlope[computeStart] += off / compute
		computeSlope[computeExample] += off / compute * float64(r.Device)

		a, b := math.Exp(v[overlap]*computeLog), math.Exp(v[overlap]*networkLog)
		log := math.Log(a + b)
		off = log/v[overlap] - p.logs[k].step
		stepSquares += off * off
		byCompute, byNetwork := off*a/(a+b)/compute, off*b/(a+b)/network
		stepSlope[computeStart] += byCompute
		stepSlope[computeExample] += byCompute * float64(r.Device)
		extra := max(float64(r.Devices-2), tiny)
		switch {
		case r.Nodes > 1:
			stepSlope[nodesStart] += byNetwork
			stepSlope[nodesDevice] += byNetwork * extra
		case r.Devices > 1:
			stepSlope[nodeStart] += byNetwork
			stepSlope[nodeDevice] += byNetwork * extra
		}
		stepSlope[overlap] += off * ((a*computeLog+b*networkLog)/(a+b) - log/v[overlap]) / v[overlap]
	}
	n := float64(len(p.rows))
	computeRoot, stepRoot := math.Sqrt(computeSquares/n), math.Sqrt(stepSquares/n)
	var slope vector
	for k := range slope {
		if computeRoot > 0 {
			slope[k] += computeSlope[k] / n / computeRoot
		}
		if stepRoot > 0 {
			slope[k] += stepSlope[k] / n / stepRoot
		}
	}
	nodes, node := v[nodesDevice]/v[nodesStart], v[nodeDevice]/v[nodeStart]
	slope[overlap] += 2 * overlapWeight * (v[overlap] - 1)
	slope[nodesDevice] += 2 * networkWeight * nodes / v[nodesStart]
	slope[nodesStart] -= 2 * networkWeight * nodes * nodes / v[nodesStart]
	slope[nodeDevice] += 2 * networkWeight * node / v[nodeStart]
	slope[nodeStart] -= 2 * networkWeight * node * node / v[nodeStart]
	value := computeRoot + stepRoot + overlapWeight*(v[overlap]-1)*(v[overlap]-1) +
		networkWeight*(nodes*nodes+node*node)
	return value, slope
}

// nodesOverNode is the minimum ratio of synchronisation time between nodes to that within a node, if no measurement
// spans nodes.
const nodesOverNode = 1.1

// Fit returns the parameters whose predictions are closest to the measured times. It needs at least one measurement;
// all times must be above zero.
func Fit(rows []Measured) Speed {
	p := newProblem(rows)
	v := p.minimum()
	if p.high[nodesStart] == tiny {
		v[nodesStart] = max(v[nodesStart], nodesOverNode*v[nodeStart])
		v[nodesDevice] = max(v[nodesDevice], nodesOverNode*v[nodeDevice])
	}
	return v.speed()
}
