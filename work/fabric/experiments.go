package fabric

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"graft/cluster/fabric/graph"
	"graft/files"
	"graft/original/ramp"
	"graft/parallel"
	"graft/results/failure"
	"graft/stat"
	"graft/work"
)

// ExperimentOptions say which experiments of PAC-ML's authors are made again.
type ExperimentOptions struct {
	Graphs  string // folder of the five profiles of PipeDream; needed
	Out     string // folder of the table; empty writes none
	Seeds   int    // from 0; zero means 3
	Workers int    // episodes in parallel; zero means one for each processor
}

// Experiments is the table of those experiments.
type Experiments struct {
	Seeds  int             `json:"seeds"`  // episodes of each row
	Rows   []ExperimentRow `json:"rows"`   // of each distribution of limits and each agent
	Best   []ExperimentTie `json:"best"`   // constant degrees beside the learned policy that was printed
	Folder string          `json:"folder"` // of the table; empty where none was written
}

// ExperimentRow is an agent under a distribution of limits.
type ExperimentRow struct {
	Limits            string         `json:"limits"`             // A, uniform; B, C and D, skewed by 5, 0 and -5
	Agent             string         `json:"agent"`              // one of the original's, or a constant degree
	Blocked           float64        `json:"blocked"`            // mean share of the jobs
	Interval          *stat.Interval `json:"interval"`           // of 95%, over seeds; null for a single one
	Seeds             []float64      `json:"blocked_seeds"`      // share of each seed
	Printed           *float64       `json:"printed"`            // by the authors; null where they print none
	Throughput        float64        `json:"throughput"`         // bytes of demand in a second
	PrintedThroughput *float64       `json:"printed_throughput"` // by the authors; null where they print none
}

// ExperimentTie compares the best constant degree with the learned policy.
type ExperimentTie struct {
	Limits  string  `json:"limits"`  // the distribution
	Agent   string  `json:"agent"`   // the constant degree that blocks fewest jobs
	Blocked float64 `json:"blocked"` // share of the jobs
	Learned float64 `json:"learned"` // share under the learned policy, as printed
	Verdict string  `json:"verdict"` // no difference is seen, the constant degree is better, or the learned policy is better
}

// Experiment makes the experiments of PAC-ML's authors again, with all faults of their simulator: every agent, and
// every constant degree, on the jobs of each seed.
func Experiment(ctx context.Context, env *work.Env, o ExperimentOptions) (*Experiments, error) {
	if o.Seeds == 0 {
		o.Seeds = 3
	}
	if o.Seeds < 1 || o.Seeds > 1000 {
		return nil, failure.With(failure.Usage, fmt.Errorf("option seeds is %d; must be from 1 to 1000", o.Seeds))
	}
	profiles, err := readGraphs(env.Files, o.Graphs, ramp.StudyGraphs)
	if err != nil {
		return nil, err
	}
	agents := ramp.StudyAgents()
	results := make([][]ramp.Result, len(ramp.Limits)*o.Seeds) // by limits and seed, then agent
	err = parallel.Pool{Workers: o.Workers}.Each(ctx, len(results), func(k int) (err error) {
		results[k], err = studied(ctx, ramp.Limits[k/o.Seeds], uint32(k%o.Seeds), agents, profiles)
		return err
	}).First()
	if err != nil {
		return nil, err
	}
	r := &Experiments{Seeds: o.Seeds}
	for n, limits := range ramp.Limits {
		r.add(limits, agents, results[n*o.Seeds:(n+1)*o.Seeds])
	}
	if o.Out == "" {
		return r, nil
	}
	r.Folder = o.Out
	err = env.Files.MkdirAll(o.Out)
	return r, errors.Join(err, files.WriteAtomic(env.Files, filepath.Join(o.Out, "study.csv"), r.csv))
}

// studied plays the jobs of a seed under each agent.
func studied(ctx context.Context, limits string, seed uint32, agents []ramp.StudyAgent, profiles []*graph.Profile) (all []ramp.Result, err error) {
	var arrivals [][]any
	for _, agent := range agents {
		e, err := ramp.StudyEpisode(limits, seed, agent)
		if err != nil {
			return nil, err
		}
		if e.Arrivals = arrivals; arrivals == nil {
			if err := e.Draw(profiles); err != nil {
				return nil, err
			}
			arrivals = e.Arrivals
		}
		one, err := ramp.PlayAll(e, profiles)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("limits %s, seed %d, %s: %w", limits, seed, agent.Name, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// add adds the rows of a distribution of limits.
func (r *Experiments) add(limits string, agents []ramp.StudyAgent, seeds [][]ramp.Result) {
	tie := ExperimentTie{Limits: limits, Blocked: 2}
	tie.Learned, _, _ = ramp.Printed(limits, ramp.PolicyName)
	for k, agent := range agents {
		row := ExperimentRow{Limits: limits, Agent: agent.Name}
		for _, one := range seeds {
			row.Seeds = append(row.Seeds, one[k].Blocked)
			row.Throughput += one[k].Throughput / float64(len(seeds))
		}
		row.Blocked = stat.Mean(row.Seeds)
		row.Interval = stat.NewOverSeeds(row.Seeds, 0.05, stat.Shares).Interval()
		if blocked, throughput, ok := ramp.Printed(limits, agent.Name); ok {
			row.Printed, row.PrintedThroughput = &blocked, &throughput
		}
		if agent.Parts > 0 && row.Blocked < tie.Blocked {
			tie.Agent, tie.Blocked, tie.Verdict = agent.Name, row.Blocked, verdict(row.Interval, tie.Learned)
		}
		r.Rows = append(r.Rows, row)
	}
	r.Best = append(r.Best, tie)
}

// verdict compares the learned policy with the interval of a constant degree.
func verdict(i *stat.Interval, learned float64) string {
	switch {
	case i == nil:
		return "too few episodes to tell"
	case learned < i.Low:
		return "the learned policy is better"
	case learned > i.High:
		return "the constant degree is better"
	}
	return "no difference is seen"
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
		out.Write([]string{row.Limits, row.Agent, text(&row.Blocked), text(low), text(high), text(row.Printed), text(&row.Throughput), text(row.PrintedThroughput)})
	}
	out.Flush()
	return out.Error()
}
