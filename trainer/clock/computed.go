package clock

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"graft/torch"
	"graft/trainer/costs"
	"graft/trainer/operators"
)

// ComputedOptions says how a computed device runs graft's steps. The zero ComputedOptions means float32 without CUDA
// graphs.
type ComputedOptions struct {
	Precision torch.Precision // number format of matrix products
	Graphs    bool            // whether steps are CUDA graphs
}

// optionGraphs is the option of a computed profile whose steps are CUDA graphs.
const optionGraphs = "graphs"

// parseComputed reads options such as "tf32,graphs".
func parseComputed(text string) (o ComputedOptions, err error) {
	for _, word := range strings.Split(text, ",") {
		if word == optionGraphs {
			o.Graphs = true
		} else if err := o.Precision.UnmarshalText([]byte(word)); err != nil || word == "" {
			return o, fmt.Errorf("unknown option %q; expected %s, or one of: %s", word, optionGraphs,
				strings.Join(torch.PrecisionNames(), ", "))
		}
	}
	return o, nil
}

// hardware returns the shipped hardware with times of graft's own steps.
var hardware = sync.OnceValue(func() []*costs.Hardware {
	return slices.DeleteFunc(slices.Clone(costs.Library()), func(h *costs.Hardware) bool { return h.Steps.Step == 0 })
})

// computedProfile returns a computed profile, whose name is known, with options.
func computedProfile(name, options string) (*Profile, error) {
	o, err := parseComputed(options)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", name, err)
	}
	all := hardware()
	h := all[slices.IndexFunc(all, func(h *costs.Hardware) bool { return h.Name == name })]
	if h.Device.Tf32Rate == 0 && (o.Precision == torch.TF32 || o.Precision == torch.Brain) {
		return nil, fmt.Errorf("profile %s: the device has no matrix units for %s; use %s or %s", name, o.Precision,
			torch.Single, torch.Half)
	}
	return computed(h, o), nil
}

// Times of decisions and of surgery on a GPU, measured by scenarios/profiles/nvidia-h100.toml.
const (
	gpuDecision = 115e-6
	gpuSurgery  = 5.5e-3
)

// computed returns the profile of hardware on which graft never ran. Several devices divide a batch; rings of the
// hardware's links exchange gradients after the backward pass.
func computed(h *costs.Hardware, o ComputedOptions) *Profile {
	p := &Profile{Version: profileVersion, Name: h.Name, Watts: h.Device.Power, Device: deviceText(h, o),
		Costs:    Costs{DecisionSeconds: gpuDecision, SurgerySeconds: gpuSurgery},
		Computed: rooflineOf(h, o), Processes: processesOf(h)}
	p.EnsureDefaults()
	return p
}

// deviceText describes a computed device in a line.
func deviceText(h *costs.Hardware, o ComputedOptions) string {
	text := "computed, not measured: " + strings.ToUpper(h.Name) + " in " + o.Precision.String()
	if o.Graphs {
		text += " with CUDA graphs"
	}
	return text
}

func rooflineOf(h *costs.Hardware, o ComputedOptions) operators.Roofline {
	d, single := &h.Device, digits(h.Device.SingleRate*h.Device.Efficiency)
	r := operators.Roofline{Precision: o.Precision.String(), Graphs: o.Graphs, ProductRate: single, SingleRate: single,
		Bandwidth: d.Bandwidth, KernelSeconds: h.Steps.Kernel, StepSeconds: h.Steps.Step, TensorSeconds: h.Steps.Tensor,
		BatchSeconds: h.Steps.Batch, OperatorSeconds: h.Steps.Operator, Checked: checkedText(h.Steps.Checked)}
	switch {
	case o.Precision == torch.TF32 && d.Tf32Rate > 0:
		r.ProductRate = digits(d.Tf32Rate * d.Efficiency)
	case o.Precision == torch.Brain || o.Precision == torch.Half:
		r.ProductRate = digits(d.HalfRate * d.Efficiency)
	}
	return r
}

func checkedText(all []costs.StepCheck) string {
	var list []string
	for _, c := range all {
		list = append(list, fmt.Sprintf("%d %s: %.0f%% off in the median, %.0f%% at worst", c.Rows, c.On,
			100*c.Median, 100*c.Worst))
	}
	return strings.Join(list, "; ")
}

// Sizes of the exchanges of a computed profile. The time of a ring is a linear function of the size.
const (
	smallExchange = 1 << 10
	largeExchange = 1 << 30
)

// mostComputed is the largest number of devices of a computed profile with an exchange of its own. Larger numbers are
// extrapolated.
const mostComputed = 512

// processesOf returns the exchanges of devices, by powers of two.
func processesOf(h *costs.Hardware) (all []Processes) {
	for n := 2; n <= mostComputed; n *= 2 {
		s := Processes{Count: n, Slowdown: 1}
		for _, bytes := range []int64{smallExchange, largeExchange} {
			seconds := h.AllReduceSeconds(float64(bytes), costs.Group{Ranks: n})
			s.Exchanges = append(s.Exchanges, Exchange{bytes, digits(seconds)})
		}
		all = append(all, s)
	}
	return all
}
