package profile

import (
	"graft/trainer/clock"
	"graft/trainer/operators"
)

// Report holds the measured times of a profile, and the times that the profile's rates per unit of work predict. Times
// are in seconds.
type Report struct {
	File     string             `json:"file,omitempty"` // path of the written file
	Name     string             `json:"name"`           // name of the profile
	Device   string             `json:"device"`         // description of the device
	Made     Made               `json:"made"`           // conditions of the measurement
	Networks []Network          `json:"networks"`       // measured networks
	Step     map[string]float64 `json:"step_rates"`     // rates of a training step
	Batch    map[string]float64 `json:"batch_rates"`    // rates of an evaluation batch
	// seconds per unit of work in a training step, for networks that run as graphs; if absent, step_rates applies to
	// these networks too
	GraphStep map[string]float64 `json:"graph_step_rates,omitempty"`
	// seconds per unit of work in an evaluation batch, for networks that run as graphs; if absent, batch_rates applies
	// to these networks too
	GraphEval map[string]float64 `json:"graph_batch_rates,omitempty"`
	Decision  Cost               `json:"decision"`  // time of a decision
	Surgery   Cost               `json:"operation"` // time of an operation of surgery
	// fraction of a step's time that additional devices do not shorten
	Alone float64 `json:"communication_share"`
	// number of networks to which the rates were fitted; zero if they were not fitted
	Fitted  int    `json:"fitted_networks"`
	LeftOut Misses `json:"left_out"` // errors of leave-one-out prediction
	// prediction errors for a network and its adapted variants, with rates fitted to the other networks
	NewToThem Misses `json:"new"`
	// measured groups of processes that train together; absent if none was measured
	Processes []Group `json:"processes,omitempty"`
	// errors of steps that operators predict for measured networks, by groups; absent without operators of graft
	Errors []GroupError `json:"errors,omitempty"`
	// errors of the small networks in which operators were measured; absent if no operators were measured now
	Small   *SmallErrors   `json:"small_networks,omitempty"`
	Profile *clock.Profile `json:"-"` // profile that is reported
}

// SmallErrors holds the errors of predicted steps of the small networks in which operators were measured. Each network
// is predicted from networks of other sizes.
type SmallErrors struct {
	Networks int     `json:"networks"`   // networks of different sizes
	Median   float64 `json:"median"`     // median relative error
	Ten      float64 `json:"one_in_ten"` // error that one network in ten exceeds
}

// NewSmallErrors returns the errors of the small networks; nil without operators of graft. It takes some seconds.
func NewSmallErrors(d *operators.Device) *SmallErrors {
	found := d.LeaveOut()
	if found.Networks == 0 {
		return nil
	}
	return &SmallErrors{found.Networks, found.Median, found.Ten}
}

// Group holds what was measured with several processes that train together.
type Group struct {
	Count    int     `json:"count"`    // number of processes
	Slowdown float64 `json:"slowdown"` // time of a process's share of a step, relative to the same work alone
	// time in seconds that processes wait for each other at an exchange
	Wait float64 `json:"wait_seconds"`
	// time in seconds to add the gradients of a million parameters
	Million float64 `json:"million_seconds"`
}

// GroupError holds the errors of predicted steps for a group of measured steps.
type GroupError struct {
	By     string  `json:"by"`     // what the group has in common: family, batch, growth or processes
	Value  string  `json:"value"`  // its value
	Steps  int     `json:"steps"`  // number of measured steps
	Median float64 `json:"median"` // median relative error
	Worst  float64 `json:"worst"`  // largest relative error
}

// Made records how a profile was measured.
type Made struct {
	Date      string `json:"date"`      // date of the measurement
	Graft     string `json:"graft"`     // version of graft
	Torch     string `json:"torch"`     // version of LibTorch
	Device    string `json:"device"`    // name of the device
	Threads   int    `json:"threads"`   // number of threads per operator
	Rounds    int    `json:"rounds"`    // number of rounds, each of which measured every network once
	Optimizer string `json:"optimizer"` // update rule of the steps
	Exact     bool   `json:"exact"`     // PyTorch's order of operations was kept
	Steady    bool   `json:"steady"`    // results did not depend on the number of threads
	// vector instructions on the CPU: native or avx2; empty means unknown
	Instructions string `json:"instructions"`
	// number format of convolutions and linear layers; absent for float32
	Precision string `json:"precision,omitempty"`
}

// Network holds the measured and predicted times of a network at one batch size.
type Network struct {
	Network     string `json:"network"`     // name of the network with the actions that made it
	Fingerprint string `json:"fingerprint"` // fingerprint of the network's architecture
	Batch       int    `json:"batch"`       // number of examples per training step and per evaluation batch
	Step        Time   `json:"step"`        // time of a training step
	Evaluation  Time   `json:"evaluation"`  // time of an evaluation batch
}

// Time holds a measured time and the time that the rates per unit of work predict.
type Time struct {
	Seconds float64  `json:"seconds"` // measured time
	Spread  float64  `json:"spread"`  // half the interquartile range of the measured time
	Fitted  *float64 `json:"fitted"`  // predicted time; null without rates, or if the network's size is unknown
	Off     *float64 `json:"off"`     // relative error of the predicted time; null without a prediction
}

// Cost holds the measured time of a decision or of surgery.
type Cost struct {
	Seconds float64 `json:"seconds"` // duration
	Spread  float64 `json:"spread"`  // half the interquartile range
}

// Misses holds the errors of the times predicted by the rates per unit of work, relative to the measured times.
type Misses struct {
	Step       Miss `json:"step"`       // error for a training step
	Evaluation Miss `json:"evaluation"` // error for an evaluation batch
}

// Miss holds the errors of the predicted times for one kind of work.
type Miss struct {
	Median  float64 `json:"median"`  // median error, relative to the measured time
	Worst   float64 `json:"worst"`   // largest error, relative to the measured time
	Network string  `json:"network"` // name of the network with the largest error
}

// NewReport creates the report of a profile. The argument file is the path of the profile's file; it is empty if the
// profile was neither read from a file nor saved.
func NewReport(p *clock.Profile, file string) *Report {
	m := p.Made
	r := &Report{File: file, Name: p.Name, Device: p.Device, Networks: []Network{},
		Step: rateMap(p.Costs.Step), Batch: rateMap(p.Costs.Batch),
		Made: Made{m.Date, m.Graft, m.Torch, m.Device, m.Threads, m.Rounds, m.Optimizer, m.Exact, m.Steady,
			m.Instructions, m.Precision},
		Decision: Cost{p.Costs.DecisionSeconds, p.Costs.DecisionSpread}, Surgery: Cost{p.Costs.SurgerySeconds,
			p.Costs.SurgerySpread}, Alone: p.Costs.CommunicationShare, Fitted: p.Fit.Networks,
		LeftOut:   Misses{Miss(p.Fit.Step), Miss(p.Fit.Batch)},
		NewToThem: Misses{Miss(p.Fit.NewStep), Miss(p.Fit.NewBatch)}, Profile: p}
	if p.Costs.GraphStep != (clock.Rates{}) {
		r.GraphStep, r.GraphEval = rateMap(p.Costs.GraphStep), rateMap(p.Costs.GraphBatch)
	}
	for k := range p.Processes {
		g := &p.Processes[k]
		r.Processes = append(r.Processes, Group{g.Count, g.Slowdown, g.WaitSeconds, g.Seconds(4e6)})
	}
	for _, e := range p.Errors() {
		r.Errors = append(r.Errors, GroupError(e))
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
