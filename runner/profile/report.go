package profile

import (
	"graft/trainer/clock"
)

// Report is a profile, with the prediction of each measurement by its rates. `graft profile --json` prints it. Times
// are in seconds.
type Report struct {
	File     string             `json:"file,omitempty"` // written file
	Name     string             `json:"name"`           // name of the profile
	Device   string             `json:"device"`         // device, as text
	Made     Made               `json:"made"`           // conditions of the measurement
	Networks []Network          `json:"networks"`       // measured networks
	Step     map[string]float64 `json:"step_rates"`     // rates of a step of training
	Batch    map[string]float64 `json:"batch_rates"`    // rates of a batch of evaluation
	// rates of a training step of a network that runs as a graph; absent means step_rates
	GraphStep map[string]float64 `json:"graph_step_rates,omitempty"`
	GraphEval map[string]float64 `json:"graph_batch_rates,omitempty"` // rates of a batch of its evaluation
	Decision  Cost               `json:"decision"`                    // cost of a decision
	Surgery   Cost               `json:"operation"`                   // cost of an operation on a network
	// part of a step that does not shrink with more devices
	Alone   float64 `json:"communication_share"`
	Fitted  int     `json:"fitted_networks"` // zero if the rates were not fitted
	LeftOut Misses  `json:"left_out"`        // errors for networks left out one by one
	// errors for networks left out together with their adapted variants
	NewToThem Misses         `json:"new"`
	Profile   *clock.Profile `json:"-"` // reported profile
}

// Made records how a profile was measured.
type Made struct {
	Date      string `json:"date"`      // date of the measurement
	Graft     string `json:"graft"`     // version of graft
	Torch     string `json:"torch"`     // version of LibTorch
	Device    string `json:"device"`    // measured device
	Threads   int    `json:"threads"`   // threads of an operator
	Rounds    int    `json:"rounds"`    // rounds, each of which measured every network once
	Optimizer string `json:"optimizer"` // optimizer of the steps
	Exact     bool   `json:"exact"`     // whether PyTorch's order of operations was kept
	Steady    bool   `json:"steady"`    // whether bits were independent of the number of threads
}

// Network is a network and a batch.
type Network struct {
	Network     string `json:"network"`     // network with the actions that made it
	Fingerprint string `json:"fingerprint"` // identifier of the network
	Batch       int    `json:"batch"`       // examples per step, and per batch of evaluation
	Step        Time   `json:"step"`        // a step of training
	Evaluation  Time   `json:"evaluation"`  // a batch of evaluation
}

// Time holds a measured time and its prediction by the rates.
type Time struct {
	Seconds float64  `json:"seconds"` // measured time
	Spread  float64  `json:"spread"`  // half the distance between the quartiles
	Fitted  *float64 `json:"fitted"`  // predicted time; null if there are no rates, or the network's size is unknown
	Off     *float64 `json:"off"`     // relative to the measured time; null as Fitted
}

// Cost holds the time of a decision or an operation.
type Cost struct {
	Seconds float64 `json:"seconds"` // duration
	Spread  float64 `json:"spread"`  // half the distance between the quartiles
}

// Misses hold the errors of the rates, as shares of the measured times.
type Misses struct {
	Step       Miss `json:"step"`       // error for a training step
	Evaluation Miss `json:"evaluation"` // error for a batch of evaluation
}

// Miss holds the error of the rates for one kind of work.
type Miss struct {
	Median  float64 `json:"median"`  // median error, relative to the measured time
	Worst   float64 `json:"worst"`   // largest error, relative to the measured time
	Network string  `json:"network"` // network with the largest error
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
