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

// Arrivals names a distribution of submission times.
type Arrivals int

const (
	// Diurnal follows working hours and weekends; several jobs can arrive in the same second.
	Diurnal Arrivals = iota
	// Poisson uses a constant rate and independent arrivals.
	Poisson
)

// Defaults of GenerateOptions: a month of a research cluster.
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

// GenerateOptions holds the options of a generated trace. The zero value generates a trace that resembles one month of
// the research cluster Venus in the Helios traces: 23,859 jobs in 26 days on 135 nodes.
type GenerateOptions struct {
	Jobs        int // number of jobs; zero means 23,859
	Days        int // number of days of submission; zero means 26
	Nodes       int // number of nodes; zero means 135
	GPUsPerNode int // GPUs per node; zero means 8
	VCs         int // number of virtual clusters, which share the nodes; zero means one per nine nodes
	Users       int // number of users, each in one virtual cluster; zero means eight per virtual cluster
	// Load is the GPU time of all jobs divided by the GPU time that the cluster offers in Days days. Durations are
	// scaled to reach this load. Zero keeps the drawn durations.
	Load     float64
	Seed     uint64    // seed of all random numbers; zero is a valid seed
	Arrivals Arrivals  // distribution of submissions over the days; zero means Diurnal
	Start    time.Time // date of second zero, a midnight in UTC; the zero time means Tuesday 2020-09-01
}

// EnsureDefaults replaces zero values with defaults.
func (o *GenerateOptions) EnsureDefaults() {
	o.Jobs, o.Days = cmp.Or(o.Jobs, defaultJobs), cmp.Or(o.Days, defaultDays)
	o.Nodes, o.GPUsPerNode = cmp.Or(o.Nodes, defaultNodes), cmp.Or(o.GPUsPerNode, gpusPerNode)
	o.VCs = cmp.Or(o.VCs, max(o.Nodes/9, 1))
	o.Users = cmp.Or(o.Users, usersPerVC*o.VCs)
	if o.Start.IsZero() {
		o.Start = dateOf(2020, 9, 1)
	}
}

// Validate returns an error that lists every invalid option.
func (o *GenerateOptions) Validate() error {
	var faults validate.Faults
	for _, r := range []struct {
		what     string
		value    int
		from, to int
	}{
		{"jobs", o.Jobs, 1, maxJobs}, {"days", o.Days, 1, maxDays}, {"nodes", o.Nodes, 1, MaxNodes},
		{"GPUs per node", o.GPUsPerNode, 1, 1024}, {"virtual clusters", o.VCs, 1, MaxNodes},
		{"users", o.Users, 1, maxUsers},
	} {
		faults.When(r.value < r.from || r.value > r.to, "the number of %s is %d; expected %d to %d", r.what, r.value,
			r.from,
			r.to)
	}
	faults.When(o.VCs > o.Nodes, "the cluster has %d virtual clusters, but only %d nodes; expected at least one node "+
		"per virtual cluster", o.VCs, o.Nodes)
	faults.When(o.Users < o.VCs, "the cluster has only %d users for %d virtual clusters; expected at least one user "+
		"per virtual cluster", o.Users, o.VCs)
	faults.When(!(o.Load >= 0 && o.Load <= maxLoad), "load is %g; expected 0 to %d", o.Load, maxLoad)
	faults.When(o.Arrivals != Diurnal && o.Arrivals != Poisson, "unknown arrival process %d; expected Diurnal or "+
		"Poisson",
		o.Arrivals)
	faults.When(o.Start.Unix()%secondsOfDay != 0 || o.Start.Nanosecond() != 0 || o.Start.Year() < 1 ||
		o.Start.Year() > 9000, "start is %s; expected midnight in UTC in a year from 1 to 9000", o.Start)
	return errors.Join(faults...)
}

// Generator generates jobs in order of submission. Its memory use does not grow with the number of jobs. The same
// options always give the same jobs.
type Generator struct {
	o        GenerateOptions
	vcs      []VC
	owners   [][]string // users by virtual cluster
	sizes    []genSize  // possible sizes of jobs in this cluster
	stretch  float64    // factor of durations
	arrivals *arrivals
	used     []float64 // GPU seconds assigned to each virtual cluster
	given    float64   // sum of used
	weights  []float64 // scratch space of the next draw
	made     int
	last     template
	names    interner

	pick, time *rand.Rand // streams for users and their jobs, and for durations
}

// Streams of random numbers, one per purpose, so that a change of one purpose does not affect the others.
const (
	streamArrivals = iota + 1
	streamPick
	streamTime
)

func stream(seed uint64, purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, purpose)) }

// Generate returns a generator of a random trace.
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

// VCs returns the virtual clusters of the jobs, largest first.
func (g *Generator) VCs() []VC { return append([]VC(nil), g.vcs...) }

// Start returns the date at which the trace's time is zero.
func (g *Generator) Start() time.Time { return g.o.Start }

// Read fills in the next job. It returns io.EOF after the last job.
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

// vcDecay is the exponent of the sizes of virtual clusters: the k-th has 1/k^0.8 of the first one's nodes, as in Venus.
const vcDecay = 0.8

// divided distributes nodes so that each virtual cluster has at least one.
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

// housed distributes the users among the virtual clusters, round robin.
func housed(users int, vcs []VC) [][]string {
	owners := make([][]string, len(vcs))
	for u := range users {
		k := u % len(vcs)
		owners[k] = append(owners[k], fmt.Sprintf("user%03d", u+1))
	}
	return owners
}
