package cluster

import (
	"fmt"

	"graft/cluster/trace"
)

// Config is a job's model with the settings that determine its load on a device.
type Config struct {
	Model   string // name of the network; empty if unknown
	Dataset string // name of the training data; empty if unknown
	Batch   int    // number of images or sequences per step; zero if unknown
	AMP     bool   // uses mixed precision
}

// String returns the task kind that stands for the configuration in [[task]] sections: the model, followed by those
// settings that are known, separated by slashes.
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
func ConfigOf(job *trace.Job) Config {
	t := job.Trains()
	return Config{t.Model, t.Dataset, t.Batch, t.AMP}
}

// Profiles holds measurements of configurations that run alone, and of pairs that share a device.
type Profiles struct {
	// Scores holds the interference score of each configuration. The score states how much the configuration slows down
	// another configuration on the same device: 0 means little, 1 some, 2 much. Jobs of a configuration without a score
	// are not packed.
	Scores map[Config]int
	// Pairs holds the rates at which two configurations run when they share a device, relative to running alone. The
	// rates are in the order of the configurations in the key. Each pair is listed only once, in either order.
	Pairs map[[2]Config][2]float64
}

// Rates returns the rates at which two configurations run when they share a device, and whether these rates were
// measured. If this pair of configurations was not measured, both rates are 1, so neither configuration slows down.
func (p *Profiles) Rates(a, b Config) (rateA, rateB float64, measured bool) {
	if r, ok := p.Pairs[[2]Config{a, b}]; ok {
		return r[0], r[1], true
	}
	if r, ok := p.Pairs[[2]Config{b, a}]; ok {
		return r[1], r[0], true
	}
	return 1, 1, false
}
