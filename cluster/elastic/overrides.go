package elastic

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"graft/internal/validate"
)

// Settings holds the parameters of the original simulator, under graft's names.
type Settings struct {
	Options  Options         // options for the simulation, without quirks
	Generate GenerateOptions // options for the generated workload
	Analytic bool            // takes speeds from [Analytic] instead of a [Table]
	Window   int             // number of jobs in a learned policy's window
}

// ParseOverrides returns the parameters of the original simulator. The values in "overrides" replace the simulator's
// defaults.
func ParseOverrides(overrides map[string]any) (Settings, error) {
	v := &overridden{values: overrides, read: map[string]bool{}}
	s := v.scale()
	v.simulation(&s)
	v.workload(&s.Generate)
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		if !v.read[name] {
			v.faults = append(v.faults, fmt.Errorf("unknown parameter %s; expected one of: %s", name, v.names()))
		}
	}
	if err := errors.Join(v.faults...); err != nil {
		return Settings{}, fmt.Errorf("overrides: %w", err)
	}
	return s, nil
}

// scale returns the defaults of the large cluster, the testbed or the cluster between them.
func (v *overridden) scale() Settings {
	large, testbed := v.flag("LARGE_SCALE", true), v.flag("TESTBED", false)
	s := Settings{Window: 20}
	s.Options.Nodes, s.Options.Slot = 96, 1200
	s.Generate = GenerateOptions{Jobs: 60, Rate: 3, MaxEpochs: 30_000}
	switch {
	case testbed:
		s.Options.Nodes, s.Options.Slot = 6, 300
		s.Generate = GenerateOptions{Jobs: 10, Rate: 5, MaxEpochs: 1000}
	case large:
		s.Options.Nodes, s.Window = 500, 40
		s.Generate.Jobs, s.Generate.Rate = 200, 10
	}
	return s
}

func (v *overridden) simulation(s *Settings) {
	o := &s.Options
	o.Nodes = v.integer("CLUSTER_NUM_NODES", o.Nodes)
	slots := v.integer("NUM_RESR_SLOTS", 8)
	o.PerNode = Resources{slots, slots}
	o.Most = v.integer("MAX_NUM_WORKERS", 16)
	o.Slot = v.number("TS_DURATION", o.Slot)
	o.AllReduce = !v.flag("PS_WORKER", true)
	o.SpeedError = v.number("TRAIN_SPEED_ERROR", 0)
	o.WholeSlots = !v.flag("FINE_GRAIN_JCT", true)
	o.Scaling = NoScaling
	if v.flag("NUM_UNCOMPLETED_JOB_REWARD", false) {
		o.Reward = Unfinished
	}
	s.Analytic = !v.flag("REAL_SPEED_TRACE", true)
	s.Window = v.integer("SCHED_WINDOW_SIZE", s.Window)
}

func (v *overridden) workload(g *GenerateOptions) {
	g.Jobs = v.integer("TOT_NUM_JOBS", g.Jobs)
	g.Rate = v.integer("MAX_ARRVS_PER_TS", g.Rate)
	g.MaxEpochs = v.number("MAX_NUM_EPOCHS", g.MaxEpochs)
	g.EpochError = v.number("JOB_EPOCH_EST_ERROR", 0)
	g.Jitter = !v.flag("FIX_JOB_LEN", true)
	v.choice("JOB_LEN_PATTERN", "Normal")
	switch v.choice("JOB_ARRIVAL_PATTERN", "Google_Trace", "Uniform", "Poisson") {
	case "Uniform":
		g.Arrivals = UniformArrivals
	case "Poisson":
		g.Arrivals = PoissonArrivals
	default:
		g.Arrivals = PatternArrivals
	}
}

// overridden reads parameters and collects their faults.
type overridden struct {
	values map[string]any
	read   map[string]bool
	faults validate.Faults
}

func (v *overridden) names() string {
	return strings.Join(slices.Sorted(maps.Keys(v.read)), ", ")
}

// valueOf returns a parameter of a type, or its default.
func valueOf[T any](v *overridden, name, want string, otherwise T) T {
	v.read[name] = true
	value, given := v.values[name]
	if !given {
		return otherwise
	}
	typed, ok := value.(T)
	if !ok {
		v.faults = append(v.faults, fmt.Errorf("%s is %v; expected %s", name, value, want))
		return otherwise
	}
	return typed
}

func (v *overridden) flag(name string, otherwise bool) bool {
	return valueOf(v, name, "true or false", otherwise)
}

func (v *overridden) number(name string, otherwise float64) float64 {
	return valueOf(v, name, "a number", otherwise)
}

func (v *overridden) integer(name string, otherwise int) int {
	x := v.number(name, float64(otherwise))
	if x != math.Trunc(x) || x < 1 || x > maxNodes {
		v.faults = append(v.faults, fmt.Errorf("%s is %g; expected a whole number from 1 to %d", name, x, maxNodes))
		return otherwise
	}
	return int(x)
}

// choice returns a parameter that is one of some words; the default is the first word.
func (v *overridden) choice(name string, words ...string) string {
	word := valueOf(v, name, "one of "+strings.Join(words, ", "), words[0])
	if !slices.Contains(words, word) {
		v.faults = append(v.faults, fmt.Errorf("%s is %q; expected one of: %s", name, word, strings.Join(words, ", ")))
	}
	return word
}
