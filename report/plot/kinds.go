package plot

import (
	"fmt"
	"slices"

	"graft/internal/registry"
	"graft/internal/stat"
	"graft/report/figure"
	"graft/report/runs"
)

// drawing is a figure and its name.
type drawing struct {
	name   string // suffix of the file name; empty for the only figure of its kind
	Figure figure.Figure
}

// Kind describes a kind of figure that graft plot can draw. To add a kind, add a function and a line in [Kinds].
type Kind struct {
	Name  string
	About string // help text in one line
	of    []*runs.Kind
	Many  bool // a figure shows several runs of the same kind
	alone bool // with Many: a single run is enough
	Draw  func(list []*runs.Run) ([]drawing, error)
}

// Listing returns the name and the one-line description.
func (k Kind) Listing() (name, about string) { return k.Name, k.About }

// Given holds the inputs of figures in addition to the runs. The zero value has no additional inputs.
type Given struct {
	Policy    *Policy  // policy whose choices trees and heat maps of tables show; nil means none
	Threshold *float64 // threshold of the figure "transfer"; nil means the last value of the first run
	// horizontal axis of the figures "curves" and "accuracy": "time", "device-time" or "flop"; empty means "time"
	X string
}

// Kinds lists all figure kinds in the order in which they are drawn.
func Kinds(given Given) registry.List[Kind] {
	tables := []*runs.Kind{runs.SimulationKind, runs.TableKind, runs.OriginalKind}
	return registry.List[Kind]{
		{Name: "curves", About: "loss, accuracy and speed of a job, or of training runs of the original system",
			of: []*runs.Kind{runs.JobKind, runs.OriginalKind}, Draw: single(given.plotCurves)},
		{Name: "timeline", About: "accuracy over time, with every adaptation and change of devices",
			of: []*runs.Kind{runs.JobKind, runs.OriginalKind}, Draw: single(plotTimeline)},
		{Name: "spent", About: "time of a job's budget spent on training, decisions and surgery",
			of: []*runs.Kind{runs.JobKind}, Draw: single(plotSpent)},
		{Name: "batch", About: "batch, throughput, efficiency and goodput of a job over time, if noise was measured",
			of: []*runs.Kind{runs.JobKind}, Draw: single(plotBatch)},
		{Name: "networks", About: "a job's network before and after surgery", of: []*runs.Kind{runs.JobKind},
			Draw: single(plotNetworks)},
		{Name: "learning", About: "learning curves of policies and schedulers, with the spread over seeds",
			of:   []*runs.Kind{runs.PoliciesKind, runs.PolicyKind, runs.OriginalKind, runs.ElasticLearningKind},
			Draw: single(plotLearning)},
		{Name: "exploration", About: "share of exploring episodes of a policy of the original system, by temperature",
			of: []*runs.Kind{runs.PolicyKind}, Draw: single(plotExploration)},
		{Name: "bars", About: "accuracy of the learned policy, the baselines and the optimum, by scenario",
			of: []*runs.Kind{runs.PoliciesKind, runs.EvaluationKind, runs.PipelineKind}, Draw: single(plotBars)},
		{Name: "regret", About: "regret of all evaluated policies, with the spread over tables",
			of: []*runs.Kind{runs.EvaluationKind, runs.PipelineKind}, Draw: single(plotEvaluation(regretBars))},
		{Name: "stages", About: "duration of a pipeline's stages", of: []*runs.Kind{runs.PipelineKind},
			Draw: single(plotStages)},
		{Name: "heat", About: "first action of a policy, by time left and scenario",
			of: []*runs.Kind{runs.PoliciesKind}, Draw: single(plotHeat)},
		{Name: "decisions", About: "first action of the policy in --policy, by time left and table", of: tables,
			Many: true, alone: true, Draw: given.plotDecisions},
		{Name: "tree", About: "tree of actions, with the optimum and a policy's path",
			of: append(tables, runs.PoliciesKind, runs.PolicyKind), Draw: single(given.plotTrees)},
		{Name: "ranks", About: "accuracy of all sequences of a table, with the spread over seeds", of: tables,
			Draw: single(plotRanks)},
		{Name: "completions", About: "distribution of the completion times of a cluster's jobs, or a machine's " +
			"tasks, under each scheduler", of: withStudies(), Draw: withOutcome(plotStudyCompletions)},
		{Name: "schedulers", About: "mean completion time of a cluster's jobs, " +
			"or of a machine's tasks and its product with energy, under each scheduler",
			of: withStudies(runs.ElasticComparisonKind),
			Draw: byKind(draws{nil: withOutcome(plotStudySchedulers),
				runs.ElasticComparisonKind: withOutcome(plotElasticComparison)})},
		{Name: "gantt", About: "device and time of each machine task or fabric job under each scheduler",
			of: withStudies(runs.NodeRunKind, runs.CellKind),
			Draw: byKind(draws{nil: withOutcome(plotStudyGantt),
				runs.NodeRunKind: withOutcome(plotNodeRunGantt), runs.CellKind: single(plotCellGantt)})},
		{Name: "energy", About: "energy by group, such as the kinds of a machine's tasks, under each scheduler",
			of: withStudies(), Draw: withOutcome(plotStudyEnergy)},
		{Name: "series", About: "use of a simulated cluster over time, under each scheduler",
			of:   withStudies(runs.CellKind),
			Draw: byKind(draws{nil: withOutcome(plotStudySeries), runs.CellKind: single(plotCellSeries)})},
		{Name: "outages", About: "outages of nodes over time, in the folder of a single simulated cluster",
			of: []*runs.Kind{runs.CellKind}, Draw: single(plotCellOutages)},
		{Name: "changes", About: "differences between the settings of a simulated cluster, such as shares of growing " +
			"jobs, with intervals", of: withStudies(), Draw: withOutcome(plotStudyChanges)},
		{Name: "points", About: "metrics of a simulated cluster against the varied quantity, under each scheduler",
			of: withStudies(), Draw: withOutcome(plotStudyPoints)},
		{Name: "parts", About: "metrics by group of a simulated cluster's jobs, under each scheduler",
			of: withStudies(), Draw: withOutcome(plotStudyParts)},
		{Name: "accuracy", About: "accuracy of several jobs; jobs that differ only in their seed are one curve",
			of: []*runs.Kind{runs.JobKind}, Many: true, Draw: given.plotAccuracy},
		{Name: "cases", About: "accuracy of each case of a sweep or arm of a comparison, with the spread over seeds",
			of: []*runs.Kind{runs.SweepKind}, Draw: single(plotCases)},
		{Name: "differences", About: "difference of each case or arm from the first case or the baseline: " +
			"every seed, and the mean with its interval", of: []*runs.Kind{runs.SweepKind},
			Draw: single(plotDifferences)},
		{Name: "cost", About: "accuracy of each arm of a comparison against its cost",
			of: []*runs.Kind{runs.SweepKind}, Draw: single(plotCost)},
		{Name: "trials", About: "accuracy over time of each case of a sweep, with the spread over seeds",
			of: []*runs.Kind{runs.SweepKind}, Draw: single(plotTrials)},
		{Name: "throughput", About: "epochs per second of jobs, and time spent on decisions, surgery and checkpoints",
			of: []*runs.Kind{runs.JobKind}, Many: true, alone: true, Draw: plotThroughput},
		{Name: "episodes", About: "policies of the original system over episodes; policies that differ only " +
			"in their seed are one curve", of: []*runs.Kind{runs.PolicyKind}, Many: true, Draw: plotManyEpisodes},
		{Name: "transfer", About: "several learning runs: jump-start and time to threshold, compared with the first",
			of: []*runs.Kind{runs.PoliciesKind, runs.PolicyKind}, Many: true, Draw: given.plotTransfer},
	}
}

// single draws a figure of each run separately.
func single(draw func(r *runs.Run) ([]drawing, error)) func([]*runs.Run) ([]drawing, error) {
	return func(list []*runs.Run) ([]drawing, error) { return draw(list[0]) }
}

// draws maps each kind of run to its drawing function; nil means all cluster simulations.
type draws map[*runs.Kind]func([]*runs.Run) ([]drawing, error)

// byKind draws runs by the function of their kind.
func byKind(all draws) func([]*runs.Run) ([]drawing, error) {
	return func(list []*runs.Run) ([]drawing, error) {
		if list[0].Kind.IsStudy() {
			return all[nil](list)
		}
		return all[list[0].Kind](list)
	}
}

// withStudies returns the kinds of all cluster simulations, and others.
func withStudies(others ...*runs.Kind) []*runs.Kind { return slices.Concat(runs.StudyKinds(), others) }

// Runs lists the run kinds that the figure accepts.
func (k Kind) Runs() []*runs.Kind { return k.of }

// Groups divides the runs that have results into groups, one group per figure.
func (k Kind) Groups(list []*runs.Run) [][]*runs.Run {
	var groups [][]*runs.Run
	for _, kind := range k.of {
		var some []*runs.Run
		for _, r := range list {
			if r.Kind == kind && !r.Begun {
				some = append(some, r)
			}
		}
		switch {
		case k.Many && (len(some) > 1 || k.alone && len(some) == 1):
			groups = append(groups, some)
		case !k.Many:
			for r := range slices.Chunk(some, 1) {
				groups = append(groups, r)
			}
		}
	}
	return groups
}

// NumbersOf returns numeric columns of the series with the given name. It returns an error if a column is missing or
// empty.
func NumbersOf(list []runs.Series, name string, columns ...string) (map[string][]float64, error) {
	at := slices.IndexFunc(list, func(s runs.Series) bool { return s.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("the run has no table %s yet", name)
	}
	found := map[string][]float64{}
	for _, want := range columns {
		c := list[at].Column(want)
		if c == nil || c.Values == nil && c.Texts != nil {
			return nil, fmt.Errorf("the run's table %s has no column %s", name, want)
		}
		if found[want] = c.Values; len(c.Values) == 0 {
			return nil, fmt.Errorf("the run's table %s has no rows yet", name)
		}
	}
	return found, nil
}

// TextsOf returns a text column of the series with the given name. It returns an error if the column is missing.
func TextsOf(list []runs.Series, name, column string) ([]string, error) {
	at := slices.IndexFunc(list, func(s runs.Series) bool { return s.Name == name })
	if at < 0 || list[at].Column(column) == nil || list[at].Column(column).Texts == nil {
		return nil, fmt.Errorf("the run's table %s has no column %s", name, column)
	}
	return list[at].Column(column).Texts, nil
}

// inPercent converts shares to percent.
func inPercent(values []float64) []float64 {
	scaled := make([]float64, len(values))
	for k, v := range values {
		scaled[k] = 100 * v
	}
	return scaled
}

// rolling returns the mean over a window that ends at each value. The window is shorter at the beginning; NaN values do
// not count.
func rolling(values []float64, window int) []float64 {
	means := make([]float64, len(values))
	for k := range values {
		sum, count := 0.0, 0
		for _, v := range values[max(0, k-window+1) : k+1] {
			if v == v {
				sum, count = sum+v, count+1
			}
		}
		means[k] = sum / float64(count) // NaN if there is none
	}
	return means
}

// meanInterval returns the mean of several runs at each point and its interval over seeds; the interval is nil for few
// runs. The parameter of is the range of the values.
func meanInterval(runs [][]float64, of stat.Range) (mean, low, high []float64) {
	for k := range runs[0] {
		var values []float64
		for _, r := range runs {
			values = append(values, r[k])
		}
		s := stat.NewOverSeeds(values, 0.05, of)
		mean = append(mean, s.Mean)
		if s.Low != nil {
			low, high = append(low, *s.Low), append(high, *s.High)
		}
	}
	return mean, low, high
}

// seedsCurve shows several seeds as one curve: each seed faint, their mean, and its interval.
func seedsCurve(name string, x []float64, runs [][]float64, of stat.Range) figure.Curve {
	c := figure.Curve{Name: name, X: x}
	if c.Y, c.Low, c.High = meanInterval(runs, of); len(runs) > 1 {
		c.Raw = runs
	}
	return c
}

// seedNote explains intervals over seeds.
const seedNote = "95% intervals of the mean over seeds, by Student's t-distribution, within the possible values; " +
	"none below three seeds."
