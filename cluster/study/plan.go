package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"graft/cluster"
	"graft/internal/stat"
	"graft/internal/validate"
)

// Plan lists the simulations: one for each combination of point (swept values), workload, scheduler and seed.
type Plan struct {
	Title      string         // title of the study, one sentence without a full stop
	Remarks    []string       // sentences to print below the title
	Facts      map[string]any // facts about the study for other programs; each key ends with its unit
	Points     []Point        // combinations of swept values; a single unnamed point if nothing is swept
	Workloads  []string       // unique names of the workloads, the same at every point
	Schedulers []Scheduler    // schedulers in the order of the file
	Against    string         // name of the baseline for differences; empty means the first scheduler
	Metrics    []Metric       // metrics of cells, in the order of columns
	// keys of the metrics that rank schedulers; samples hold each job's value of the first metric
	Rank     []string
	Jobs     int        // number of jobs in all workloads of a point
	Workers  int        // number of cells simulated in parallel; zero means one per processor
	Inputs   string     // digest of the files that Prepare read; empty if it read none
	Ablation []Ablation // quirks to simulate one at a time, by scheduler; nil means none
	// Ablations simulate only the first AblatePoints points and the first AblateWorkloads workloads. Zero means 1.
	AblatePoints, AblateWorkloads int
	// NoQuirks states that the study's own simulations run without quirks. Ablations then compare each quirk with these
	// simulations. Otherwise, ablations run extra simulations without quirks for this comparison.
	NoQuirks bool
	// PairJobs states that the samples of each simulation are compared with the baseline's samples on the same
	// workload, paired by job.
	PairJobs bool
	// positions of the points with which points are compared, negative for none; empty if no points are compared
	Bases []int
	// keys of the metrics whose differences from these points are reported
	Compared []string
	// PairSeeds states that PairJobs compares simulations with the same seed, because the seed determines their common
	// inputs, such as failures of nodes. Otherwise, all are compared with the baseline's first simulation.
	PairSeeds bool
	// Interval returns the mean of samples, one per job of a workload at a point, with its confidence interval; it
	// returns nil if the workload has no jobs. Samples are NaN for jobs that were left out. If the field Interval is
	// nil, the jobs are treated as independent.
	Interval func(of Of, point, workload int, samples []float64) *Interval
	// Crossed returns the mean of samples with its confidence interval over jobs and seeds of the only workload. There
	// is a list of samples per seed, with one sample per job of a point. Nil means that such intervals are not
	// computed.
	Crossed func(point int, samples [][]float64) *Interval
	// References returns reference values to compare schedulers with, such as lower bounds. Nil means none.
	References func(ctx context.Context) ([]Reference, error)
	// Remark returns sentences to print below the results. Nil means none.
	Remark func(o *Outcome) []string
}

// pairsSeeds reports whether each seed has its own baseline. If only learned policies are repeated, all of them are
// compared with the baseline's only simulation.
func (p *Plan) pairsSeeds() bool {
	draws := func(s Scheduler) bool { return s.Draws() }
	return p.PairSeeds && slices.ContainsFunc(p.Schedulers, draws)
}

// Point is a combination of swept values.
type Point struct {
	Name string `json:"name"` // unique name; empty for the only point
	// values of the swept quantities, by name with unit; figures use these quantities as axes
	Values map[string]float64 `json:"values"`
}

// Scheduler describes a scheduler of a plan.
type Scheduler struct {
	Name string
	// seeds, one per simulation of a workload; nil for a scheduler that draws no random numbers
	Seeds []uint64
	// number of learned policies, each of which is simulated; zero for a built-in scheduler
	Learned int
	Mark    string // suffix of the name in tables, which Remark explains; may be empty
}

// Draws reports whether results depend on a seed.
func (s *Scheduler) Draws() bool { return len(s.Seeds) > 0 }

// runs returns the number of simulations of a workload.
func (s *Scheduler) runs() int { return max(1, len(s.Seeds), s.Learned) }

// seed returns the seed of the k-th simulation: the seed of its draws, or the number of the policy from 1.
func (s *Scheduler) seed(k int) uint64 {
	switch {
	case len(s.Seeds) > 0:
		return s.Seeds[k]
	case s.Learned > 0:
		return uint64(k) + 1
	}
	return 0
}

// Ablation lists quirks of a scheduler. Each quirk is simulated separately, without the other quirks.
type Ablation struct {
	Scheduler int // position of the scheduler in the plan
	Quirks    []cluster.Quirk
}

// Better states whether lower or higher values of a metric are better.
type Better string

// Values of [Better].
const (
	Lower   Better = "lower"
	Higher  Better = "higher"
	Neutral Better = "neither"
)

// Metric describes a quantity that simulations measure.
type Metric struct {
	Name   string `json:"name"`   // name in words with underscores, without the unit, such as jct_mean
	Unit   string `json:"unit"`   // unit such as s or slots; empty for counts and ratios
	Title  string `json:"title"`  // column title in tables
	About  string `json:"about"`  // meaning of the metric, one sentence without its subject
	Better Better `json:"better"` // direction in which the metric is better: lower, higher or neither
	Format string `json:"format"` // format verb in tables; empty means %.4g
	Main   bool   `json:"main"`   // shows the metric in lists of runs and comparisons of runs
	Total  bool   `json:"total"`  // sums the metric over workloads instead of averaging it
	Hidden bool   `json:"hidden"` // omits the metric except in JSON and CSV
}

var notInKeys = regexp.MustCompile(`[^A-Za-z0-9]+`)

// Key returns the metric's JSON name with its unit, such as jct_mean_s. In tables, the column is "jct_mean [s]".
func (m *Metric) Key() string {
	if m.Unit == "" {
		return m.Name
	}
	return m.Name + "_" + strings.ToLower(notInKeys.ReplaceAllString(m.Unit, "_"))
}

// Reference is a reference value for schedulers, such as a lower bound on the mean.
type Reference struct {
	Name   string   `json:"name"`   // name such as lower bound
	About  string   `json:"about"`  // meaning of the level, one sentence
	Metric string   `json:"metric"` // key of the metric
	Point  string   `json:"point"`  // name of the point; empty for the only point
	Values []Number `json:"values"` // level of each workload
	Mean   Number   `json:"mean"`   // mean level over workloads
	// Bound reports whether the value is a bound that no scheduler can beat. For a bound, rankings show means relative
	// to the bound.
	Bound bool `json:"bound"`
}

// Validate returns an error that lists every fault in the plan.
func (p *Plan) Validate() error {
	var faults validate.Faults
	faults.When(len(p.Points) == 0 || len(p.Workloads) == 0 || len(p.Schedulers) == 0,
		"the plan has %d points, %d workloads and %d schedulers; expected at least one of each", len(p.Points),
		len(p.Workloads), len(p.Schedulers))
	for _, name := range p.Rank {
		faults.When(p.metric(name) == nil, "rank: unknown metric %q", name)
	}
	for k := range p.Metrics {
		m := &p.Metrics[k]
		same := func(other Metric) bool { return other.Key() == m.Key() }
		faults.When(slices.ContainsFunc(p.Metrics[:k], same), "duplicate metric %q", m.Key())
	}
	faults.When(p.Against != "" && p.scheduler(p.Against) < 0,
		"against is %s; expected one of the schedulers of this run", p.Against)
	return errors.Join(append(faults, p.sharedFolder())...)
}

// sharedFolder returns an error for two cells with the same folder: the second one would get the result of the first.
func (p *Plan) sharedFolder() error {
	seen := map[string]bool{}
	for _, c := range slices.Concat(p.cells(), p.ablations()) {
		folder := p.folder(&c)
		if seen[folder] {
			return fmt.Errorf("two simulations have the folder %s in the run folder; rename a trace or a scheduler",
				folder)
		}
		seen[folder] = true
	}
	return nil
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

// Of identifies the quantity whose interval is computed.
type Of int

// Quantities whose intervals are computed.
const (
	OfMean       Of = iota // mean of a metric in a cell
	OfDifference           // difference between a cell and the baseline
	OfQuirk                // effect of a quirk
)

// interval is the interval of a mean over jobs, whose samples may be NaN; nil without jobs.
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

// NewReference returns a reference with the given values and their mean.
func NewReference(name, about, metric, point string, values []float64) Reference {
	r := Reference{Name: name, About: about, Metric: metric, Point: point, Mean: Number(stat.Mean(values))}
	for _, v := range values {
		r.Values = append(r.Values, Number(v))
	}
	return r
}
