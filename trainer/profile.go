package trainer

import (
	"errors"
	"fmt"
	"math"
	"time"

	"graft/net2net"
)

// Profile says how long work takes on a device. The zero Profile says nothing and
// is refused.
type Profile struct {
	Name     string        // how it is asked for
	Device   string        // what was measured
	Measured []Measurement // networks that were run
	Costs    Costs         // for all others
}

// Measurement is what a network took. Seconds are medians.
type Measurement struct {
	Network      string  // the class that it prints as, for people
	Fingerprint  string  // of its architecture
	Batch        int     // examples in a step and in a batch of evaluation
	StepSeconds  float64 // a step of training
	StepSpread   float64 // half the distance between the quartiles, in seconds
	BatchSeconds float64 // a batch of evaluation
	BatchSpread  float64 // as StepSpread
}

// Costs is a model of what work takes, for networks that were not measured: a part
// for the step, one for each layer with weights, and parts for what is computed,
// written and moved. Zero parts cost nothing.
type Costs struct {
	StepSeconds        float64 // for a step of training, whatever the network
	BatchSeconds       float64 // for a batch of evaluation
	ExampleSeconds     float64 // for each example, of a step and of a batch
	LayerSeconds       float64 // for each layer with weights, in a step
	OperationSeconds   float64 // for each floating-point operation forward, in a step
	ParameterSeconds   float64 // for each parameter, in a step
	EvaluationShare    float64 // of the parts for layers and operations, in evaluation; zero means a third
	DecisionSeconds    float64 // for a decision
	SurgerySeconds     float64 // for an operation
	CommunicationShare float64 // of a step that more devices do not make shorter; zero means none
}

// Validate lists all that is wrong with a profile.
func (p *Profile) Validate() error {
	var faults []error
	if p.Name == "" {
		faults = append(faults, errors.New("a profile has a name"))
	}
	c := p.Costs
	for name, seconds := range map[string]float64{"step_seconds": c.StepSeconds, "batch_seconds": c.BatchSeconds, "example_seconds": c.ExampleSeconds,
		"layer_seconds": c.LayerSeconds, "operation_seconds": c.OperationSeconds, "parameter_seconds": c.ParameterSeconds,
		"decision_seconds": c.DecisionSeconds, "surgery_seconds": c.SurgerySeconds} {
		if !(seconds >= 0) || math.IsInf(seconds, 0) {
			faults = append(faults, fmt.Errorf("%s is %v; it is at least zero", name, seconds))
		}
	}
	if c.StepSeconds+c.ExampleSeconds+c.LayerSeconds+c.OperationSeconds == 0 {
		faults = append(faults, errors.New("a step of training costs nothing"))
	}
	if c.CommunicationShare < 0 || c.CommunicationShare > 1 || c.EvaluationShare < 0 {
		faults = append(faults, errors.New("a share lies between 0 and 1"))
	}
	for _, m := range p.Measured {
		if m.Batch < 1 || !(m.StepSeconds > 0) || !(m.BatchSeconds > 0) {
			faults = append(faults, fmt.Errorf("the measurement of %s says no time for a batch of %d", m.Network, m.Batch))
		}
	}
	return errors.Join(faults...)
}

// Cost is what one piece of work takes. It is a whole number of nanoseconds, so
// that many pieces take the same however they are counted together.
func (p *Profile) Cost(w Work) time.Duration {
	seconds := p.seconds(w)
	if devices := float64(max(1, w.Devices)); w.Kind == Steps || w.Kind == Batches {
		alone := p.Costs.CommunicationShare
		seconds *= alone + (1-alone)/devices
	}
	return max(1, time.Duration(math.Round(seconds*float64(time.Second))))
}

func (p *Profile) seconds(w Work) float64 {
	switch w.Kind {
	case Deciding:
		return p.Costs.DecisionSeconds
	case Surgery:
		return p.Costs.SurgerySeconds
	}
	if m := p.measured(w); m != nil {
		if w.Kind == Steps {
			return m.StepSeconds
		}
		return m.BatchSeconds
	}
	return p.Costs.estimate(w)
}

func (p *Profile) measured(w Work) *Measurement {
	if len(p.Measured) == 0 {
		return nil
	}
	print := net2net.Fingerprint(w.Network)
	for k, m := range p.Measured {
		if m.Fingerprint == print && m.Batch == w.Rows {
			return &p.Measured[k]
		}
	}
	return nil
}

// estimate adds the parts up.
func (c Costs) estimate(w Work) float64 {
	rows, err := w.Network.Sheet()
	if err != nil {
		return c.StepSeconds
	}
	layers, operations, parameters := 0.0, 0.0, 0.0
	for _, r := range rows {
		operations += float64(r.Operations)
		parameters += float64(r.Parameters)
		if r.Parameters > 0 {
			layers++
		}
	}
	n := float64(w.Rows)
	inside := c.LayerSeconds*layers + c.OperationSeconds*operations*n
	if w.Kind == Steps {
		return c.StepSeconds + c.ExampleSeconds*n + inside + c.ParameterSeconds*parameters
	}
	share := c.EvaluationShare
	if share == 0 {
		share = 1.0 / 3
	}
	return c.BatchSeconds + c.ExampleSeconds*n + share*inside
}

// Profiles are those that come with graft.
func Profiles() []*Profile { return []*Profile{v100(), steady()} }

// FindProfile is the one of a name.
func FindProfile(name string) (*Profile, error) {
	var names string
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
		names += " " + p.Name
	}
	return nil, fmt.Errorf("there is no profile %q; there are%s", name, names)
}

// v100 is the node of the original experiments, a V100 of which the loader of its
// images was the bottleneck. It follows from the published epoch times at a batch
// of 64: 782 steps take 9.5 s with ConvNet2 and with ConvNet3, so 12.1 ms a step,
// of which the network has little; the 157 batches of the test take the other 1.6 s
// of the 11.2 s between decisions; a layer grown behind block 0 adds 0.35 s to an
// epoch and one behind block 1 0.2 s, so 0.3 ms a step of which half goes with the
// operations, 3.3 GFLOP and 0.6 GFLOP a step.
func v100() *Profile {
	return &Profile{Name: "v100-original", Device: "Tesla V100, batch of 64, 50,000 images of CIFAR-10", Costs: Costs{
		StepSeconds: 11.4e-3, BatchSeconds: 9.9e-3, LayerSeconds: 0.11e-3, OperationSeconds: 3e-14, EvaluationShare: 0.1,
		DecisionSeconds: 0.08, SurgerySeconds: 0.01}}
}

// steady is a round number for everything, for tests and demonstrations.
func steady() *Profile {
	return &Profile{Name: "steady", Device: "no device: 10 ms a step, 5 ms a batch of evaluation, 1 ms for each layer with weights", Costs: Costs{
		StepSeconds: 5e-3, BatchSeconds: 5e-3, LayerSeconds: 1e-3, DecisionSeconds: 10e-3, SurgerySeconds: 10e-3, EvaluationShare: 0.5}}
}
