package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"graft/internal/words"
	"graft/report/document"
	"graft/runner/profile"
	"graft/torch"
	"graft/trainer/clock"
	"graft/trainer/operators"
)

func profileCostText(c profile.Cost) string {
	if c.Spread == 0 {
		return milliseconds(c.Seconds) + " ms"
	}
	return milliseconds(c.Seconds) + " ± " + milliseconds(c.Spread) + " ms"
}

// printProfile writes tables as text.
func printProfile(w io.Writer, r *profile.Report) error {
	p := &document.Printer{W: w}
	p.Line("%s", document.PrintableLines(profileHead(r)))
	if len(r.Networks) > 0 {
		p.Line("")
		p.Table(profileNetworks(r))
	}
	rates := "\nThe profile has no rates: networks that were not measured cannot be charged.\n"
	if r.Profile.HasOperators() {
		rates = profileOperatorsText(r)
	} else if !r.Profile.Closed() {
		p.Line("")
		p.Table(profileRates(r))
		rates = profileFitText(r)
	}
	for _, g := range r.Processes {
		rates += fmt.Sprintf("\n%d processes compute their shares %.2f times as slowly as one alone, and add a "+
			"million gradients in %s ms.", g.Count, g.Slowdown, milliseconds(g.Million))
	}
	if len(r.Processes) > 0 {
		rates += "\n"
	}
	if len(r.Errors) > 0 {
		p.Line("")
		p.Table(profileErrors(r))
	}
	p.Line("%s\nA decision takes %s, an operation %s.", rates, profileCostText(r.Decision), profileCostText(r.Surgery))
	return p.Err
}

// profileHead describes the measurement.
func profileHead(r *profile.Report) string {
	text := document.Printable(r.Name + ": " + r.Device)
	m := r.Made
	if m.Date == "" {
		return text
	}
	if m.Device == clock.InsideProgram {
		return fmt.Sprintf("%s\nmeasured on %s by graft %s inside a program with PyTorch %s: %s, medians of %s", text,
			m.Date, m.Graft, m.Torch, m.Optimizer, words.Plural(m.Rounds, "round"))
	}
	path := "fast path"
	if m.Exact {
		path = "PyTorch's order of operations"
	}
	if m.Steady {
		path += ", steady"
	}
	if m.Instructions == string(torch.AVX2) {
		path += ", AVX2"
	}
	if m.Precision != "" {
		path += ", " + m.Precision
	}
	return fmt.Sprintf("%s\nmeasured on %s by graft %s with LibTorch %s on %s: %s, %s, %s, medians of %s",
		text, m.Date, m.Graft, m.Torch, m.Device, words.Plural(m.Threads, "thread"), path, m.Optimizer,
		words.Plural(m.Rounds, "round"))
}

func profileNetworks(r *profile.Report) *document.Table {
	t := document.NewTable("network").Numbers("", "", "batch").Numbers("ms", "", "step").
		Numbers("", "", "±", "fitted", "off").Numbers("ms", "", "evaluation").Numbers("", "", "±", "fitted", "off")
	for _, n := range r.Networks {
		t.Add(append(append([]any{n.Network, n.Batch}, profileTimeCells(n.Step)...),
			profileTimeCells(n.Evaluation)...)...)
	}
	return t
}

func profileTimeCells(t profile.Time) []any {
	if t.Fitted == nil {
		return []any{milliseconds(t.Seconds), milliseconds(t.Spread), document.Missing(), document.Missing()}
	}
	return []any{milliseconds(t.Seconds), milliseconds(t.Spread), milliseconds(*t.Fitted),
		document.Value(*t.Off, document.UnitShare).As("%+.0f%%")}
}

// milliseconds formats with three digits, without superfluous decimals.
func milliseconds(seconds float64) string {
	ms := 1e3 * seconds
	decimals := 3
	if ms >= 1 {
		decimals = max(0, 2-int(math.Floor(math.Log10(ms))))
	}
	return strconv.FormatFloat(ms, 'f', decimals, 64)
}

// profileRates shows rates, each for an amount of work that takes a readable time.
func profileRates(r *profile.Report) *document.Table {
	t := document.NewTable("rate").Numbers("ms", "", "step", "evaluation")
	c := r.Profile.Costs
	lists := [][]float64{rateList(c.Step), rateList(c.Batch)}
	if c.GraphStep != (clock.Rates{}) {
		t = t.Numbers("ms", "", "graph step", "graph evaluation")
		lists = append(lists, rateList(c.GraphStep), rateList(c.GraphBatch))
	}
	for k, unit := range []struct {
		text string
		many float64
	}{{"a call", 1}, {"100 examples", 100}, {"100 layers with weights", 100}, {"a GFLOP forward", 1e9},
		{"a GFLOP forward in groups", 1e9}, {"100 MB of outputs", 1e8}, {"a million parameters", 1e6}} {
		row := []any{unit.text}
		for _, list := range lists {
			row = append(row, rateText(list[k]*unit.many))
		}
		t.Add(row...)
	}
	return t
}

func rateList(r clock.Rates) []float64 {
	list := r.List()
	return list[:]
}

// profileErrors lists the errors of predicted steps by groups.
func profileErrors(r *profile.Report) *document.Table {
	t := document.NewTable("steps by", "group").Numbers("", "", "n", "median error", "worst")
	for _, e := range r.Errors {
		t.Add(e.By, e.Value, e.Steps, shareText(e.Median), shareText(e.Worst))
	}
	return t
}

// rateText formats a rate; a dash if it is zero.
func rateText(seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	return milliseconds(seconds)
}

// disturbedText warns about small networks that were measured only while other programs ran.
func disturbedText(disturbed, networks int) string {
	if disturbed == 0 {
		return ""
	}
	return fmt.Sprintf("Other programs slowed the machine down during each measurement of %d of %s.\n"+
		"Their times are corrected, but less exact; measure again on a quiet machine.\n", disturbed,
		words.Plural(networks, "small network"))
}

// profileOperatorsText describes the operators, and their errors if networks were predicted.
func profileOperatorsText(r *profile.Report) string {
	d := &r.Profile.GraftOperators
	switch {
	case r.Profile.Computed.On():
		return computedText(&r.Profile.Computed)
	case len(d.Operators) == 0:
		t := &r.Profile.Operators
		return fmt.Sprintf("\n%s of %s at a batch of %d predict networks that were not measured.\n",
			words.Plural(len(t.Measured), "measured operator"), t.Network, t.Rows)
	}
	text := fmt.Sprintf("\n%s, measured in %s, predict networks that were not measured.\n",
		words.Plural(len(d.Operators), "operator"), words.Plural(d.Networks, "small network"))
	if s := r.Small; s != nil {
		text += fmt.Sprintf("Errors for a step of the small networks, each predicted from networks of other sizes:\n"+
			"  %s in the median, and above %s for one network in ten\n", shareText(s.Median), shareText(s.Ten))
	}
	text += disturbedText(r.Profile.Made.Disturbed, d.Networks)
	if r.NewToThem.Step.Network == "" {
		return text
	}
	text += fmt.Sprintf("Errors for %s above; the operators were measured in other networks:\n%s",
		words.Plural(r.Fitted, "network"), profileMissesText(r.NewToThem))
	if r.LeftOut.Step.Network == "" {
		return text
	}
	return text + "Errors if other measured networks of the same class correct the prediction:\n" +
		profileMissesText(r.LeftOut)
}

// computedText describes constants of the hardware, and their errors.
func computedText(c *operators.Roofline) string {
	text := fmt.Sprintf("\nConstants of the hardware predict all networks; nothing was measured on it:\n"+
		"  matrix products %.3g TFLOPS (%s), other operators %.3g TFLOPS, memory %.4g GB/s\n", c.ProductRate/1e12,
		c.Precision, c.SingleRate/1e12, c.Bandwidth/1e9)
	if c.Graphs {
		text += fmt.Sprintf("  CUDA graphs: %.3g µs for each kernel without work\n", 1e6*c.KernelSeconds)
	} else {
		text += fmt.Sprintf("  the host takes %s ms for a step and %s ms for each trained tensor,\n"+
			"  %s ms for a batch of evaluation and %s ms for each operator in it\n", milliseconds(c.StepSeconds),
			milliseconds(c.TensorSeconds), milliseconds(c.BatchSeconds), milliseconds(c.OperatorSeconds))
	}
	if c.Checked == "" {
		return text + "No computed time was compared with a measured one.\n"
	}
	return text + "Errors:\n  " + strings.ReplaceAll(c.Checked, "; ", "\n  ") + "\n"
}

// profileFitText describes the errors of the rates; nothing if they were not fitted.
func profileFitText(r *profile.Report) string {
	if r.Fitted == 0 {
		return ""
	}
	text := fmt.Sprintf("\nEach of the %d networks was left out and predicted by the rates of the others. Errors:\n%s",
		r.Fitted, profileMissesText(r.LeftOut))
	if r.NewToThem.Step.Network != "" {
		text += "Errors when its whole class was left out:\n" + profileMissesText(r.NewToThem)
	}
	return text
}

func profileMissesText(m profile.Misses) string {
	line := func(what string, m profile.Miss) string {
		return fmt.Sprintf("  %-22s %s in the median, %s at worst (%s)\n", what, shareText(m.Median),
			shareText(m.Worst), document.Printable(m.Network))
	}
	return line("a step", m.Step) + line("a batch of evaluation", m.Evaluation)
}

func shareText(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
