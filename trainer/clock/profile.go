package clock

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"graft/internal/validate"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer/operators"
)

// Profile holds the costs of training and evaluation on a device: measured times of networks, and rates per unit of
// work for other networks. The zero Profile is invalid.
type Profile struct {
	Version int    // version of the format; zero means 1, the only version
	Name    string // name that selects the profile
	Device  string // description of the measured device
	// electrical power of the device under load, in watts, such as its board power; zero means unknown
	Watts    float64
	Made     Provenance    // origin of the measurements; zero means that the profile was written by hand
	Costs    Costs         // costs of decisions and surgery, and rates for networks that were not measured
	Fit      Fit           // errors of the rates; zero means that the rates were not fitted
	Measured []Measurement // measured networks
	// measured times of several processes that train together; if empty, costs.exchange_seconds or
	// costs.communication_share determines the times of several devices
	Processes []Processes
	// measured times of a network's operators, from which the times of its grown versions are predicted; if empty, they
	// are predicted from the rates
	Operators operators.Table
	// measured times of operators in graft's own steps on the device, from which the times of any network are
	// predicted; if empty, they are predicted from Operators or from the rates
	GraftOperators operators.Device
	// constants of a GPU from which the times of any network are computed, if graft never ran on the device; empty
	// means that measurements or rates predict them
	Computed operators.Roofline

	predictor *operators.Predictor // fit of the operators; nil means that each prediction fits them again
	sizes     *knownSizes          // sizes of networks; nil means that they are computed again
}

// Listing returns the profile's name and a one-line description.
func (p *Profile) Listing() (name, about string) { return p.Name, p.Device }

// MostRows is the maximum batch size, far above any useful batch size.
const MostRows = 1 << 16

// profileVersion is the format version that is written.
const profileVersion = 1

// Provenance describes how a profile was measured.
type Provenance struct {
	Date    string // date such as 2026-01-31; empty means unknown
	Graft   string // version of graft; empty means unknown
	Torch   string // version of LibTorch; empty means unknown
	Device  string // name of the device: cpu, cuda:N or InsideProgram; empty means unknown
	Threads int    // number of threads per operator on the CPU; zero means unknown
	// vector instructions on the CPU: native or avx2; empty means unknown
	Instructions string
	Rounds       int    // number of rounds over which medians were taken; zero means unknown
	Optimizer    string // update rule of the measured steps, such as adam; empty means unknown
	Exact        bool   // uses PyTorch's order of operations; false means the fast path
	Steady       bool   // measured steady steps, whose results do not depend on the number of threads
	// number format of convolutions and linear layers; empty means float32
	Precision string
	// number of small networks whose operators were measured only while other programs slowed the machine down
	Disturbed int
}

// NumberFormat returns the number format of the measured steps.
func (m Provenance) NumberFormat() string { return cmp.Or(m.Precision, torch.Single.String()) }

// InsideProgram is the device name in profiles that were measured inside an external training program.
const InsideProgram = "program"

// Measurement holds the measured times of a network at one batch size. Times are medians in seconds, and spreads are
// half the interquartile ranges.
type Measurement struct {
	Network      string           // name of the network before Actions
	Actions      []net2net.Action // actions applied to the network; nil means none
	Fingerprint  string           // fingerprint of the network's architecture
	Batch        int              // number of examples per step and per evaluation batch
	StepSeconds  float64          // time of a training step in seconds
	StepSpread   float64          // spread of the time of a training step in seconds
	BatchSeconds float64          // time of an evaluation batch in seconds
	BatchSpread  float64          // spread of the time of an evaluation batch in seconds
	// Times in seconds that measured operators predict for a step and for an evaluation batch; zero means that no
	// operators were measured. The ratio of the measured time to this time corrects predictions for related networks.
	StepPredictedSeconds, BatchPredictedSeconds float64
	// class of networks that grow from the same network, named after that network; empty means the name in Network
	Class string
	// whether the network is a graph of operators, such as an imported network; false means a tree of layers
	Graph bool
	Size  // amounts of work of the network; zero excludes the network from fits
}

// String returns the name of the network with its actions.
func (m Measurement) String() string { return subjectText(m.Network, m.Actions) }

// EnsureDefaults fills unset fields, and fits a model to the measured times of operators.
func (p *Profile) EnsureDefaults() {
	p.Version = cmp.Or(p.Version, profileVersion)
	if p.HasOperators() && p.Operators.Validate() == nil && p.GraftOperators.Validate() == nil &&
		p.Computed.Validate() == nil {
		p.predictor, p.sizes = p.newPredictor(), &knownSizes{known: map[string]Size{}}
	}
}

// fitted returns the fit of the operators.
func (p *Profile) fitted() *operators.Predictor {
	if p.predictor == nil {
		return p.newPredictor()
	}
	return p.predictor
}

func (p *Profile) newPredictor() *operators.Predictor {
	switch {
	case p.measuresGraft():
		return operators.NewDevicePredictor(&p.GraftOperators)
	case p.Computed.On():
		return operators.NewRooflinePredictor(&p.Computed)
	}
	return operators.NewPredictor(&p.Operators)
}

func (p *Profile) measuresGraft() bool { return len(p.GraftOperators.Operators) > 0 }

// HasOperators reports whether the profile has measured or computed times of operators, from which the times of other
// networks are predicted.
func (p *Profile) HasOperators() bool {
	return len(p.Operators.Measured) > 0 || p.measuresGraft() || p.Computed.On()
}

// Predict returns the times of a network, predicted from the times of operators.
func (p *Profile) Predict(n *model.Network, rows int) (operators.Prediction, error) {
	return p.predict(n, net2net.Fingerprint(n), rows)
}

func (p *Profile) predict(n *model.Network, fingerprint string, rows int) (operators.Prediction, error) {
	made, err := p.fitted().Predict(n, fingerprint, rows)
	if err != nil {
		return made, fmt.Errorf("profile %s: %w", p.Name, err)
	}
	return made, nil
}

// Validate returns an error that lists every invalid value. An invalid measurement is reported as an ItemFault.
func (p *Profile) Validate() error {
	var faults validate.Faults
	faults.When(p.Version < 0 || p.Version > profileVersion, "version is %d; expected at most %d: "+
		"measure the device again, or use the version of graft that wrote the profile", p.Version, profileVersion)
	faults.When(p.Name == "", "the profile has no name; set name")
	faults = append(faults, positive("watts", p.Watts), p.Costs.Validate(), p.Operators.Validate(),
		p.GraftOperators.Validate(), p.Computed.Validate())
	faults = append(faults, p.processFaults()...)
	faults.When(len(p.Operators.Measured) > 0 && p.measuresGraft(), "operators and graft_operators are both set; "+
		"remove one of them")
	faults.When(p.Computed.On() && (len(p.Operators.Measured) > 0 || p.measuresGraft()), "computed and measured "+
		"operators are both set; remove one of them")
	faults.When(len(p.Measured) == 0 && !p.HasOperators() && p.Costs.Step == (Rates{}) && p.Costs.Batch == (Rates{}),
		"step is not set, batch is not set, and no network was measured; "+
			"measure the device with 'graft profile'")
	for k, m := range p.Measured {
		faults = append(faults, m.faults(k)...)
		for _, other := range p.Measured[:k] {
			if m.Fingerprint == other.Fingerprint && m.Batch == other.Batch {
				faults = append(faults, &ItemFault{List: "measured", Index: k, Key: "fingerprint",
					Text: fmt.Sprintf("duplicate measurement of %s with a batch of %d; remove one", m.String(),
						m.Batch)})
				break
			}
		}
	}
	return errors.Join(faults...)
}

// ItemFault is an error about an item of a list in a profile.
type ItemFault struct {
	List  string // key of the list in the file
	Index int    // index of the item, from 0
	Key   string // key in the item
	Text  string // description of the fault
}

// Error returns the index of the item in its list and the description of the fault.
func (f *ItemFault) Error() string { return fmt.Sprintf("%s[%d]: %s", f.List, f.Index, f.Text) }

func (m Measurement) faults(at int) (found validate.Faults) {
	bad := func(key, format string, args ...any) {
		found = append(found, &ItemFault{List: "measured", Index: at, Key: key, Text: fmt.Sprintf(format, args...)})
	}
	if m.Fingerprint == "" {
		bad("fingerprint", "fingerprint is missing")
	}
	if m.Batch < 1 || m.Batch > MostRows {
		bad("batch", "batch is %d; must be from 1 to %d", m.Batch, MostRows)
	}
	for _, s := range []struct {
		key   string
		value float64
		zero  bool // zero is valid
	}{{"step_seconds", m.StepSeconds, false}, {"batch_seconds", m.BatchSeconds, false},
		{"step_spread", m.StepSpread, true}, {"batch_spread", m.BatchSpread, true},
		{"step_predicted_seconds", m.StepPredictedSeconds, true},
		{"batch_predicted_seconds", m.BatchPredictedSeconds, true}} {
		if !(s.value >= 0) || math.IsInf(s.value, 0) || s.value == 0 && !s.zero {
			least := map[bool]string{true: "at least", false: "more than"}[s.zero]
			bad(s.key, "%s is %v; must be %s 0", s.key, s.value, least)
		}
	}
	for _, n := range []struct {
		key   string
		value int64
	}{{"layers", int64(m.Layers)}, {"operations", m.Operations}, {"grouped", m.Grouped}, {"bytes", m.Bytes},
		{"parameters", m.Parameters}, {"padding8", m.Padding8}, {"padding16", m.Padding16}} {
		if n.value < 0 {
			bad(n.key, "%s is %d; must be at least 0", n.key, n.value)
		}
	}
	return found
}

// Refit fits the rates per unit of work to the measurements, and sets Fit. If there are too few networks, the profile
// gets no rates.
func (p *Profile) Refit() {
	c, fit := fitCosts(p.Measured)
	p.Costs.Step, p.Costs.Batch, p.Costs.GraphStep, p.Costs.GraphBatch, p.Costs.ChannelBlock, p.Fit = c.Step, c.Batch,
		c.GraphStep, c.GraphBatch, c.ChannelBlock, fit
}

// Cost returns the time of one piece of work. It is a whole number of nanoseconds, so the sum over many pieces does not
// depend on grouping. Work without a known cost takes 1 ns, so call Knows first.
//
// If a step computes its batch in several parts, each part is charged as a whole step. The cost is an upper bound,
// because it includes the optimizer update once per part.
func (p *Profile) Cost(w Work) time.Duration {
	cost := p.compute(w)
	switch {
	case w.Devices <= 1 || w.Kind != Steps && w.Kind != Batches:
		return cost
	case len(p.Processes) > 0:
		return max(1, nanoseconds(p.together(cost.Seconds(), w)))
	case w.Kind == Batches:
		return cost
	}
	return cost + nanoseconds(p.Costs.ExchangeSeconds)
}

// compute is the cost without the exchange of gradients, which happens once per step, even if the step computes its
// batch in several parts.
func (p *Profile) compute(w Work) time.Duration {
	if part, whole, rest := w.parts(); whole > 1 || rest.Rows > 0 {
		cost := time.Duration(whole) * p.compute(part)
		if rest.Rows > 0 {
			cost += p.compute(rest)
		}
		return cost
	}
	seconds, _ := p.seconds(p.onDevice(w))
	if devices := float64(max(1, w.Devices)); w.Kind == Batches || w.Kind == Steps && !p.Divides() {
		alone := p.Costs.CommunicationShare
		seconds *= alone + (1-alone)/devices
	}
	return max(1, nanoseconds(seconds))
}

// nanoseconds rounds a time. It limits longer times than mostSeconds, which would overflow.
func nanoseconds(seconds float64) time.Duration {
	return time.Duration(math.Round(min(seconds, mostSeconds) * float64(time.Second)))
}

// Divides reports whether the time of a step of several devices follows from each device's share of the batch.
func (p *Profile) Divides() bool { return p.Costs.ExchangeSeconds > 0 || len(p.Processes) > 0 }

// onDevice returns the share of a step that one device takes if devices share its images.
func (p *Profile) onDevice(w Work) Work {
	if w.Kind == Steps && p.Divides() {
		devices := max(1, w.Devices)
		w.Rows = (w.Rows + devices - 1) / devices
	}
	return w
}

// Knows returns an error if the profile has neither a measurement nor rates for the work.
func (p *Profile) Knows(w Work) error {
	part, _, rest := w.parts()
	_, err := p.seconds(p.onDevice(part))
	if err == nil && rest.Rows > 0 {
		_, err = p.seconds(p.onDevice(rest))
	}
	return err
}

// Closed reports whether the profile covers only measured networks: it has neither rates per unit of work nor measured
// operators.
func (p *Profile) Closed() bool { return !p.hasRates() && !p.HasOperators() }

func (p *Profile) hasRates() bool { return p.Costs.Step != Rates{} && p.Costs.Batch != Rates{} }

// WidthIsFree reports whether a wider layer takes no additional time. This is the case if the profile has only rates,
// and the rates charge no time for operations, parameters and memory.
func (p *Profile) WidthIsFree() bool {
	r := p.Costs.Step
	return p.hasRates() && !p.HasOperators() && len(p.Measured) == 0 &&
		r.OperationSeconds+r.GroupedSeconds+r.ByteSeconds+r.ParameterSeconds == 0
}

// BatchIsFree reports whether a step on a larger batch takes no additional time. This is the case if WidthIsFree is
// true and the rates charge no time per example.
func (p *Profile) BatchIsFree() bool {
	r := p.Costs.Step
	return p.WidthIsFree() && r.ExampleSeconds == 0
}

// seconds is the measured time of a network. A network that was not measured is charged by the operators or, without
// operators, by the rates, corrected like its relatives. Outside the range of measured batch sizes, operators or rates
// scale the time at the nearest size.
func (p *Profile) seconds(w Work) (float64, error) {
	switch w.Kind {
	case Deciding:
		return p.Costs.DecisionSeconds, nil
	case Surgery:
		return p.Costs.SurgerySeconds, nil
	}
	time, rates := timeOfKind(w.Kind), p.Costs.rates(w.Kind, w.Network.Graph != nil)
	fingerprint := ""
	if len(p.Measured) > 0 || p.HasOperators() {
		fingerprint = net2net.Fingerprint(w.Network)
	}
	if same := p.measurements(fingerprint); len(same) > 0 && p.HasOperators() {
		return p.atBatch(same, w, fingerprint)
	} else if len(same) > 0 {
		if seconds, known := between(same, w.Rows, time, rates); known {
			return seconds, nil
		}
	}
	if p.HasOperators() {
		return p.predicted(w, fingerprint)
	}
	if rates == (Rates{}) {
		return 0, fmt.Errorf("profile %s has no measurement of this %s with a batch of %d, and no cost rates to "+
			"predict unmeasured networks; measure this network, or more networks, with 'graft profile'",
			p.Name, w.Network.Name(), w.Rows)
	}
	size, err := SizeOf(w.Network)
	if err != nil {
		return 0, fmt.Errorf("profile %s: %w", p.Name, err)
	}
	size = size.blocked(p.Costs.ChannelBlock)
	return rates.seconds(size, w.Rows) * correction(p.relatives(w.Network), size, w.Rows, time, rates), nil
}

func timeOfKind(k Kind) timeOf {
	if k == Batches {
		return batchTime
	}
	return stepTime
}

// measurements returns the measurements of a network, at any batch size.
func (p *Profile) measurements(fingerprint string) (same []Measurement) {
	for k := range p.Measured {
		if m := &p.Measured[k]; m.Fingerprint == fingerprint {
			same = append(same, *m)
			same[len(same)-1].Size = m.Size.blocked(p.Costs.ChannelBlock)
		}
	}
	return same
}

// Estimate returns the times, in seconds, that graft's measured operators predict for a measured network, or else the
// rates per unit of work: for a training step and for an evaluation batch. Both times are zero if the profile has
// neither.
func (p *Profile) Estimate(m Measurement) (step, batch float64) {
	if p.measuresGraft() {
		return m.StepPredictedSeconds, m.BatchPredictedSeconds
	}
	size := m.Size.blocked(p.Costs.ChannelBlock)
	return p.Costs.rates(Steps, m.Graph).seconds(size, m.Batch), p.Costs.rates(Batches, m.Graph).seconds(size, m.Batch)
}
