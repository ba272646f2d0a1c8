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

// Options describes the servers and their network.
type Options struct {
	// Topology of the network: "ramp" is an optical network with channels between all servers, "tree" has one switch
	// per rack and a core switch. Default "ramp".
	Network string `config:",one=ramp|tree"`
	// Dimensions of the network: groups, racks per group and servers per rack for network = "ramp"; racks and servers
	// per rack for network = "tree". Empty means 4, 4, 2 for "ramp" and 4, 8 for "tree".
	Size     []int
	Channels int // Number of channels between two servers, for network = "ramp". Default 1.
	// Network bandwidth of a server in bytes/s. Zero means 1.6e12, the value of PAC-ML's experiments.
	Bandwidth float64
	// Bandwidth of a rack's uplink in bytes/s, for network = "tree". Zero means the total bandwidth of the rack's
	// servers.
	Uplink  float64
	Latency float64 `config:"latency_seconds"` // Latency of a transfer in seconds. Zero means 50e-9.
	// Time to send and receive a message in seconds, for network = "ramp". Default 100e-9.
	IO     float64 `config:"io_seconds"`
	Memory float64 `config:"memory_bytes"` // Memory per server in bytes. Zero means 80e9.
	// Server speed relative to the device profile; operation times are divided by it. Default 1.
	Speed float64
	// Parallelism of a training step: "data" splits the batch, "tensor" splits the parameters, "pipeline" gives each
	// server consecutive operations. Default "data".
	Strategy string `config:",one=data|tensor|pipeline"`
	// Maximum number of parts into which a training step is split: 1 or an even number. With strategy = "data", at most
	// graphs.batch. Zero means 16.
	MaxDegree int
	// Operation time per part in ms, for strategy = "tensor": an operation is split into one part per quantum, up to
	// max_degree parts. Default 0.01.
	Quantum float64  `config:"quantum_ms"`
	Quirks  []string // Names of the bugs of PAC-ML's simulator that graft reproduces. Empty reproduces no bugs.
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

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	quirks, err := cluster.NamedQuirks(o.Quirks, fabric.Quirks())
	if err != nil {
		return err
	}
	s := o.options(quirks)
	_, err = o.network().Make(quirks)
	return errors.Join(err, s.Validate(), oddDegree("max_degree", o.MaxDegree))
}

// oddDegree returns an error for a largest degree that no job can have.
func oddDegree(name string, most int) error {
	if most > 1 && most%2 == 1 {
		return fmt.Errorf("%s is %d, but degrees are 1 or even; use %d or %d", name, most, most-1, most+1)
	}
	return nil
}

// quirks returns the faults that the file keeps, after validation.
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

// Graphs selects the neural networks that jobs train.
type Graphs struct {
	// Neural networks to train: names from the zoo, network files, PipeDream profiles (.txt) or graphs (.json). Empty
	// means ResNet18, VGG11BN, MobileNetV2, CIFARResNet56 and LargeConvNet.
	Models []string `config:",path=word" result:"contents"`
	// Image height and width in pixels, one value per model. A value of zero, or an empty list, keeps the model's own
	// size.
	Sizes []int
	Batch int // Number of examples per training step. Zero means 64.
	// Device profile that gives the operation times of the models: a name or a file path. Empty means round-gpu.
	Profile string    `config:",path=word"`
	Weights []float64 // Relative frequency of each model among the jobs. Empty means equal frequencies.
}

// EnsureDefaults fills in defaults.
func (o *Graphs) EnsureDefaults() {
	o.Batch, o.Profile = cmp.Or(o.Batch, 64), cmp.Or(o.Profile, networks.UsualProfile)
	if len(o.Models) == 0 {
		o.Models = []string{"ResNet18", "VGG11BN", "MobileNetV2", "CIFARResNet56", "LargeConvNet"}
	}
}

// Validate returns an error that lists every invalid option.
func (o Graphs) Validate() error {
	var faults validate.Faults
	faults.When(len(o.Sizes) > 0 && len(o.Sizes) != len(o.Models),
		"sizes has %d values, but models has %d; expected one size for each model (0 keeps the model's own size)",
		len(o.Sizes),
		len(o.Models))
	faults.When(o.Batch < 1, "batch is %d; must be at least 1", o.Batch)
	for k, name := range o.Models {
		faults.When(name == "", "models[%d] is empty; expected a network or a file", k)
		faults.When(slices.Contains(o.Models[:k], name), "models[%d]: duplicate %s; remove one", k, name)
	}
	return errors.Join(faults...)
}

// Demand describes the arriving jobs.
type Demand struct {
	Jobs  int // Number of jobs per episode. Zero means 200.
	Steps int // Number of training steps per job. Zero means 50.
	// Offered load: average fraction of busy servers if every job ran on one server. Zero means 1.
	Load float64
	// Mean time between two arrivals; replaces demand.load. Zero derives the time from demand.load.
	Every time.Duration `config:"arrival_interval,was=every"`
	// Distribution of interarrival times: "exponential", or "regular" (all equal). Default "exponential".
	Gaps string `config:"arrivals,was=gaps,one=exponential|regular"`
	// Amplitude of a periodic load variation, relative to the load, in [0, 1). The mean load is sqrt(1 - swing²) times
	// demand.load, because jobs arrive slowly for longer than they arrive fast. Zero keeps the load constant.
	Swing  float64
	Period int // Period of the load variation (see demand.swing), in jobs. Zero means 50.
	// Distribution of time limits, which are fractions of a job's time on one server: "uniform", "fixed", "skewed" or
	// "values". Default "uniform".
	Limits string `config:",one=uniform|fixed|skewed|values"`
	// Smallest time limit of a job, for limits = "uniform" or "skewed", as a fraction of its time on one server. Zero
	// means 0.1.
	Least float64 `config:"min_limit,was=least"`
	// Largest time limit of a job, as a fraction of its time on one server. With limits = "fixed", every job has this
	// limit. Zero means 1.
	Most float64 `config:"max_limit,was=most"`
	// Skewness of the time limits, for limits = "skewed". A positive value makes short limits more frequent. PAC-ML's
	// distributions B, C and D use 5, 0 and -5, respectively.
	Skewness float64
	// Time limits to draw from, for limits = "values", as fractions of a job's time on one server.
	Values     []float64
	Shares     []float64 // Relative frequency of each time limit in demand.values. Empty means equal frequencies.
	Seed       uint64    // Random seed of the first episode; further episodes use the following seeds. Default 1.
	TrainCount int       // Number of training episodes. Zero means 20.
	// Number of validation episodes, used to select the best learned policy. Zero means 10.
	ValidationCount int
	TestCount       int // Number of test episodes, on which schedulers are compared. Zero means 5.
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

// Upper bounds of a file's values.
const (
	mostJobs     = 1_000_000 // per episode
	mostEpisodes = 10_000    // per purpose
	mostPoints   = 1000      // combinations of swept values
)

// Validate returns an error that lists every invalid option.
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

// Vary lists values of keys to sweep; every combination is simulated.
type Vary struct {
	// Values of demand.load to sweep. Empty keeps demand.load. Cannot be combined with demand.arrival_interval.
	Loads []float64
	// Values of fabric.bandwidth to sweep; fabric.uplink changes in proportion. Empty keeps fabric.bandwidth.
	Bandwidths []float64
	// Values of demand.skewness to sweep, for demand.limits = "skewed". Empty keeps demand.skewness.
	Skewness   []float64
	MaxDegrees []int // Values of fabric.max_degree to sweep. Empty keeps fabric.max_degree.
	// Network topologies to sweep, each with or without its dimensions, such as "ramp 4x4x2" or "tree". Empty keeps
	// fabric.network and fabric.size.
	Networks []string `json:",omitempty"`
}

// Validate returns an error that lists every invalid option.
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
	for k, v := range o.MaxDegrees {
		faults = append(faults, oddDegree(fmt.Sprintf("max_degrees[%d]", k), v))
	}
	faults = append(faults, twice("loads", o.Loads), twice("bandwidths", o.Bandwidths), twice("skewness", o.Skewness),
		twice("max_degrees", o.MaxDegrees), twice("networks", o.Networks))
	points := max(1, len(o.Loads)) * max(1, len(o.Bandwidths)) * max(1, len(o.Skewness)) * max(1,
		len(o.MaxDegrees)) * max(1, len(o.Networks))
	faults.When(points > mostPoints, "the lists in section vary have %d combinations of values; expected at most "+
		"%d in one "+
		"run", points,
		mostPoints)
	return errors.Join(faults...)
}

// twice reports equal values in a list: their points would share a name.
func twice[T comparable](name string, list []T) error {
	for k, v := range list {
		if slices.Contains(list[:k], v) {
			return fmt.Errorf("%s[%d]: duplicate %v; remove one", name, k, v)
		}
	}
	return nil
}
