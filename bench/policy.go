package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"graft/decider"
	"graft/net2net"
	"graft/simulation"
	"graft/trainer"
)

// For scenarios that were not seen so many seeds learn at most, and so many of them
// vote together.
const (
	outsiders = 10
	together  = 5
)

// study is what policies learn from tables, and what it is worth.
type study struct {
	ctx    context.Context
	out    io.Writer
	trees  []*simulation.Tree
	seeds  []uint64
	atOnce int
}

// studyPolicies prints what one policy for all tables regrets, and what policies
// regret in scenarios that they did not learn from.
func studyPolicies(out io.Writer, folders []string, seeds int) error {
	if len(folders) == 0 {
		_, err := fmt.Fprintln(out, "left out: what policies learn; name the original's folders of tables behind the flags")
		return err
	}
	s := &study{ctx: context.Background(), out: out, atOnce: min(2, runtime.GOMAXPROCS(0))}
	for k := range seeds {
		s.seeds = append(s.seeds, uint64(k+1))
	}
	for _, folder := range folders {
		t, err := readTree(folder)
		if err != nil {
			return err
		}
		s.trees = append(s.trees, t)
	}
	return errors.Join(s.noise(), s.inside(), s.outside("scenario", simulation.ByScenario), s.outside("network", simulation.ByNetwork))
}

var modelLine = regexp.MustCompile(`(?m)^model = "(\w+)"`)

// readTree reads a folder of the original's: the table, and the network's name from
// the run file beside it.
func readTree(folder string) (*simulation.Tree, error) {
	job, err := os.ReadFile(filepath.Join(folder, "config.toml"))
	if err != nil {
		return nil, err
	}
	network := modelLine.FindSubmatch(job)
	if network == nil {
		return nil, fmt.Errorf("%s: its config.toml names no model", folder)
	}
	f, err := os.Open(filepath.Join(folder, "data.pkl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	profile, err := trainer.FindProfile("v100-original")
	if err != nil {
		return nil, err
	}
	table, err := simulation.ReadLegacy(f, simulation.Scenario{Name: strings.TrimPrefix(filepath.Base(folder), "simulation_"), Network: string(network[1]),
		Actions: []string{"deepen:0", "deepen:1", "deepen:2", "none"}}, 42)
	if err != nil {
		return nil, err
	}
	return simulation.NewTree(table, simulation.PlantOptions{Surgery: net2net.Options{Compat: net2net.Original}, Profile: profile})
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

// head is a row of the scenarios' names.
func (s *study) head(first string, more ...string) []string {
	row := []string{first}
	for _, t := range s.trees {
		row = append(row, t.Name)
	}
	return append(row, more...)
}

// noise prints how much of the tables is chance.
func (s *study) noise() error {
	rows := [][]string{s.head("points", "mean"), {"noise"}, {"floor at that noise"}, {"floor at 3/4 of it"}}
	sums := make([]float64, 3)
	source := ""
	for _, t := range s.trees {
		sd, from := simulation.Noise(t.Table)
		source = from
		random := rand.New(rand.NewPCG(1, 1))
		for k, v := range []float64{sd, simulation.Floor(t.Table, sd, 4000, random), simulation.Floor(t.Table, 0.75*sd, 4000, random)} {
			rows[k+1] = append(rows[k+1], fmt.Sprintf("%.2f", v))
			sums[k] += v / float64(len(s.trees))
		}
	}
	for k, v := range sums {
		rows[k+1] = append(rows[k+1], fmt.Sprintf("%.2f", v))
	}
	return s.table("noise of a sequence, by "+source+", and the regret that knowing the truth would still have", rows)
}

// line is a chooser's regrets, in the order of the trees, with its ranks where asked.
func (s *study) line(name string, verdicts []simulation.Verdict, ranks bool) []string {
	row := []string{name}
	regrets, law := s.regrets(verdicts)
	for _, t := range s.trees {
		for _, v := range verdicts {
			if v.Scenario != t.Name {
				continue
			}
			text := fmt.Sprintf("%.2f", v.Regret)
			if ranks {
				text += fmt.Sprintf(" (%.0f; %d-%d)", v.Rank, v.From, v.To)
			}
			row = append(row, text)
		}
	}
	i := simulation.Bootstrap(regrets, 1)
	return append(row, fmt.Sprintf("%.2f", i.Mean), fmt.Sprintf("[%.2f, %.2f]", i.Low, i.High), fmt.Sprintf("%.2f", law))
}

func (s *study) regrets(verdicts []simulation.Verdict) (regrets []float64, law float64) {
	for _, v := range verdicts {
		regrets = append(regrets, v.Regret)
		law += v.Smoothed / float64(len(verdicts))
	}
	return regrets, law
}

// inside lets one policy learn from all tables, and compares it with others there.
func (s *study) inside() error {
	began := time.Now()
	policies, err := simulation.LearnTrees(s.ctx, s.trees, nil, simulation.NewTreeLearnOptions(), s.seeds, s.atOnce)
	if err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	rivals, err := simulation.Rivals(s.trees)
	if err != nil {
		return err
	}
	rows := [][]string{s.head("regret (rank; ties)", "mean", "over scenarios", "smoothed")}
	for _, r := range rivals {
		verdicts, err := simulation.Assess(s.trees, r)
		if err != nil {
			return err
		}
		rows = append(rows, s.line(r.Name(), verdicts, true))
	}
	var each [][]simulation.Verdict
	for k, p := range policies {
		verdicts, err := simulation.Assess(s.trees, simulation.OfPolicy(fmt.Sprintf("policy, seed %d", s.seeds[k]), p))
		if err != nil {
			return err
		}
		each = append(each, verdicts)
		rows = append(rows, s.line(verdicts[0].Chooser, verdicts, true))
	}
	if err := s.table("one policy for all tables, learned from nothing; points and ranks by the tables", rows); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s\nmeasured: %d policies in %.1f s, %d at once; %s\n", summary(each), len(policies), took, s.atOnce, steps(policies))
	return err
}

// steps is how many steps learning took.
func steps(policies []*decider.Structural) string {
	var all []int
	for _, p := range policies {
		n := 0
		_, _ = fmt.Sscan(p.Notes["steps"], &n)
		all = append(all, n)
	}
	return fmt.Sprintf("%d to %d steps", slices.Min(all), slices.Max(all))
}

func summary(each [][]simulation.Verdict) string {
	u := simulation.Summarize("policy", each)
	return fmt.Sprintf("policy, %d seeds: mean regret %.3f points [%.3f, %.3f], rank in the first five %.1f%%, in the lower half %d times, most regret %.2f points in %s",
		u.Seeds, u.Regret.Mean, u.Regret.Low, u.Regret.High, 100*u.TopFive, u.LowHalf, u.Worst, u.WorstOne)
}

// transfers are the ways to learn for scenarios that were not seen: how far tables are
// pooled is tuned inside of what is learned from.
func transfers() []simulation.TreeLearnOptions {
	var all []simulation.TreeLearnOptions
	for _, pool := range []float64{0, 0.5, 1} {
		o := simulation.NewTransferOptions()
		o.Pool = pool
		all = append(all, o)
	}
	return all
}

// outside leaves scenarios out, in turn: who learns never sees them.
func (s *study) outside(what string, by simulation.By) error {
	began := time.Now()
	var tuned []string
	verdicts, err := simulation.LeaveOut(s.ctx, s.trees, by, func(ctx context.Context, inside []*simulation.Tree) ([]simulation.Chooser, error) {
		choosers, err := simulation.Rivals(inside)
		if err != nil {
			return nil, err
		}
		best, _, err := simulation.Tune(ctx, inside, transfers(), s.seeds[:1], s.atOnce)
		if err != nil {
			return nil, err
		}
		tuned = append(tuned, fmt.Sprint(transfers()[best].Pool))
		for _, way := range []struct {
			name    string
			options simulation.TreeLearnOptions
		}{{"as for the tables", simulation.NewTreeLearnOptions()}, {"transfer", simulation.NewTransferOptions()}, {"transfer, tuned", transfers()[best]}} {
			more, err := s.policies(ctx, way.name, inside, way.options)
			if err != nil {
				return nil, err
			}
			choosers = append(choosers, more...)
		}
		return choosers, nil
	})
	if err != nil {
		return err
	}
	title := fmt.Sprintf("regret with one %s left out at a time; tuned: tables pooled by %s, as the others said", what, strings.Join(tuned, ", "))
	if err := s.table(title, s.outsideRows(verdicts)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "measured: in %.1f s, %d policies at once\n", time.Since(began).Seconds(), s.atOnce)
	return err
}

// policies are single ones of each seed, and some that vote.
func (s *study) policies(ctx context.Context, name string, inside []*simulation.Tree, o simulation.TreeLearnOptions) (choosers []simulation.Chooser, err error) {
	learned, err := simulation.LearnTrees(ctx, inside, nil, o, s.seeds[:min(outsiders, len(s.seeds))], s.atOnce)
	if err != nil {
		return nil, err
	}
	for k, p := range learned {
		choosers = append(choosers, simulation.OfPolicy(fmt.Sprintf("%s, seed %d", name, k), p))
	}
	for k := 0; k+together <= len(learned); k += together {
		joined, err := decider.JoinStructural(learned[k : k+together]...)
		if err != nil {
			return nil, err
		}
		choosers = append(choosers, simulation.OfPolicy(fmt.Sprintf("%s, vote %d", name, k), joined))
	}
	return choosers, nil
}

// outsideRows is a row for each rival, and for all seeds and all votes of each way to
// learn.
func (s *study) outsideRows(verdicts []simulation.Verdict) [][]string {
	groups := map[string][]simulation.Verdict{}
	var names []string
	for _, v := range verdicts {
		name := v.Chooser
		for _, word := range []string{", seed ", ", vote "} {
			if at := strings.Index(name, word); at >= 0 {
				name = strings.TrimSpace(name[:at+len(word)])
			}
		}
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], v)
	}
	slices.SortStableFunc(names, func(a, b string) int { return strings.Compare(kindOf(a), kindOf(b)) })
	rows := [][]string{s.head("points", "mean", "over scenarios", "smoothed", "over seeds")}
	for _, name := range names {
		rows = append(rows, append(s.line(name, meanOf(groups[name]), false), overSeeds(groups[name])))
	}
	return rows
}

// kindOf puts those that learn behind the others.
func kindOf(name string) string {
	if strings.HasSuffix(name, ", seed") || strings.HasSuffix(name, ", vote") {
		return "1" + name
	}
	return "0"
}

// meanOf is one verdict for each scenario: the mean of several.
func meanOf(all []simulation.Verdict) []simulation.Verdict {
	var out []simulation.Verdict
	counts := map[string]float64{}
	for _, v := range all {
		counts[v.Scenario]++
	}
	for _, v := range all {
		at := slices.IndexFunc(out, func(o simulation.Verdict) bool { return o.Scenario == v.Scenario })
		if at < 0 {
			out = append(out, simulation.Verdict{Scenario: v.Scenario})
			at = len(out) - 1
		}
		out[at].Regret += v.Regret / counts[v.Scenario]
		out[at].Smoothed += v.Smoothed / counts[v.Scenario]
	}
	return out
}

// overSeeds is the interval of the mean regret over those that differ in their seeds.
func overSeeds(all []simulation.Verdict) string {
	sums := map[string][]float64{}
	for _, v := range all {
		sums[v.Chooser] = append(sums[v.Chooser], v.Regret)
	}
	if len(sums) < 2 {
		return ""
	}
	var means []float64
	for _, list := range sums {
		means = append(means, simulation.Bootstrap(list, 1).Mean)
	}
	slices.Sort(means)
	i := simulation.Bootstrap(means, 1)
	return fmt.Sprintf("[%.2f, %.2f] of %d", i.Low, i.High, len(means))
}
