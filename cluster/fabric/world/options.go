package world

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"graft/cluster"
	"graft/cluster/fabric"
	"graft/cluster/fabric/networks"
	"graft/internal/validate"
)

// Options describe the servers and their network.
type Options struct {
	// Kind of network that connects the servers: ramp is an optical network with channels between all servers, tree
	// has a switch in each rack and a core. Empty means ramp.
	Network string `config:",one=ramp|tree"`
	// Numbers of parts of the network: of ramp groups, racks per group and servers per rack; of tree racks and
	// servers per rack. Empty means 4, 4, 2 and 4, 8.
	Size      []int
	Channels  int     // Number of channels between two servers, of ramp. Zero means 1.
	Bandwidth float64 // Server bandwidth in bytes/s. Zero means 1.6e12, as in PAC-ML's experiments.
	// Bandwidth of a rack in bytes/s, of tree. Zero means the sum of its servers.
	Uplink    float64
	Latency   float64  `config:"latency_seconds"` // Transfer latency in s. Zero means 50e-9.
	IO        float64  `config:"io_seconds"`      // Time to send and to receive in s, of ramp. Zero means 100e-9.
	Memory    float64  `config:"memory_bytes"`    // Server memory in bytes. Zero means 80e9.
	Speed     float64  // Server speed, by which times of operations are divided. Zero means 1.
	Strategy  string   `config:",one=data|tensor|pipeline"` // Way to spread a step over servers. Empty means data.
	MaxDegree int      // Maximum number of parts of a step. Zero means 16.
	Quantum   float64  `config:"quantum_ms"` // Time of an operation per part in ms, of tensor. Zero means 0.01.
	Quirks    []string // Faults of PAC-ML's simulator to keep, by name. Empty keeps none.
}

// EnsureDefaults fills in defaults.
func (o *Options) EnsureDefaults() {
	o.Network, o.Strategy = cmp.Or(o.Network, "ramp"), cmp.Or(o.Strategy, string(fabric.Data))
	n := o.network()
	n.EnsureDefaults()
	o.Size, o.Channels, o.Bandwidth, o.Uplink, o.Latency, o.IO = n.Size, n.Channels, n.Bandwidth, n.Uplink,
		n.Latency, n.IO
	s := fabric.Options{MaxParts: o.MaxDegree, Quantum: o.Quantum, Memory: o.Memory, Speed: o.Speed}
	s.EnsureDefaults()
	o.MaxDegree, o.Quantum, o.Memory, o.Speed = s.MaxParts, s.Quantum, s.Memory, s.Speed
}

// Validate returns every invalid option.
func (o Options) Validate() error {
	quirks, err := cluster.NamedQuirks(o.Quirks, fabric.Quirks())
	if err != nil {
		return err
	}
	s := o.options(quirks)
	_, err = o.network().Make(quirks)
	return errors.Join(err, s.Validate())
}

// quirks are the faults that the file keeps, which were validated.
func (o *Options) quirks() cluster.Quirks {
	quirks, _ := cluster.NamedQuirks(o.Quirks, fabric.Quirks())
	return quirks
}

func (o *Options) network() fabric.NetworkOptions {
	return fabric.NetworkOptions{Kind: o.Network, Size: o.Size, Channels: o.Channels, Bandwidth: o.Bandwidth,
		Uplink: o.Uplink, Latency: o.Latency, IO: o.IO}
}

func (o *Options) options(q cluster.Quirks) fabric.Options {
	s := fabric.Options{Strategy: fabric.Strategy(o.Strategy), MaxParts: o.MaxDegree, Quantum: o.Quantum,
		Memory: o.Memory, Speed: o.Speed, Quirks: q}
	s.EnsureDefaults()
	return s
}

// servers is the number of servers.
func (o *Options) servers() int {
	all := 1
	for _, n := range o.Size {
		all *= n
	}
	return all
}

// Graphs name the networks that jobs train.
type Graphs struct {
	// Networks of the zoo, files of networks, profiles of PipeDream (.txt) or graphs (.json). Empty means ResNet18,
	// VGG11BN, MobileNetV2, CIFARResNet56 and LargeConvNet.
	Models []string `config:",path=word" result:"contents"`
	// Height and width in pixels of the images of each network; zero is the network's own. Empty keeps all.
	Sizes []int
	Batch int // Examples per step of a network. Zero means 64.
	// Device profile with the times of networks, by name or file. Empty means round-gpu.
	Profile string    `config:",path=word"`
	Weights []float64 // Relative frequency of each network among the jobs. Empty means all alike.
}

// EnsureDefaults fills in defaults.
func (o *Graphs) EnsureDefaults() {
	o.Batch, o.Profile = cmp.Or(o.Batch, 64), cmp.Or(o.Profile, networks.UsualProfile)
	if len(o.Models) == 0 {
		o.Models = []string{"ResNet18", "VGG11BN", "MobileNetV2", "CIFARResNet56", "LargeConvNet"}
	}
}

// Validate returns every invalid option.
func (o Graphs) Validate() error {
	var faults validate.Faults
	faults.When(len(o.Sizes) > 0 && len(o.Sizes) != len(o.Models),
		"sizes has %d values and models %d; give one for each network, zero for its own", len(o.Sizes), len(o.Models))
	faults.When(o.Batch < 1, "batch is %d; must be at least 1", o.Batch)
	for k, name := range o.Models {
		faults.When(name == "", "models[%d] is empty; name a network or a file", k)
		faults.When(slices.Contains(o.Models[:k], name), "models[%d]: %s is given twice", k, name)
	}
	return errors.Join(faults...)
}

// Demand says which jobs arrive.
type Demand struct {
	Jobs  int // Number of jobs of an episode. Zero means 200.
	Steps int // Training steps of a job. Zero means 50.
	// Servers that jobs would keep busy if none was split, as a share of all servers. Zero means 1.
	Load  float64
	Every time.Duration // Mean time between arrivals, in place of load. Zero follows from load.
	// Distribution of times between arrivals; regular has all alike. Empty means exponential.
	Gaps string `config:",one=exponential|regular"`
	// Share by which the load rises and falls in each period, from 0 to below 1. Zero is steady.
	Swing  float64
	Period int // Jobs of a period. Zero means 50.
	// Distribution of the share of its time on one server that a job may take. Empty means uniform.
	Limits string  `config:",one=uniform|fixed|skewed|values"`
	Least  float64 // Lower end of uniform and skewed. Zero means 0.1.
	Most   float64 // Upper end of uniform and skewed, and the share of fixed. Zero means 1.
	// Shape of skewed: a positive one has more short limits. PAC-ML's distributions B, C and D have 5, 0 and -5.
	Skewness        float64
	Values          []float64 // Limits to draw from, of values.
	Shares          []float64 // Relative frequency of each of the values. Empty means all alike.
	Seed            uint64    // Random seed of the first episode. Default 1.
	TrainCount      int       // Episodes to learn from. Zero means 20.
	ValidationCount int       // Episodes by which learned schedulers are chosen. Zero means 10.
	TestCount       int       // Episodes on which schedulers are compared. Zero means 5.
}

// EnsureDefaults fills in defaults.
func (o *Demand) EnsureDefaults() {
	d := o.demand(nil)
	d.EnsureDefaults()
	o.Jobs, o.Steps, o.Load, o.Gaps, o.Period = d.Jobs, d.Steps, d.Load, string(d.Gaps), d.Period
	o.Limits, o.Least, o.Most = d.Limits.Kind, d.Limits.Least, d.Limits.Most
	o.TrainCount, o.ValidationCount, o.TestCount = cmp.Or(o.TrainCount, 20), cmp.Or(o.ValidationCount, 10),
		cmp.Or(o.TestCount, 5)
}

// Bounds of a file.
const (
	mostJobs     = 1_000_000 // of an episode
	mostEpisodes = 10_000    // of each purpose
	mostPoints   = 1000      // combinations of what varies
)

// Validate returns every invalid option.
func (o Demand) Validate() error {
	var faults validate.Faults
	faults.When(o.Jobs > mostJobs, "jobs is %d; must be at most %d", o.Jobs, mostJobs)
	for name, v := range map[string]int{"train_count": o.TrainCount, "validation_count": o.ValidationCount,
		"test_count": o.TestCount} {
		faults.When(v < 1 || v > mostEpisodes, "%s is %d; must be from 1 to %d", name, v, mostEpisodes)
	}
	d := o.demand(nil)
	return errors.Join(append(faults, d.Validate(0))...)
}

func (o *Demand) demand(weights []float64) fabric.Demand {
	return fabric.Demand{Jobs: o.Jobs, Steps: o.Steps, Load: o.Load, Every: o.Every.Seconds(),
		Gaps: fabric.Gaps(o.Gaps), Swing: o.Swing, Period: o.Period, Weights: weights,
		Limits: fabric.Limits{Kind: o.Limits, Least: o.Least, Most: o.Most, Skewness: o.Skewness, Values: o.Values,
			Shares: o.Shares}}
}

// Vary lists values that replace a key; every combination is simulated.
type Vary struct {
	Loads      []float64 // Values of demand.load to sweep. Empty keeps demand.load. Excludes demand.every.
	Bandwidths []float64 // Values of fabric.bandwidth to sweep, with fabric.uplink in proportion. Empty keeps it.
	Skewness   []float64 // Values of demand.skewness to sweep, with demand.limits = "skewed". Empty keeps it.
	MaxDegrees []int     // Values of fabric.max_degree to sweep. Empty keeps it.
	// Kinds of networks to sweep, with their sizes or alone, such as ramp 4x4x2 or tree 4x8. Empty keeps the network.
	Networks []string `json:",omitempty"`
}

// Validate returns every invalid option.
func (o Vary) Validate() error {
	var faults validate.Faults
	for k, text := range o.Networks {
		if _, err := (fabric.NetworkOptions{}).Renamed(text); err != nil {
			faults = append(faults, fmt.Errorf("networks[%d]: %w", k, err))
		}
	}
	for name, list := range map[string][]float64{"loads": o.Loads, "bandwidths": o.Bandwidths} {
		for k, v := range list {
			faults.When(!(v > 0), "%s[%d] is %v; must be more than 0", name, k, v)
		}
	}
	faults = append(faults, twice("loads", o.Loads), twice("bandwidths", o.Bandwidths), twice("skewness", o.Skewness),
		twice("max_degrees", o.MaxDegrees), twice("networks", o.Networks))
	points := max(1, len(o.Loads)) * max(1, len(o.Bandwidths)) * max(1, len(o.Skewness)) * max(1,
		len(o.MaxDegrees)) * max(1, len(o.Networks))
	faults.When(points > mostPoints, "%d combinations of values; at most %d are simulated in one run", points,
		mostPoints)
	return errors.Join(faults...)
}

// twice is a fault of a list with equal values, whose points would have one name.
func twice[T comparable](name string, list []T) error {
	for k, v := range list {
		if slices.Contains(list[:k], v) {
			return fmt.Errorf("%s[%d]: %v is given twice", name, k, v)
		}
	}
	return nil
}
