package study

import (
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"

	"graft/cluster"
	"graft/internal/stat"
	"graft/internal/validate"
)

// Plan lists what is simulated: every scheduler on every workload at every point, with every seed.
type Plan struct {
	Title      string         // the study in one sentence, without a full stop
	Remarks    []string       // sentences below it
	Facts      map[string]any // the study for programs; a key ends in the unit of its value
	Points     []Point        // combinations of what varies; one without a name where nothing does
	Workloads  []string       // names, unique; the same at every point
	Schedulers []Scheduler    // in the order of the file
	Against    string         // baseline of differences
	Metrics    []Metric       // of cells, in the order of columns
	Rank       []string       // metrics by which schedulers are ranked; the first one is that of samples
	Jobs       int            // jobs in all workloads of a point
	Workers    int            // cells at a time; zero means one per processor
	Inputs     string         // digest of the files that Prepare read; empty for none
	Ablation   []Ablation     // quirks to simulate alone, by scheduler; nil simulates none
	// AblatePoints and AblateWorkloads are the numbers of points and workloads, the first ones, that ablations
	// simulate. Zero means 1.
	AblatePoints, AblateWorkloads int
	// PairJobs compares the samples of each cell with those of Against on the same workload, job by job.
	PairJobs bool
	// Interval returns the interval of a mean over the jobs of a workload, whose samples are NaN for jobs that were
	// left out; nil for no jobs. A nil function draws jobs independently of each other.
	Interval func(of Of, point, workload int, samples []float64) *Interval
	// References returns levels to compare schedulers with, such as lower bounds; nil has none.
	References func(ctx context.Context) ([]Reference, error)
	// Remark returns sentences below the results; nil has none.
	Remark func(o *Outcome) []string
}

// Point is a combination of what varies in a study.
type Point struct {
	Name string `json:"name"` // unique; empty for the only point
	// the quantities that vary, by name with unit; figures have them on an axis
	Values map[string]float64 `json:"values"`
}

// Scheduler is a scheduler of a plan.
type Scheduler struct {
	Name    string
	Seeds   []uint64 // of each simulation of a workload; nil for one that draws nothing
	Learned int      // policies that learned with seeds of their own, simulated in turn; zero for others
	Mark    string   // sign behind the name in tables, which Remark explains; empty for none
}

// Draws reports whether results depend on a seed.
func (s *Scheduler) Draws() bool { return len(s.Seeds) > 0 }

// runs returns the number of simulations of a workload.
func (s *Scheduler) runs() int { return max(1, len(s.Seeds), s.Learned) }

// seed returns the seed of a simulation, by its place: that of the draws, or the number of the policy from 1.
func (s *Scheduler) seed(k int) uint64 {
	switch {
	case len(s.Seeds) > 0:
		return s.Seeds[k]
	case s.Learned > 0:
		return uint64(k) + 1
	}
	return 0
}

// Ablation holds the quirks that are simulated alone under a scheduler.
type Ablation struct {
	Scheduler int // place in the plan
	Quirks    []cluster.Quirk
}

// Better says which values of a metric are better.
type Better string

// Directions of metrics.
const (
	Lower   Better = "lower"
	Higher  Better = "higher"
	Neutral Better = "neither"
)

// Metric is a quantity of a simulation.
type Metric struct {
	Name   string `json:"name"`   // in words with underscores, without its unit, such as jct_mean
	Unit   string `json:"unit"`   // such as s or slots; empty for counts and ratios
	Title  string `json:"title"`  // column in tables
	About  string `json:"about"`  // meaning, in one sentence without its subject
	Better Better `json:"better"` // values that are better: lower, higher or neither
	Format string `json:"format"` // verb of numbers in tables; empty means %.4g
	Main   bool   `json:"main"`   // shown in lists of runs and comparisons of runs
	Total  bool   `json:"total"`  // summed over workloads and seeds in place of their mean
	Hidden bool   `json:"hidden"` // in JSON and CSV only
}

var notInKeys = regexp.MustCompile(`[^A-Za-z0-9]+`)

// Key is the name of the metric with its unit, in JSON: jct_mean_s. Tables have the column "jct_mean [s]".
func (m *Metric) Key() string {
	if m.Unit == "" {
		return m.Name
	}
	return m.Name + "_" + strings.ToLower(notInKeys.ReplaceAllString(m.Unit, "_"))
}

// Reference is a level to compare schedulers with, such as a lower bound of the mean.
type Reference struct {
	Name   string   `json:"name"`   // such as lower bound
	About  string   `json:"about"`  // one sentence
	Metric string   `json:"metric"` // key of the metric
	Point  string   `json:"point"`  // name of the point; empty for the only one
	Values []Number `json:"values"` // by workload
	Mean   Number   `json:"mean"`   // over workloads
	// Bound says that no scheduler is better than the level: rankings state means relative to it.
	Bound bool `json:"bound"`
}

// Validate reports errors of a world in its plan.
func (p *Plan) Validate() error {
	var faults validate.Faults
	faults.When(len(p.Points) == 0 || len(p.Workloads) == 0 || len(p.Schedulers) == 0,
		"a plan needs a point, a workload and a scheduler")
	for _, name := range p.Rank {
		faults.When(p.metric(name) == nil, "rank: there is no metric %q", name)
	}
	for k := range p.Metrics {
		m := &p.Metrics[k]
		same := func(other Metric) bool { return other.Key() == m.Key() }
		faults.When(slices.ContainsFunc(p.Metrics[:k], same), "metric %q is given twice", m.Key())
	}
	faults.When(p.Against != "" && p.scheduler(p.Against) < 0,
		"against is %s, which is not among the schedulers", p.Against)
	return errors.Join(faults...)
}

func (p *Plan) metric(key string) *Metric {
	k := slices.IndexFunc(p.Metrics, func(m Metric) bool { return m.Key() == key })
	if k < 0 {
		return nil
	}
	return &p.Metrics[k]
}

func (p *Plan) scheduler(name string) int {
	return slices.IndexFunc(p.Schedulers, func(s Scheduler) bool { return s.Name == name })
}

// Of says what an interval is of.
type Of int

// Intervals of a study.
const (
	OfMean       Of = iota // metric of a cell
	OfDifference           // difference from the baseline
	OfQuirk                // effect of a quirk
)

// interval is the interval of a mean over jobs, whose samples may be NaN; nil for no jobs.
func (p *Plan) interval(of Of, point, workload int, samples []float64) *Interval {
	if p.Interval != nil {
		return p.Interval(of, point, workload, samples)
	}
	known := slices.DeleteFunc(slices.Clone(samples), math.IsNaN)
	switch len(known) {
	case 0:
		return nil
	case 1:
		return &Interval{Number(known[0]), Number(math.NaN()), Number(math.NaN())}
	}
	i := stat.MeanInterval(known, 1)
	return &Interval{Number(i.Mean), Number(i.Low), Number(i.High)}
}

// NewReference is a reference with the mean of its values.
func NewReference(name, about, metric, point string, values []float64) Reference {
	r := Reference{Name: name, About: about, Metric: metric, Point: point, Mean: Number(stat.Mean(values))}
	for _, v := range values {
		r.Values = append(r.Values, Number(v))
	}
	return r
}
