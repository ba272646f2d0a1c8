package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"graft/config"
	"graft/decider"
	"graft/internal/files"
	"graft/internal/stat"
	_ "graft/original/published" // reads tables of the original's
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/learning"
)

// For new scenarios: maximum number of seeds that learn, and number of seeds in a vote.
const (
	outsiders = 10
	together  = 5
)

// study holds the training tables and seeds of policies.
type study struct {
	ctx    context.Context
	out    io.Writer
	trees  []*simulation.Tree
	seeds  []uint64
	atOnce int
}

// studyPolicies prints the regret of one policy for all tables, and of policies in scenarios that they did not learn
// from.
func studyPolicies(out io.Writer, folders []string, seeds int) error {
	s, err := newStudy(out, folders, seeds)
	if s == nil || err != nil {
		return err
	}
	return errors.Join(s.noise(), s.inside(), s.outside("scenario", evaluation.ByScenario(s.trees)),
		s.outside("network", evaluation.ByNetwork))
}

// studyQuality prints the speed and the quality of learning from tables.
func studyQuality(out io.Writer, folders []string, seeds int) error {
	s, err := newStudy(out, folders, seeds)
	if s == nil || err != nil {
		return err
	}
	return s.inside()
}

// newStudy reads the tables. If none is named it reports that and returns nil.
func newStudy(out io.Writer, folders []string, seeds int) (*study, error) {
	if len(folders) == 0 {
		_, err := fmt.Fprintln(out, "skipped: learning of policies; set -table to folders of tables")
		return nil, err
	}
	s := &study{ctx: context.Background(), out: out, atOnce: min(2, runtime.GOMAXPROCS(0))}
	for k := range seeds {
		s.seeds = append(s.seeds, uint64(k+1))
	}
	for _, folder := range folders {
		t, err := config.ReadTree(files.OS{}, folder)
		if err != nil {
			return nil, err
		}
		t.Name = strings.TrimPrefix(t.Name, "simulation_") // as in the documentation
		s.trees = append(s.trees, t)
	}
	return s, nil
}

// table prints rows of columns.
func (s *study) table(title string, rows [][]string) error {
	fmt.Fprintf(s.out, "\n%s\n", title)
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// head returns a row of the scenarios' names.
func (s *study) head(first string, more ...string) []string {
	row := []string{first}
	for _, t := range s.trees {
		row = append(row, t.Name)
	}
	return append(row, more...)
}

// noise prints the share of chance in the tables.
func (s *study) noise() error {
	rows := [][]string{s.head("points", "mean"), {"noise"}, {"floor at that noise"}, {"floor at 3/4 of it"}}
	sums := make([]float64, 3)
	source := ""
	for _, t := range s.trees {
		all, most := evaluation.EstimateNoise(t.Table, 1), evaluation.EstimateNoise(t.Table, 0.75)
		source = all.Source
		for k, v := range []float64{all.Noise, all.Floor, most.Floor} {
			rows[k+1] = append(rows[k+1], fmt.Sprintf("%.2f", v))
			sums[k] += v / float64(len(s.trees))
		}
	}
	for k, v := range sums {
		rows[k+1] = append(rows[k+1], fmt.Sprintf("%.2f", v))
	}
	return s.table("noise of a sequence, by "+source+", and the regret of an oracle", rows)
}

// rows returns the choosers' regrets, in the order of the trees, with their ranks if requested.
func (s *study) rows(c *evaluation.Comparison, ranks bool) [][]string {
	rows := [][]string{s.head("points", "mean", "over scenarios", "over seeds", "smoothed", "more than "+c.Against)}
	for _, standing := range c.Standings {
		row := []string{standing.Policy}
		for _, t := range s.trees {
			row = append(row, cell(c, t.Name, standing.Policy, ranks))
		}
		more := "-"
		if d := standing.Difference; d != nil {
			more = fmt.Sprintf("%.2f %s", d.Mean, interval(d.OverTables))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.3f", standing.Regret), interval(standing.OverTables),
			interval(standing.OverSeeds), fmt.Sprintf("%.2f", standing.Smoothed), more))
	}
	return rows
}

func interval(i *stat.Interval) string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("[%.3f, %.3f]", i.Low, i.High)
}

// cell formats a chooser's regret in a scenario.
func cell(c *evaluation.Comparison, scenario, chooser string, ranks bool) string {
	for _, t := range c.Tables {
		for _, v := range t.Scores {
			switch {
			case t.Scenario != scenario || v.Policy != chooser:
			case ranks:
				return fmt.Sprintf("%.2f (%.0f; %d-%d)", v.Regret, v.Rank, v.From, v.To)
			default:
				return fmt.Sprintf("%.2f", v.Regret)
			}
		}
	}
	return "-"
}

// inside trains one policy on all tables, and compares it with others there.
func (s *study) inside() error {
	began := time.Now()
	policies, err := learning.Learn(s.ctx, s.trees, nil, learning.NewOptions(), s.seeds, s.atOnce)
	if err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	candidates, err := evaluation.BaselineCandidates(s.trees, evaluation.SeenThese)
	if err != nil {
		return err
	}
	together := evaluation.SeedCandidates("policy", nil, policies, evaluation.SeenThese)
	candidates = append(candidates, together...)
	for k, p := range policies {
		if name := fmt.Sprintf("policy, seed %d", s.seeds[k]); len(policies) > 1 {
			candidates = append(candidates, evaluation.SeedCandidates(name, nil, []*decider.Structural{p},
				evaluation.SeenThese)...)
		}
	}
	c, err := evaluation.Compare(s.trees, candidates, together[0].Name)
	if err != nil {
		return err
	}
	if err := s.table("one policy for all tables, trained from scratch; points and ranks by table",
		s.rows(c, true)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s\nmeasured: %d policies in %.1f s, %d at once; %s\n",
		summary(c.Standing(together[0].Name)), len(policies), took, s.atOnce, steps(policies))
	return err
}

// steps reports the range of learning steps that the policies took.
func steps(policies []*decider.Structural) string {
	var all []int
	for _, p := range policies {
		n := 0
		_, _ = fmt.Sscan(p.Notes["steps"], &n)
		all = append(all, n)
	}
	return fmt.Sprintf("%d to %d steps", slices.Min(all), slices.Max(all))
}

func summary(u *evaluation.Standing) string {
	return fmt.Sprintf("policy, %d seeds: mean regret %.3f points %s, rank in the first five %.1f%%, "+
		"in the lower half %d times, worst regret %.2f points in %s", u.Seeds, u.Regret, interval(u.OverSeeds),
		100*u.TopFive, u.LowHalf, u.Worst, u.WorstOne)
}

// transfers returns alternatives of learning for new scenarios: the degree of pooling is tuned within the training
// tables.
func transfers() []learning.Options {
	var all []learning.Options
	for _, pool := range []float64{0, 0.5, 1} {
		o := learning.NewTransferOptions()
		o.Pool = pool
		all = append(all, o)
	}
	return all
}

// outside holds scenarios out, in turn.
func (s *study) outside(what string, by evaluation.By) error {
	began := time.Now()
	ways := []evaluation.Way{
		{Name: "as for the tables", Options: []learning.Options{learning.NewOptions()}},
		{Name: "transfer", Options: []learning.Options{learning.NewTransferOptions()}},
		{Name: "transfer, tuned", Options: transfers()},
	}
	r, err := evaluation.CompareLeftOut(s.ctx, s.trees,
		evaluation.LeaveOutOptions{By: by, Ways: ways, Seeds: s.seeds[:min(outsiders, len(s.seeds))],
			Together: min(together, len(s.seeds)), AtOnce: s.atOnce})
	if err != nil {
		return err
	}
	var tuned []string
	for _, g := range r.Groups {
		tuned = append(tuned, fmt.Sprint(transfers()[g.Tuned[2]].Pool))
	}
	title := fmt.Sprintf("regret with one %s left out; tuned: tables pooled by %s, selected on the others", what,
		strings.Join(tuned, ", "))
	if err := s.table(title, s.rows(r.Comparison, false)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "measured: in %.1f s, %d policies at once\n", time.Since(began).Seconds(), s.atOnce)
	return err
}
