package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"graft/cluster"
	"graft/cluster/fabric"
	"graft/cluster/fabric/agent"
	"graft/cluster/fabric/graph"
	"graft/config/decode"
	"graft/internal/files"
	"graft/learn"
	"graft/learn/candidates"
	"graft/report/document"
)

// FabricKind is the kind of files with the section fabric.
var FabricKind = &Kind{
	Name: "fabric", Noun: "cluster of training steps", Command: "graft fabric run",
	Files: "files of clusters on which training steps run", Title: "training steps on a network",
	Sections: []string{"fabric", "graphs", "demand"}, New: func() File { return NewFabric() },
	Summary: summaryOf((*Fabric).Summary), Page: Page{Title: "Keys of the file of training steps on a network",
		Intro: "A file with the section `fabric`, for `graft fabric run`.\n" +
			"See [training steps on a network](fabric.md).\n"},
}

// Fabric is the file of a cluster on which training steps run operation by operation.
type Fabric struct {
	Fabric FabricOptions      // servers, and the network between them
	Graphs FabricGraphs       // networks that jobs train
	Demand FabricDemand       // jobs that arrive
	Degree FabricDegree       // who chooses the degree of each job
	Vary   FabricVary         // what is compared in one run
	Learn  candidates.Options `config:",omit=slots"` // options of the learner of 'graft learn'
	Run    learn.RunOptions   // seeds of 'graft learn', and the run folder of all commands

	sources
	profiles []*graph.Profile
	rivals   []FabricDecider
	plans    [][]*fabric.Plan // of the decider exact, by point and seed
}

// FabricOptions describe the servers and their network.
type FabricOptions struct {
	// ramp is an optical network with channels between all servers, tree has a switch in each rack and a
	// core; empty means ramp
	Network string `config:",one=ramp|tree"`
	// of ramp: groups, racks in a group, servers in a rack; of tree: racks, servers in a rack; empty means
	// 4, 4, 2 and 4, 8
	Size      []int
	Channels  int      // of ramp, between two servers; zero means 1
	Bandwidth float64  // of a server, bytes in a second; zero means 1.6e12, as in PAC-ML's experiments
	Uplink    float64  // of tree: of a rack, bytes in a second; zero is that of its servers together
	Latency   float64  `config:"latency_seconds"` // of a transfer, s; zero means 50e-9
	IO        float64  `config:"io_seconds"`      // of ramp: to send and to receive, s; zero means 100e-9
	Memory    float64  `config:"memory_bytes"`    // of a server; zero means 80e9
	Speed     float64  // of a server, by which times of operations are divided; zero means 1
	Strategy  string   `config:",one=data|tensor|pipeline"` // how a step is spread over servers; empty means data
	MaxDegree int      // largest number of parts of a step; zero means 16
	Quantum   float64  `config:"quantum_ms"` // of tensor: time of an operation for each of its parts; zero means 0.01
	Quirks    []string // faults of the simulator of PAC-ML that are kept, by name; empty keeps none
}

// EnsureDefaults fills in what zero stands for.
func (o *FabricOptions) EnsureDefaults() {
	o.Network, o.Strategy = cmp.Or(o.Network, "ramp"), cmp.Or(o.Strategy, string(fabric.Data))
	n := o.network()
	n.EnsureDefaults()
	o.Size, o.Channels, o.Bandwidth, o.Uplink, o.Latency, o.IO = n.Size, n.Channels, n.Bandwidth, n.Uplink,
		n.Latency, n.IO
	s := fabric.Options{MaxParts: o.MaxDegree, Quantum: o.Quantum, Memory: o.Memory, Speed: o.Speed}
	s.EnsureDefaults()
	o.MaxDegree, o.Quantum, o.Memory, o.Speed = s.MaxParts, s.Quantum, s.Memory, s.Speed
}

// Validate joins all that is wrong.
func (o FabricOptions) Validate() error {
	quirks, err := cluster.NamedQuirks(o.Quirks, fabric.Quirks())
	if err != nil {
		return err
	}
	s := o.options(quirks)
	_, err = o.network().Make(quirks)
	return errors.Join(err, s.Validate())
}

func (o *FabricOptions) network() fabric.NetworkOptions {
	return fabric.NetworkOptions{Kind: o.Network, Size: o.Size, Channels: o.Channels, Bandwidth: o.Bandwidth,
		Uplink: o.Uplink, Latency: o.Latency, IO: o.IO}
}

func (o *FabricOptions) options(q cluster.Quirks) fabric.Options {
	s := fabric.Options{Strategy: fabric.Strategy(o.Strategy), MaxParts: o.MaxDegree, Quantum: o.Quantum,
		Memory: o.Memory, Speed: o.Speed, Quirks: q}
	s.EnsureDefaults()
	return s
}

// FabricGraphs name the networks that jobs train.
type FabricGraphs struct {
	// Models are networks of the zoo, files of networks, profiles of PipeDream (.txt) or graphs (.json).
	// Empty means ResNet18, VGG11BN, MobileNetV2, CIFARResNet56 and LargeConvNet.
	Models []string
	// height and width of the images of each network, pixels, zero for its own; empty leaves all at their own
	Sizes   []int
	Batch   int       // examples in a step of a network; zero means 64
	Profile string    // times of a device for networks, by name or file; empty means round-gpu
	Weights []float64 // how often jobs train each, beside the others; empty means all alike
}

// EnsureDefaults fills in what zero stands for.
func (o *FabricGraphs) EnsureDefaults() {
	o.Batch, o.Profile = cmp.Or(o.Batch, 64), cmp.Or(o.Profile, "round-gpu")
	if len(o.Models) == 0 {
		o.Models = []string{"ResNet18", "VGG11BN", "MobileNetV2", "CIFARResNet56", "LargeConvNet"}
	}
}

// Validate joins all that is wrong.
func (o FabricGraphs) Validate() error {
	var faults faultList
	faults.when(len(o.Sizes) > 0 && len(o.Sizes) != len(o.Models),
		"sizes has %d values and models %d; give one for each network, zero for its own", len(o.Sizes), len(o.Models))
	faults.when(o.Batch < 1, "batch is %d; must be at least 1", o.Batch)
	for k, name := range o.Models {
		faults.when(name == "", "models[%d] is empty; name a network or a file", k)
		faults.when(slices.Contains(o.Models[:k], name), "models[%d]: %s is given twice", k, name)
	}
	return errors.Join(faults...)
}

// FabricDemand says which jobs arrive.
type FabricDemand struct {
	Jobs  int // of an episode; zero means 200
	Steps int // training steps of a job; zero means 50
	// servers that jobs would keep busy if none was split, as a share of all; zero means 1
	Load  float64
	Every time.Duration // mean time between arrivals, in place of load; zero follows from load
	// distribution of times between arrivals; regular has all alike; empty means exponential
	Gaps string `config:",one=exponential|regular"`
	// load rises and falls by this share in each period, from 0 to below 1; zero is steady
	Swing  float64
	Period int // jobs of a period; zero means 50
	// distribution of the share of its time on one server that a job may take; empty means uniform
	Limits string  `config:",one=uniform|fixed|skewed|values"`
	Least  float64 // lower end of uniform and skewed; zero means 0.1
	Most   float64 // upper end of uniform and skewed, and the share of fixed; zero means 1
	// of skewed; positive ones have more short limits: PAC-ML's distributions B, C and D have 5, 0 and -5
	Skewness        float64
	Values          []float64 // of values
	Shares          []float64 // how often each of the values is drawn; empty means all alike
	Seed            uint64    // of the first episode; default 1
	TrainCount      int       // episodes to learn from; zero means 20
	ValidationCount int       // episodes that choose what is learned; zero means 10
	TestCount       int       // episodes on which deciders are compared; zero means 5
}

// EnsureDefaults fills in what zero stands for.
func (o *FabricDemand) EnsureDefaults() {
	d := o.demand(nil)
	d.EnsureDefaults()
	o.Jobs, o.Steps, o.Load, o.Gaps, o.Period = d.Jobs, d.Steps, d.Load, string(d.Gaps), d.Period
	o.Limits, o.Least, o.Most = d.Limits.Kind, d.Limits.Least, d.Limits.Most
	o.TrainCount, o.ValidationCount, o.TestCount = cmp.Or(o.TrainCount, 20), cmp.Or(o.ValidationCount, 10),
		cmp.Or(o.TestCount, 5)
}

// mostStepJobs bounds the jobs of an episode.
const mostStepJobs = 1_000_000

// Validate joins all that is wrong.
func (o FabricDemand) Validate() error {
	var faults faultList
	faults.when(o.Jobs > mostStepJobs, "jobs is %d; must be at most %d", o.Jobs, mostStepJobs)
	for name, v := range map[string]int{"train_count": o.TrainCount, "validation_count": o.ValidationCount,
		"test_count": o.TestCount} {
		faults.when(v < 1 || v > mostWorkloads, "%s is %d; must be from 1 to %d", name, v, mostWorkloads)
	}
	d := o.demand(nil)
	return errors.Join(append(faults, d.Validate(0))...)
}

func (o *FabricDemand) demand(weights []float64) fabric.Demand {
	return fabric.Demand{Jobs: o.Jobs, Steps: o.Steps, Load: o.Load, Every: o.Every.Seconds(),
		Gaps: fabric.Gaps(o.Gaps), Swing: o.Swing, Period: o.Period, Weights: weights,
		Limits: fabric.Limits{Kind: o.Limits, Least: o.Least, Most: o.Most, Skewness: o.Skewness, Values: o.Values,
			Shares: o.Shares}}
}

// Deciders that know all jobs of an episode.
const (
	BestConstant = "best-constant" // the constant degree that blocks fewest jobs over all seeds, chosen afterwards
	Exact        = "exact"         // the fewest jobs that can be blocked, by a search
)

// mostStates bounds the states of a search.
const mostStates = 100_000

// FabricDegree names the ways to choose degrees.
type FabricDegree struct {
	// Deciders to compare: never, least, most, in-time, thrifty, quickest, random, constant-N with a degree
	// N, best-constant, the constant degree that blocks fewest jobs, chosen afterwards, exact, the fewest blocked
	// jobs of all choices, found by a search of small episodes, or learned ones, each a run folder of 'graft learn' or
	// a file of its policies. Empty means all but exact, constant-N and learned ones.
	Deciders []string
	Against  string // decider that differences are from; empty means the first
	Worth    bool   // also simulates the first decider with each quirk alone; default false
	Workers  int    `result:"none"` // episodes in parallel; zero means one for each processor
}

// EnsureDefaults fills in what zero stands for.
func (o *FabricDegree) EnsureDefaults() {
	if len(o.Deciders) == 0 {
		o.Deciders = []string{BestConstant}
		for _, k := range fabric.Kinds() {
			o.Deciders = append(o.Deciders, k.Name)
		}
	}
}

// Validate joins all that is wrong.
func (o FabricDegree) Validate() error {
	var faults faultList
	for k, name := range o.Deciders {
		if name != BestConstant && name != Exact {
			if _, err := fabric.Named(name); err != nil && !isPath(name) {
				faults = append(faults, fmt.Errorf("deciders[%d]: %w, %s, %s, or the path of a learned one, "+
					"such as ./%s", k, err, BestConstant, Exact, name))
			}
		}
		faults.when(slices.Contains(o.Deciders[:k], name), "deciders[%d]: %s is given twice", k, name)
	}
	faults.when(o.Worth && len(o.Deciders) > 0 && o.Deciders[0] == Exact,
		"worth is of the first decider, and %s searches without quirks; put another one first", Exact)
	faults.when(o.Workers < 0, "workers is %d; must not be negative", o.Workers)
	return errors.Join(faults...)
}

// FabricVary lists values that replace a key; every combination is simulated.
type FabricVary struct {
	Loads      []float64 // of demand.load, without demand.every; empty is that one
	Bandwidths []float64 // of fabric.bandwidth, with fabric.uplink in proportion; empty is that one
	Skewness   []float64 // of demand.skewness, where demand.limits is skewed; empty is that one
	MaxDegrees []int     // of fabric.max_degree; empty is that one
	// of fabric.network with fabric.size, such as ramp 4x4x2 or tree 4x8, or a kind alone; empty is that one
	Networks []string `json:",omitempty"`
}

// mostPoints bounds the combinations of a run.
const mostPoints = 1000

// Validate joins all that is wrong.
func (o FabricVary) Validate() error {
	var faults faultList
	for k, text := range o.Networks {
		if _, err := (fabric.NetworkOptions{}).Renamed(text); err != nil {
			faults = append(faults, fmt.Errorf("networks[%d]: %w", k, err))
		}
	}
	for name, list := range map[string][]float64{"loads": o.Loads, "bandwidths": o.Bandwidths} {
		for k, v := range list {
			faults.when(!(v > 0), "%s[%d] is %v; must be more than 0", name, k, v)
		}
	}
	points := max(1, len(o.Loads)) * max(1, len(o.Bandwidths)) * max(1, len(o.Skewness)) * max(1,
		len(o.MaxDegrees)) * max(1, len(o.Networks))
	faults.when(points > mostPoints, "%d combinations of values; at most %d are simulated in one run", points,
		mostPoints)
	return errors.Join(faults...)
}

// NewFabric returns an empty file, before EnsureDefaults. Ten lessons and ten rounds are enough: an agent learns
// in seconds, and more changed little.
func NewFabric() *Fabric {
	return &Fabric{Demand: FabricDemand{Seed: 1}, Learn: candidates.Options{Lessons: 10, Rounds: 10},
		Run: learn.RunOptions{Seed: 1, Every: 1}}
}

// ReadFabric is FabricKind.Read.
func ReadFabric(fsys files.FS, path string, set []string) (*Fabric, error) {
	return readAs[*Fabric](FabricKind, fsys, path, set)
}

// EnsureDefaults fills in what zero stands for.
func (f *Fabric) EnsureDefaults() {
	f.Fabric.EnsureDefaults()
	f.Graphs.EnsureDefaults()
	f.Demand.EnsureDefaults()
	f.Degree.EnsureDefaults()
	f.Learn.EnsureDefaults()
	f.Run.EnsureDefaults()
}

// Validate joins all that is wrong.
func (f *Fabric) Validate() error {
	var faults faultList
	faults.when(len(f.Vary.Loads) > 0 && f.Demand.Every != 0,
		"vary.loads is set beside demand.every, which replaces the load; leave out one of them")
	faults.when(len(f.Vary.Skewness) > 0 && f.Demand.Limits != "skewed",
		"vary.skewness is set, but demand.limits is %s; set it to skewed, or leave skewness out", f.Demand.Limits)
	return errors.Join(append(faults, f.Fabric.Validate(), f.Graphs.Validate(), f.Demand.Validate(),
		f.Degree.Validate(), f.Vary.Validate(), f.Learn.Validate(), agent.CheckTeacher(f.Learn.Teacher),
		f.Run.Validate())...)
}

// check reads the graphs, and draws and places the jobs of each combination.
func (f *Fabric) check(fsys files.FS, r *decode.Reading) {
	if f.Validate() != nil || !f.readSteps(fsys, r) || !f.readDeciders(fsys, r) {
		return
	}
	f.plans = nil
	for _, p := range f.Points() {
		s, err := f.Cluster(p, f.Quirks())
		if err == nil {
			_, err = f.Episode(s, p, 0)
		}
		if err != nil {
			r.Blame("fabric", fmt.Sprintf("%s: %v", cmp.Or(p.Name(), "the cluster"), err))
			return
		}
		if model, err := s.Homeless(); err != nil {
			r.Blame("graphs.models", fmt.Sprintf("%s fits on no servers at any degree: %v",
				f.Graphs.Models[model], err))
			return
		}
		if err := f.search(s, p); err != nil {
			r.Blame("degree.deciders", err.Error())
			return
		}
	}
}

// readSteps reads the graphs, and reports whether all is right.
func (f *Fabric) readSteps(fsys files.FS, r *decode.Reading) bool {
	f.profiles = nil
	for k, name := range f.Graphs.Models {
		o := GraphOptions{Batch: f.Graphs.Batch, Profile: f.Graphs.Profile}
		if len(f.Graphs.Sizes) > 0 {
			o.Size = f.Graphs.Sizes[k]
		}
		p, err := ReadGraph(fsys, name, o)
		if err == nil {
			err = CheckGraph(p)
		}
		if err != nil {
			r.Blame("graphs.models", fmt.Sprintf("models[%d]: %v", k, r.Elsewhere("graphs.models", err)))
			return false
		}
		if filepath.Ext(name) == "" {
			p.Model = name // ResNet18, where its class is ResNet
		}
		if slices.ContainsFunc(f.profiles, func(other *graph.Profile) bool { return other.Model == p.Model }) {
			r.Blame("graphs.models", fmt.Sprintf("models[%d]: two networks have the name %s; rename the file of one", k,
				p.Model))
			return false
		}
		f.profiles = append(f.profiles, p)
	}
	return true
}

// Resolved is the text of the file with every value.
func (f *Fabric) Resolved() string { return Resolved(f) }

// Digest covers what results depend on, the contents of the graphs too.
func (f *Fabric) Digest() string {
	return digest(f, func(w io.Writer) {
		for _, p := range f.profiles {
			fmt.Fprintln(w, *p)
		}
		for _, d := range f.rivals {
			fmt.Fprintln(w, d.digest)
		}
	})
}

// Summary is the cluster in a line.
func (f *Fabric) Summary() (string, error) {
	return fmt.Sprintf("%s of %s of %d networks on %s of %d servers under %s; digest %.12s",
		document.Plural(len(f.Points())*f.Demand.TestCount, "episode"), document.Plural(f.Demand.Jobs, "job"),
		len(f.profiles), f.Fabric.Network, product(f.Fabric.Size), strings.Join(f.Degree.Deciders, ", "),
		f.Digest()), nil
}

func product(list []int) int {
	all := 1
	for _, n := range list {
		all *= n
	}
	return all
}
