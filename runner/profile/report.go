package profile

import (
	"graft/trainer/clock"
)

// Report is a profile for people and programs, with what its rates say of each measurement.
// `graft profile --json` prints it. Times are in seconds.
type Report struct {
	File     string             `json:"file,omitempty"` // that was written
	Name     string             `json:"name"`           // of the profile
	Device   string             `json:"device"`         // that it is about, for people
	Made     Made               `json:"made"`           // how it came about
	Networks []Network          `json:"networks"`       // that were measured
	Step     map[string]float64 `json:"step_rates"`     // rates of a step of training
	Batch    map[string]float64 `json:"batch_rates"`    // rates of a batch of evaluation
	// of a step of a network that runs as a graph; missing: those of step_rates
	GraphStep map[string]float64 `json:"graph_step_rates,omitempty"`
	GraphEval map[string]float64 `json:"graph_batch_rates,omitempty"` // of a batch of its evaluation
	Decision  Cost               `json:"decision"`                    // what a decision costs
	Surgery   Cost               `json:"operation"`                   // what an operation on a network costs
	// part of a step that does not shrink with more devices
	Alone   float64 `json:"communication_share"`
	Fitted  int     `json:"fitted_networks"` // zero where the rates were not fitted
	LeftOut Misses  `json:"left_out"`        // of networks that were left out one by one
	// of those that were left out with all that they were adapted to
	NewToThem Misses         `json:"new"`
	Profile   *clock.Profile `json:"-"` // that it reports
}

// Made records how a profile was measured.
type Made struct {
	Date      string `json:"date"`      // when it was measured
	Graft     string `json:"graft"`     // the version that measured
	Torch     string `json:"torch"`     // the version of LibTorch
	Device    string `json:"device"`    // that was measured
	Threads   int    `json:"threads"`   // of an operator
	Rounds    int    `json:"rounds"`    // in each of which every network had its turn
	Optimizer string `json:"optimizer"` // of the steps
	Exact     bool   `json:"exact"`     // whether PyTorch's order of operations was kept
	Steady    bool   `json:"steady"`    // whether bits did not depend on the number of threads
}

// Network is a network and a batch.
type Network struct {
	Network     string `json:"network"`     // with the actions that made it
	Fingerprint string `json:"fingerprint"` // by which it is known again
	Batch       int    `json:"batch"`       // examples in a step, and in a batch of evaluation
	Step        Time   `json:"step"`        // a step of training
	Evaluation  Time   `json:"evaluation"`  // a batch of it
}

// Time holds a measured time and its prediction by the rates.
type Time struct {
	Seconds float64  `json:"seconds"` // that were measured
	Spread  float64  `json:"spread"`  // half the distance between the quartiles
	Fitted  *float64 `json:"fitted"`  // null where there are no rates, or the size of the network is not known
	Off     *float64 `json:"off"`     // of what was measured; null as Fitted
}

// Cost holds the time of a decision or an operation.
type Cost struct {
	Seconds float64 `json:"seconds"` // that it takes
	Spread  float64 `json:"spread"`  // half the distance between the quartiles
}

// Misses hold the errors of the rates, as shares of the measured times.
type Misses struct {
	Step       Miss `json:"step"`       // of a step of training
	Evaluation Miss `json:"evaluation"` // of a batch of evaluation
}

// Miss holds the error of the rates for one kind of work.
type Miss struct {
	Median  float64 `json:"median"`  // the middle one, as a share of what was measured
	Worst   float64 `json:"worst"`   // the largest, as a share of what was measured
	Network string  `json:"network"` // of which it is worst
}

// NewReport reports a profile, and the file that it was written to, if any.
func NewReport(p *clock.Profile, file string) *Report {
	m := p.Made
	r := &Report{File: file, Name: p.Name, Device: p.Device, Networks: []Network{},
		Step: rateMap(p.Costs.Step), Batch: rateMap(p.Costs.Batch),
		Made:     Made{m.Date, m.Graft, m.Torch, m.Device, m.Threads, m.Rounds, m.Optimizer, m.Exact, m.Steady},
		Decision: Cost{p.Costs.DecisionSeconds, p.Costs.DecisionSpread}, Surgery: Cost{p.Costs.SurgerySeconds,
			p.Costs.SurgerySpread}, Alone: p.Costs.CommunicationShare, Fitted: p.Fit.Networks,
		LeftOut:   Misses{Miss(p.Fit.Step), Miss(p.Fit.Batch)},
		NewToThem: Misses{Miss(p.Fit.NewStep), Miss(p.Fit.NewBatch)}, Profile: p}
	if p.Costs.GraphStep != (clock.Rates{}) {
		r.GraphStep, r.GraphEval = rateMap(p.Costs.GraphStep), rateMap(p.Costs.GraphBatch)
	}
	for _, m := range p.Measured {
		step, batch := p.Estimate(m)
		r.Networks = append(r.Networks, Network{Network: m.String(), Fingerprint: m.Fingerprint, Batch: m.Batch,
			Step:       newTime(m.StepSeconds, m.StepSpread, step),
			Evaluation: newTime(m.BatchSeconds, m.BatchSpread, batch)})
	}
	return r
}

func rateMap(r clock.Rates) map[string]float64 {
	rates := map[string]float64{}
	for k, name := range clock.RateNames() {
		rates[name] = r.List()[k]
	}
	return rates
}

func newTime(seconds, spread, fitted float64) Time {
	t := Time{Seconds: seconds, Spread: spread}
	if fitted > 0 {
		off := fitted/seconds - 1
		t.Fitted, t.Off = &fitted, &off
	}
	return t
}
