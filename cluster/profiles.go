package cluster

import (
	"fmt"

	"graft/cluster/trace"
)

// Config is the model and the settings of a job on which its load on a device depends.
type Config struct {
	Model   string // the network's name; empty is unknown
	Dataset string // what it trains on; empty is unknown
	Batch   int    // images or sequences in a step; zero is unknown
	AMP     bool   // whether it computes in mixed precision
}

// String names a configuration in a file of tasks: the model, and what is known of the rest behind slashes.
func (c Config) String() string {
	text := c.Model
	if c.Dataset != "" {
		text += "/" + c.Dataset
	}
	if c.Batch > 0 {
		text += fmt.Sprintf("/%d", c.Batch)
	}
	if c.AMP {
		text += "/amp"
	}
	return text
}

// ConfigOf returns the configuration of a job.
func ConfigOf(t *trace.Job) Config { return Config{t.Model, t.Dataset, t.Batch, t.AMP} }

// Profiles are measurements of configurations, alone and in pairs on one device.
type Profiles struct {
	// Scores rate how much a configuration slows another one on its device: 0 hardly, 1 some, 2
	// much. A configuration without a score is not packed.
	Scores map[Config]int
	// Pairs are the rates at which two configurations work together, the first one's
	// first. A pair stands in one of its two orders.
	Pairs map[[2]Config][2]float64
}

// Rates returns the rates of two configurations on one device, and whether they were measured.
// A pair that was not measured works at full rate.
func (p *Profiles) Rates(a, b Config) (rateA, rateB float64, measured bool) {
	if r, ok := p.Pairs[[2]Config{a, b}]; ok {
		return r[0], r[1], true
	}
	if r, ok := p.Pairs[[2]Config{b, a}]; ok {
		return r[1], r[0], true
	}
	return 1, 1, false
}
