package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"graft/internal/validate"
)

// Arrivals is the distribution of submissions over the days.
type Arrivals int

const (
	// Diurnal has hours of work and weekends, and jobs that come in the same second.
	Diurnal Arrivals = iota
	// Poisson has one rate throughout, and no job waits for another to come.
	Poisson
)

// What GenerateOptions are where nothing is said: a month of a cluster for research.
const (
	defaultJobs  = 23_859
	defaultDays  = 26
	defaultNodes = 135
	usersPerVC   = 8
	maxJobs      = 1_000_000_000
	maxDays      = 36_500
	maxUsers     = 1_000_000
	maxLoad      = 100
)

// GenerateOptions say what a trace that is made up is like. The zero value is like the
// month of a cluster for research that Helios calls Venus: 23,859 jobs in 26 days on 135
// nodes.
type GenerateOptions struct {
	Jobs        int // number of jobs; zero is 23,859
	Days        int // number of days of submission; zero is 26
	Nodes       int // number of nodes of the cluster; zero is 135
	GPUsPerNode int // number of GPUs of a node; zero is 8
	VCs         int // number of virtual clusters that share the nodes; zero is one for every nine nodes
	Users       int // number of users, each in one virtual cluster; zero is eight for each virtual cluster
	// Load is the GPU time that jobs want over what the cluster has in these days, to which
	// durations are stretched; zero leaves them as they are drawn.
	Load     float64
	Seed     uint64    // seed of all draws; zero is a seed like any other
	Arrivals Arrivals  // distribution of submissions over the days; zero is Diurnal
	Start    time.Time // date of second zero, which has to be a midnight in UTC; the zero time is Tuesday 2020-09-01
}

// EnsureDefaults sets what is zero.
func (o *GenerateOptions) EnsureDefaults() {
	o.Jobs, o.Days = cmp.Or(o.Jobs, defaultJobs), cmp.Or(o.Days, defaultDays)
	o.Nodes, o.GPUsPerNode = cmp.Or(o.Nodes, defaultNodes), cmp.Or(o.GPUsPerNode, gpusPerNode)
	o.VCs = cmp.Or(o.VCs, max(o.Nodes/9, 1))
	o.Users = cmp.Or(o.Users, usersPerVC*o.VCs)
	if o.Start.IsZero() {
		o.Start = dateOf(2020, 9, 1)
	}
}

// Validate names all that is wrong with the options.
func (o *GenerateOptions) Validate() error {
	var faults validate.Faults
	for _, r := range []struct {
		what     string
		value    int
		from, to int
	}{
		{"jobs", o.Jobs, 1, maxJobs}, {"days", o.Days, 1, maxDays}, {"nodes", o.Nodes, 1, MaxNodes},
		{"GPUs of a node", o.GPUsPerNode, 1, 1024}, {"virtual clusters", o.VCs, 1, MaxNodes},
		{"users", o.Users, 1, maxUsers},
	} {
		faults.When(r.value < r.from || r.value > r.to, "%d %s: expected %d to %d", r.value, r.what, r.from, r.to)
	}
	faults.When(o.VCs > o.Nodes, "%d virtual clusters cannot share %d nodes: give at most one for each", o.VCs, o.Nodes)
	faults.When(o.Users < o.VCs, "%d users cannot fill %d virtual clusters: give at least one for each", o.Users, o.VCs)
	faults.When(!(o.Load >= 0 && o.Load <= maxLoad), "a load of %g: expected 0 to %d", o.Load, maxLoad)
	faults.When(o.Arrivals != Diurnal && o.Arrivals != Poisson, "arrivals %d are neither Diurnal nor Poisson",
		o.Arrivals)
	faults.When(o.Start.Unix()%secondsOfDay != 0 || o.Start.Nanosecond() != 0 || o.Start.Year() < 1 ||
		o.Start.Year() > 9000, "the start %s is no midnight in UTC of a year from 1 to 9000", o.Start)
	return errors.Join(faults...)
}

// Generator makes jobs up, in the order of their submission. Its memory does not grow with
// their number. Equal options give equal jobs.
type Generator struct {
	o        GenerateOptions
	vcs      []VC
	owners   [][]string // users of each virtual cluster
	sizes    []genSize  // that jobs can have in this cluster
	stretch  float64    // of durations
	arrivals *arrivals
	used     []float64 // GPU seconds that each virtual cluster was given
	given    float64   // of all
	weights  []float64 // room for the next draw
	made     int
	last     template
	names    interner

	pick, time *rand.Rand // who submits what, and how long it takes
}

// The streams of random numbers: a change of one purpose leaves the others as they are.
const (
	streamArrivals = iota + 1
	streamPick
	streamTime
)

func stream(seed uint64, purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, purpose)) }

// Generate begins a trace.
func Generate(o GenerateOptions) (*Generator, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("generate a trace: %w", err)
	}
	g := &Generator{o: o, stretch: 1, pick: stream(o.Seed, streamPick), time: stream(o.Seed, streamTime)}
	g.vcs = divided(o.Nodes, o.VCs)
	g.used, g.weights = make([]float64, o.VCs), make([]float64, o.VCs)
	g.owners = housed(o.Users, g.vcs)
	g.sizes = sizesFor(g.vcs, o.GPUsPerNode)
	if o.Load > 0 {
		g.stretch = stretchFor(g.sizes, o)
	}
	g.arrivals = newArrivals(&o)
	return g, nil
}

// VCs are the virtual clusters that the jobs are given to, the largest first.
func (g *Generator) VCs() []VC { return append([]VC(nil), g.vcs...) }

// Start is the date of second zero.
func (g *Generator) Start() time.Time { return g.o.Start }

// Read fills in the next job; at the end it is io.EOF.
func (g *Generator) Read(job *Job) error {
	if g.made == g.o.Jobs {
		return io.EOF
	}
	submit, together := g.arrivals.next()
	if !together {
		g.last = g.draw()
	}
	g.made++
	g.fill(job, &g.last)
	job.ID, job.Submit = fmt.Sprintf("%07d", g.made), submit
	return nil
}

// vcDecay is the exponent of the sizes of virtual clusters: the k-th one has 1/k^0.8 of the
// first, as in Venus.
const vcDecay = 0.8

// divided shares nodes out, so that each virtual cluster has one.
func divided(nodes, n int) []VC {
	weights, sum := make([]float64, n), 0.0
	for k := range weights {
		weights[k] = math.Pow(float64(k+1), -vcDecay)
		sum += weights[k]
	}
	vcs, left := make([]VC, n), nodes-n
	for k := range vcs {
		more := int(float64(nodes-n) * weights[k] / sum)
		vcs[k] = VC{Name: fmt.Sprintf("vc%02d", k+1), Nodes: 1 + more}
		left -= more
	}
	for k := 0; left > 0; k = (k + 1) % n {
		vcs[k].Nodes++
		left--
	}
	return vcs
}

// housed divides the users among the virtual clusters, round robin.
func housed(users int, vcs []VC) [][]string {
	owners := make([][]string, len(vcs))
	for u := range users {
		k := u % len(vcs)
		owners[k] = append(owners[k], fmt.Sprintf("user%03d", u+1))
	}
	return owners
}
