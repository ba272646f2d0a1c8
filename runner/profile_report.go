package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"graft/results/document"
	"graft/trainer"
)

// profileReport is what `graft profile --json` and `graft profile show --json`
// print. Times are in seconds.
type profileReport struct {
	File      string             `json:"file,omitempty"`      // that was written
	Name      string             `json:"name"`                // of the profile
	Device    string             `json:"device"`              // that it is about, for people
	Made      profileMade        `json:"made"`                // how it came about
	Networks  []profileNetwork   `json:"networks"`            // that were measured
	Step      map[string]float64 `json:"step_rates"`          // rates of a step of training
	Batch     map[string]float64 `json:"batch_rates"`         // rates of a batch of evaluation
	Decision  profileCost        `json:"decision"`            // what a decision costs
	Surgery   profileCost        `json:"operation"`           // what an operation on a network costs
	Alone     float64            `json:"communication_share"` // part of a step that does not shrink with more devices
	Fitted    int                `json:"fitted_networks"`     // zero where the rates were not fitted
	LeftOut   profileMisses      `json:"left_out"`            // of networks that were left out one by one
	NewToThem profileMisses      `json:"new"`                 // of those that were left out with all that they were adapted to
	Profile   *trainer.Profile   `json:"-"`                   // that it reports
}

// profileMade is how a profile was measured.
type profileMade struct {
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

// profileNetwork is a network and a batch.
type profileNetwork struct {
	Network     string      `json:"network"`     // with the actions that made it
	Fingerprint string      `json:"fingerprint"` // by which it is known again
	Batch       int         `json:"batch"`       // examples in a step, and in a batch of evaluation
	Step        profileTime `json:"step"`        // a step of training
	Evaluation  profileTime `json:"evaluation"`  // a batch of it
}

// profileTime is what was measured and what the rates say.
type profileTime struct {
	Seconds float64  `json:"seconds"` // that were measured
	Spread  float64  `json:"spread"`  // half the distance between the quartiles
	Fitted  *float64 `json:"fitted"`  // null where there are no rates, or the size of the network is not known
	Off     *float64 `json:"off"`     // of what was measured; null as Fitted
}

// profileCost is what a decision or an operation takes.
type profileCost struct {
	Seconds float64 `json:"seconds"` // that it takes
	Spread  float64 `json:"spread"`  // half the distance between the quartiles
}

func (c profileCost) text() string {
	if c.Spread == 0 {
		return milliseconds(c.Seconds) + " ms"
	}
	return milliseconds(c.Seconds) + " ± " + milliseconds(c.Spread) + " ms"
}

// profileMisses are how far rates are off, as shares of what was measured.
type profileMisses struct {
	Step       profileMiss `json:"step"`       // of a step of training
	Evaluation profileMiss `json:"evaluation"` // of a batch of evaluation
}

// profileMiss is how far rates are off one kind of work.
type profileMiss struct {
	Median  float64 `json:"median"`  // the middle one, as a share of what was measured
	Worst   float64 `json:"worst"`   // the largest, as a share of what was measured
	Network string  `json:"network"` // of which it is worst
}

func reportProfile(p *trainer.Profile, file string) *profileReport {
	m := p.Made
	r := &profileReport{File: file, Name: p.Name, Device: p.Device, Networks: []profileNetwork{}, Step: rateMap(p.Costs.Step), Batch: rateMap(p.Costs.Batch),
		Made:     profileMade{m.Date, m.Graft, m.Torch, m.Device, m.Threads, m.Rounds, m.Optimizer, m.Exact, m.Steady},
		Decision: profileCost{p.Costs.DecisionSeconds, p.Costs.DecisionSpread}, Surgery: profileCost{p.Costs.SurgerySeconds, p.Costs.SurgerySpread},
		Alone: p.Costs.CommunicationShare, Fitted: p.Fit.Networks,
		LeftOut:   profileMisses{profileMiss(p.Fit.Step), profileMiss(p.Fit.Batch)},
		NewToThem: profileMisses{profileMiss(p.Fit.NewStep), profileMiss(p.Fit.NewBatch)}, Profile: p}
	for _, m := range p.Measured {
		step, batch := p.Estimate(m.Size, m.Batch)
		r.Networks = append(r.Networks, profileNetwork{Network: m.String(), Fingerprint: m.Fingerprint, Batch: m.Batch,
			Step: newProfileTime(m.StepSeconds, m.StepSpread, step), Evaluation: newProfileTime(m.BatchSeconds, m.BatchSpread, batch)})
	}
	return r
}

func rateMap(r trainer.Rates) map[string]float64 {
	rates := map[string]float64{}
	for k, name := range trainer.RateNames() {
		rates[name] = r.List()[k]
	}
	return rates
}

func newProfileTime(seconds, spread, fitted float64) profileTime {
	t := profileTime{Seconds: seconds, Spread: spread}
	if fitted > 0 {
		off := fitted/seconds - 1
		t.Fitted, t.Off = &fitted, &off
	}
	return t
}

// print writes tables for people, or one object.
func (r *profileReport) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return document.PrintJSON(w, r)
	}
	var b strings.Builder // to write to it cannot fail
	fmt.Fprintln(&b, r.head())
	if len(r.Networks) > 0 {
		fmt.Fprintln(&b)
		_ = r.networkTable().Print(&b)
	}
	if r.Profile.Closed() {
		b.WriteString("\nThere are no rates: networks that were not measured cannot be charged.\n")
	} else {
		fmt.Fprintln(&b)
		_ = r.rateTable().Print(&b)
		b.WriteString(r.fitText())
	}
	fmt.Fprintf(&b, "\nA decision takes %s, an operation %s.\n", r.Decision.text(), r.Surgery.text())
	_, err := io.WriteString(w, b.String())
	return err
}

// head says what was measured and how.
func (r *profileReport) head() string {
	text := r.Name + ": " + r.Device
	m := r.Made
	if m.Date == "" {
		return text
	}
	path := "fast path"
	if m.Exact {
		path = "PyTorch's order of operations"
	}
	if m.Steady {
		path += ", steady"
	}
	return fmt.Sprintf("%s\nmeasured on %s by graft %s with LibTorch %s on %s: %d threads, %s, %s, medians of %d rounds", text, m.Date, m.Graft, m.Torch, m.Device, m.Threads, path, m.Optimizer, m.Rounds)
}

func (r *profileReport) networkTable() *document.Table {
	t := document.NewTable("NETWORK", ">BATCH", ">STEP ms", ">±", ">FITTED", ">OFF", ">EVALUATION ms", ">±", ">FITTED", ">OFF")
	for _, n := range r.Networks {
		t.Add(append(append([]string{document.Printable(n.Network), strconv.Itoa(n.Batch)}, n.Step.cells()...), n.Evaluation.cells()...)...)
	}
	return t
}

func (t profileTime) cells() []string {
	if t.Fitted == nil {
		return []string{milliseconds(t.Seconds), milliseconds(t.Spread), "-", "-"}
	}
	return []string{milliseconds(t.Seconds), milliseconds(t.Spread), milliseconds(*t.Fitted), fmt.Sprintf("%+.0f%%", 100**t.Off)}
}

// milliseconds has three digits, and no more decimals than they need.
func milliseconds(seconds float64) string {
	ms := 1e3 * seconds
	decimals := 3
	if ms >= 1 {
		decimals = max(0, 2-int(math.Floor(math.Log10(ms))))
	}
	return strconv.FormatFloat(ms, 'f', decimals, 64)
}

// rateTable shows rates for as much of each as takes a time that can be read.
func (r *profileReport) rateTable() *document.Table {
	t := document.NewTable("RATE", ">STEP ms", ">EVALUATION ms")
	step, batch := r.Profile.Costs.Step.List(), r.Profile.Costs.Batch.List()
	for k, unit := range []struct {
		text string
		many float64
	}{{"a call", 1}, {"100 examples", 100}, {"100 layers with weights", 100}, {"a GFLOP forward", 1e9}, {"a GFLOP forward in groups", 1e9}, {"100 MB of outputs", 1e8}, {"a million parameters", 1e6}} {
		t.Add(unit.text, rateText(step[k]*unit.many), rateText(batch[k]*unit.many))
	}
	return t
}

// rateText is a dash where a rate costs nothing.
func rateText(seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	return milliseconds(seconds)
}

// fitText says how far the rates are off; nothing where they were not fitted.
func (r *profileReport) fitText() string {
	if r.Fitted == 0 {
		return ""
	}
	return fmt.Sprintf("\nEach of the %d networks was left out, and rates were fitted to the others. They are off it by\n%s"+
		"and where it was left out with all that it was adapted to, by\n%s", r.Fitted, r.LeftOut.text(), r.NewToThem.text())
}

func (m profileMisses) text() string {
	line := func(what string, m profileMiss) string {
		return fmt.Sprintf("  %-22s %s in the median, %s at worst (%s)\n", what, shareText(m.Median), shareText(m.Worst), document.Printable(m.Network))
	}
	return line("a step", m.Step) + line("a batch of evaluation", m.Evaluation)
}

func shareText(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
