package fabric

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/parallel"
	"graft/internal/stat"
	"graft/original/ramp"
	"graft/runner/app"
)

// ExperimentOptions selects which experiments of the PAC-ML paper to reproduce.
type ExperimentOptions struct {
	Graphs   string          // path of the folder with PipeDream's five profiles; required
	Out      string          // path of the folder for the table; empty means that the table is not written
	Limits   []string        // distributions of time limits; empty means all
	Learn    TrainingOptions // policies that learn as published; the zero value learns none
	Episodes int             // number of episodes per row, from seed 0; zero means 3
	Workers  int             // number of episodes simulated in parallel; zero means one per processor
}

func (o *ExperimentOptions) validate() error {
	o.Episodes = cmp.Or(o.Episodes, 3)
	if o.Episodes < 1 || o.Episodes > 1000 {
		return failure.With(failure.Usage, fmt.Errorf("option \"episodes\" is %d; must be between 1 "+
			"and 1000", o.Episodes))
	}
	if len(o.Limits) == 0 {
		o.Limits = ramp.Limits
	}
	for k, name := range o.Limits {
		if !slices.Contains(ramp.Limits, name) || slices.Contains(o.Limits[:k], name) {
			return failure.With(failure.Usage, fmt.Errorf(
				"option \"limits\" is %q; expected a list of %s without duplicates", name,
				strings.Join(ramp.Limits, ", ")))
		}
	}
	return o.Learn.validate(o.Out)
}

// Experiments is the table of the reproduced experiments.
type Experiments struct {
	Seeds    int             `json:"seeds"`    // number of episodes per row
	Policies int             `json:"policies"` // number of policies learned for each distribution of time limits
	Actions  int             `json:"actions"`  // number of actions from which each policy learned
	Rows     []ExperimentRow `json:"rows"`     // rows, one per distribution of time limits and agent
	Best     []ExperimentTie `json:"best"`     // comparison of constant degrees with the published learned policy
	Folder   string          `json:"folder"`   // path of the table's folder; empty if none was written
}

// ExperimentRow is the result of an agent under a distribution of time limits.
type ExperimentRow struct {
	Limits  string  `json:"limits"`  // distribution of time limits: A is uniform; B, C and D are skewed by 5, 0 and -5
	Agent   string  `json:"agent"`   // name of an agent of the published simulator, or a constant degree
	Blocked float64 `json:"blocked"` // mean fraction of blocked jobs
	// 95% interval of the mean fraction of blocked jobs, over seeds and policies; null for a single seed
	Interval *stat.Interval `json:"interval"`
	Seeds    []float64      `json:"blocked_seeds"` // fraction of blocked jobs for each seed
	// published fraction of blocked jobs; null if no fraction was published
	Printed    *float64 `json:"printed"`
	Throughput float64  `json:"throughput"` // bytes of demand per second
	// published throughput; null if no throughput was published
	PrintedThroughput *float64      `json:"printed_throughput"`
	Degrees           []DegreeShare `json:"degrees"` // fraction of completed jobs with each degree
	// fraction of the episodes in which all completed jobs had the same degree of parallelism
	OneDegree float64 `json:"one_degree"`
}

// DegreeShare is the fraction of jobs that run with a given degree of parallelism.
type DegreeShare struct {
	Degree int     `json:"degree"` // number of parts of a step
	Share  float64 `json:"share"`  // fraction of the jobs
}

// ExperimentTie compares the best constant degree of parallelism with the published learned policy.
type ExperimentTie struct {
	Limits  string  `json:"limits"`  // distribution of time limits
	Agent   string  `json:"agent"`   // constant degree with the fewest blocked jobs
	Blocked float64 `json:"blocked"` // fraction of blocked jobs under the constant degree
	Learned float64 `json:"learned"` // published fraction of blocked jobs under the learned policy
	// result in words: no significant difference, the constant degree is better, or the learned policy is better
	Verdict string `json:"verdict"`
	// fraction of blocked jobs under policies that graft trained, minus the fraction under the constant degree; null
	// without such policies, and for a single episode
	Here *stat.Interval `json:"here"`
}

// Experiment reproduces the experiments of PAC-ML's authors, including the bugs of their simulator. For each seed, it
// simulates the same jobs with every agent, with every constant degree of parallelism and, on request, with policies
// that graft trains.
func Experiment(ctx context.Context, env *app.Env, o ExperimentOptions) (*Experiments, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	profiles, err := readGraphs(env.Files, o.Graphs, ramp.StudyGraphs)
	if err != nil {
		return nil, err
	}
	if o.Out != "" {
		if err := env.Files.MkdirAll(o.Out); err != nil {
			return nil, err
		}
	}
	policies := make([][]*ramp.Policy, len(o.Limits))
	if o.Learn.Method != "" {
		t := &training{o.Learn, env, o.Out, profiles}
		if policies, err = t.policies(ctx, o.Limits, o.Workers); err != nil {
			return nil, app.Requeued(ctx, o.Out, err)
		}
	}
	agents := ramp.StudyAgents()
	results := make([]studied, len(o.Limits)*o.Episodes) // by limits and seed
	err = parallel.Pool{Workers: o.Workers}.Each(ctx, len(results), func(k int) (err error) {
		results[k], err = study(ctx, o.Limits[k/o.Episodes], uint32(k%o.Episodes), agents, policies[k/o.Episodes],
			profiles)
		return err
	}).First()
	if err != nil {
		return nil, app.Requeued(ctx, o.Out, err)
	}
	r := &Experiments{Seeds: o.Episodes, Policies: len(policies[0]), Actions: o.Learn.Updates * ramp.UpdateActions}
	for n, limits := range o.Limits {
		r.add(limits, o.Learn.Method, agents, results[n*o.Episodes:(n+1)*o.Episodes])
	}
	if o.Out == "" {
		return r, nil
	}
	r.Folder = o.Out
	return r, files.WriteAtomic(env.Files, filepath.Join(o.Out, "study.csv"), r.csv)
}

// studied holds the results on the jobs of a seed: under each agent, then under each policy.
type studied struct{ agents, policies []ramp.Result }

// study simulates the jobs of a seed under each agent and policy.
func study(ctx context.Context, limits string, seed uint32, agents []ramp.StudyAgent, policies []*ramp.Policy,
	profiles []*graph.Profile) (all studied, err error) {
	e, err := ramp.StudyEpisode(limits, seed, ramp.StudyAgent{})
	if err == nil {
		err = e.Draw(profiles)
	}
	if err != nil {
		return all, err
	}
	play := func(into *[]ramp.Result, agent ramp.StudyAgent, decider fabric.Decider) error {
		own, err := ramp.StudyEpisode(limits, seed, agent)
		if err != nil {
			return err
		}
		own.Arrivals = e.Arrivals
		one, err := ramp.PlayBy(ctx, own, decider, profiles)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return fmt.Errorf("simulate agent %s with time limits %s and seed %d: %w", agent.Name, limits, seed, err)
		}
		*into = append(*into, one)
		return nil
	}
	for _, agent := range agents {
		if err := play(&all.agents, agent, nil); err != nil {
			return all, err
		}
	}
	for _, p := range policies {
		if err := play(&all.policies, agents[0], p.Twin()); err != nil { // instead of that agent
			return all, err
		}
	}
	return all, nil
}

// add adds the rows of a distribution of limits.
func (r *Experiments) add(limits, method string, agents []ramp.StudyAgent, seeds []studied) {
	tie := ExperimentTie{Limits: limits, Blocked: 2}
	tie.Learned, _, _ = ramp.Printed(limits, ramp.PolicyName)
	var best [][]float64
	for k, agent := range agents {
		var rows [][]ramp.Result
		for _, one := range seeds {
			rows = append(rows, one.agents[k:k+1])
		}
		row, blocked := newRow(limits, agent.Name, rows)
		if printed, throughput, ok := ramp.Printed(limits, agent.Name); ok {
			row.Printed, row.PrintedThroughput = &printed, &throughput
		}
		if agent.Parts > 0 && row.Blocked < tie.Blocked {
			tie.Agent, tie.Blocked, tie.Verdict, best = agent.Name, row.Blocked,
				verdict(row.Interval, tie.Learned), blocked
		}
		r.Rows = append(r.Rows, row)
	}
	if len(seeds[0].policies) > 0 {
		var rows [][]ramp.Result
		for _, one := range seeds {
			rows = append(rows, one.policies)
		}
		row, blocked := newRow(limits, method, rows)
		r.Rows = append(r.Rows, row)
		if here := stat.CrossedDifference(blocked, best); !math.IsNaN(here.Low) {
			tie.Here = &here
		}
	}
	r.Best = append(r.Best, tie)
}

// newRow sums results by seed and policy. It also returns the shares of blocked jobs.
func newRow(limits, agent string, results [][]ramp.Result) (row ExperimentRow, blocked [][]float64) {
	row = ExperimentRow{Limits: limits, Agent: agent}
	degrees, sum := map[int]int{}, 0
	for _, list := range results {
		var shares []float64
		share := 1 / float64(len(results)*len(list))
		for _, one := range list {
			shares = append(shares, one.Blocked)
			row.Throughput += one.Throughput * share
			if len(one.Degrees) == 1 {
				row.OneDegree += share
			}
			for degree, n := range one.Degrees {
				degrees[degree] += n
				sum += n
			}
		}
		blocked, row.Seeds = append(blocked, shares), append(row.Seeds, stat.Mean(shares))
	}
	for _, degree := range slices.Sorted(maps.Keys(degrees)) {
		row.Degrees = append(row.Degrees, DegreeShare{degree, float64(degrees[degree]) / float64(sum)})
	}
	row.Blocked = stat.Mean(row.Seeds)
	if len(results[0]) == 1 {
		row.Interval = stat.NewOverSeeds(row.Seeds, 0.05, stat.Shares).Interval()
	} else if i := stat.CrossedInterval(blocked); !math.IsNaN(i.Low) {
		row.Interval = &stat.Interval{Mean: i.Mean, Low: max(0, i.Low), High: min(1, i.High)}
	}
	return row, blocked
}

// verdict compares the learned policy with the interval of a constant degree.
func verdict(i *stat.Interval, learned float64) string {
	switch {
	case i == nil:
		return "too few episodes for a comparison"
	case learned < i.Low:
		return "the learned policy is better"
	case learned > i.High:
		return "the constant degree is better"
	}
	return "no significant difference"
}

// csv writes the table.
func (r *Experiments) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"limits", "agent", "blocked", "low", "high", "printed", "throughput", "printed_throughput"})
	text := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', -1, 64)
	}
	for _, row := range r.Rows {
		var low, high *float64
		if row.Interval != nil {
			low, high = &row.Interval.Low, &row.Interval.High
		}
		out.Write([]string{row.Limits, row.Agent, text(&row.Blocked), text(low), text(high), text(row.Printed),
			text(&row.Throughput), text(row.PrintedThroughput)})
	}
	out.Flush()
	return out.Error()
}
