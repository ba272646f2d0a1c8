package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/zap"

	"graft/config"
	"graft/files"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/learning"
)

// leaveOptions are the flags of `graft evaluate` about leaving tables out.
type leaveOptions struct {
	by     string                 // scenario or network; empty leaves nothing out
	learn  string                 // a file that graft learn takes, for tables, options and seeds; empty takes flags
	target string                 // known or new: whose defaults policies learn with
	seeds  int                    // policies that learn for each group
	steps  int                    // of learning; zero means the defaults'
	given  func(flag string) bool // whether a flag was given
}

func (o *leaveOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.by, "leave-out", "", `leave tables out in turn, and judge by them what policies learn from the others: "scenario" one at a time, "network" all of a network's`)
	flags.StringVar(&o.learn, "learn", "", "with --leave-out: the file of 'graft learn' that says from which tables policies learn, how, and with how many seeds")
	flags.StringVar(&o.target, "for", "new", `with --leave-out: how policies learn: for "new" scenarios, or for "known" ones`)
	flags.IntVar(&o.seeds, "seeds", 10, "with --leave-out: policies that learn each time, with the seeds from 1 on")
	flags.IntVar(&o.steps, "steps", 0, "with --leave-out: steps of learning at most (default: as --for has them)")
}

// bys are what can be left out together.
var bys = map[string]evaluation.By{"scenario": evaluation.ByScenario, "network": evaluation.ByNetwork}

// targets are the defaults to learn with.
var targets = map[string]func() learning.Options{"new": learning.NewTransferOptions, "known": learning.NewOptions}

func (o leaveOptions) validate() error {
	if o.by == "" {
		for _, flag := range []string{"learn", "for", "seeds", "steps"} {
			if o.given(flag) {
				return fmt.Errorf("--%s is for --leave-out; add that, or leave --%s away", flag, flag)
			}
		}
		return nil
	}
	var faults []error
	for _, flag := range []string{"for", "steps", "table"} {
		if o.learn != "" && o.given(flag) {
			faults = append(faults, fmt.Errorf("--%s is what the file of --learn says; leave one of them away", flag))
		}
	}
	if bys[o.by] == nil {
		faults = append(faults, fmt.Errorf("--leave-out is %q; it is scenario or network", o.by))
	}
	if targets[o.target] == nil {
		faults = append(faults, fmt.Errorf("--for is %q; it is new or known", o.target))
	}
	if o.seeds < 1 {
		faults = append(faults, fmt.Errorf("--seeds is %d; at least one policy learns", o.seeds))
	}
	if o.steps < 0 {
		faults = append(faults, fmt.Errorf("--steps is %d; it is not negative", o.steps))
	}
	return errors.Join(faults...)
}

// study is how policies learn, and what is left out.
func (o leaveOptions) study(tell func(evaluation.LeaveOutProgress)) evaluation.LeaveOutOptions {
	learn := targets[o.target]()
	if o.steps > 0 {
		learn.Steps = o.steps
	}
	s := evaluation.LeaveOutOptions{By: bys[o.by], Ways: []evaluation.Way{{Options: []learning.Options{learn}}}, AtOnce: runtime.GOMAXPROCS(0), Tell: tell}
	for k := range o.seeds {
		s.Seeds = append(s.Seeds, uint64(k+1))
	}
	return s
}

// leaveReport is what `graft evaluate --leave-out --json` prints.
type leaveReport struct {
	LeaveOut string `json:"leave_out"` // scenario or network
	For      string `json:"for"`       // known or new
	Steps    int    `json:"steps"`     // of learning at most
	Seeds    int    `json:"seeds"`     // that learned each time
	*evaluation.LeaveOutReport
}

// runLeaveOut lets policies learn from some tables and judges them by others. Tables
// of one name are one scenario, and left out together.
func runLeaveOut(ctx context.Context, w io.Writer, o evaluateOptions) error {
	trees, study, err := o.lessons(tellLeaving(ctx))
	if err != nil {
		return err
	}
	book, err := o.keep(func() (evaluationGiven, error) { return o.givenLeaving(trees, study) })
	if err != nil {
		return err
	}
	defer book.close()
	report, err := evaluation.CompareLeftOut(ctx, trees, study)
	if err != nil {
		return err
	}
	r := leaveReport{o.leave.by, o.leave.target, study.Ways[0].Options[0].Steps, len(study.Seeds), report}
	if err := book.finish(newEvaluationOutcome(nil, &r)); err != nil {
		return err
	}
	switch {
	case o.csv:
		return printVerdicts(w, report.Comparison)
	case o.json:
		return printJSON(w, r)
	}
	return r.print(w)
}

// lessons are the tables, and how policies learn from them. Those of a file that are
// held out are left out in turn like the others.
func (o *evaluateOptions) lessons(tell func(evaluation.LeaveOutProgress)) ([]*simulation.Tree, evaluation.LeaveOutOptions, error) {
	if o.leave.learn == "" {
		trees, err := readTrees(o.tables)
		return trees, o.leave.study(tell), err
	}
	l, err := config.ReadTreeLearning(files.OS{}, o.leave.learn, nil)
	if err != nil {
		return nil, evaluation.LeaveOutOptions{}, faultyConfig(err)
	}
	if !o.leave.given("seeds") {
		o.leave.seeds = l.Run.Seeds
	}
	o.leave.target = l.Learn.For
	study := o.leave.study(tell)
	study.Ways[0].Options[0] = l.Options()
	for k := range study.Seeds {
		study.Seeds[k] = l.Run.Seed + uint64(k)
	}
	learn, held := l.Trees()
	return slices.Concat(learn, held), study, nil
}

// tellLeaving logs how far leaving out is, each time that another group begins and
// otherwise seldom.
func tellLeaving(ctx context.Context) func(evaluation.LeaveOutProgress) {
	log, group, last := loggerFrom(ctx), "", time.Now()
	return func(p evaluation.LeaveOutProgress) {
		if now := time.Now(); p.Group != group || now.Sub(last) >= seldom {
			group, last = p.Group, now
			log.Info("learning", zap.String("left_out", p.Group), zap.Int("group", p.Groups+1), zap.Int("of", p.Of), zap.Int("policies", p.Policies), zap.Int("of_policies", p.OfThem))
		}
	}
}

// print writes the report for people.
func (r leaveReport) print(w io.Writer) error {
	p := &printer{w: w}
	p.line("%s\n", r.lead())
	p.table(r.groupTable())
	p.line("\nover %s, where chance leaves %.2f points to be regretted", plural(len(r.Tables), "table"), r.Floor)
	p.standings(r.Standings, r.Against)
	p.line("")
	for _, line := range r.sentences() {
		p.line("%s", line)
	}
	p.line("\n%s", leaveRemark)
	p.tooFew(len(r.Groups), r.LeaveOut+"s")
	return p.err
}

// leaveRemark says what was seen of a table.
const leaveRemark = "Regret is in points of accuracy below the best of the table. Of each table the best fixed sequence and the policies have seen the others only."

// lead says what was left out, and who learned.
func (r leaveReport) lead() string {
	what := map[string]string{"scenario": "one scenario", "network": "the tables of one network"}[r.LeaveOut]
	learn := fmt.Sprintf("%d policies learn", r.Seeds)
	if r.Seeds == 1 {
		learn = "1 policy learns"
	}
	return fmt.Sprintf("%s left out at a time; %s from the others, for %s scenarios, in up to %d steps", what, learn, r.For, r.Steps)
}

// sentences say of each policy what its difference tells.
func (r leaveReport) sentences() (lines []string) {
	for _, s := range r.Standings {
		if s.Role != evaluation.RoleBaseline && s.Difference != nil {
			lines = append(lines, r.sentence(s))
		}
	}
	return lines
}

// shownRivals are those who stand beside the policies for each group.
var shownRivals = []string{"best fixed", "random", "never"}

// groupTable has a line for each group.
func (r leaveReport) groupTable() *table {
	var names []string
	for _, s := range r.Standings {
		if s.Role != evaluation.RoleBaseline || slices.Contains(shownRivals, s.Policy) {
			names = append(names, s.Policy)
		}
	}
	columns := []string{"LEFT OUT"}
	for _, name := range append(names, "noise", "floor") {
		columns = append(columns, ">"+strings.ToUpper(name))
	}
	t := newTable(columns...)
	for _, g := range r.Groups {
		cells := []string{printable(g.Group)}
		for _, name := range names {
			cell := "-"
			if regret, ok := r.Mean(name, g.Group); ok {
				cell = points(regret)
			}
			cells = append(cells, cell)
		}
		noise, floor := r.chance(g.Group)
		t.add(append(cells, fmt.Sprintf("%.2f", noise), fmt.Sprintf("%.2f", floor))...)
	}
	return t
}

// chance is the mean noise and floor of a group's tables.
func (r leaveReport) chance(group string) (noise, floor float64) {
	count := 0.0
	for _, t := range r.Tables {
		if t.Group == group {
			noise, floor, count = noise+t.Noise, floor+t.Floor, count+1
		}
	}
	return noise / count, floor / count
}

// sentence says what the difference to the best fixed sequence tells.
func (r leaveReport) sentence(s evaluation.Standing) string {
	d := s.Difference
	more := "more"
	if d.Mean < 0 {
		more = "less"
	}
	text := fmt.Sprintf("%s: %.2f points %s regret than the best fixed sequence of the other tables, 95%% interval over tables %s: ", printable(s.Policy),
		math.Abs(d.Mean), more, intervalText(d.OverTables))
	switch {
	case d.OverTables.Low <= 0 && 0 <= d.OverTables.High:
		return text + "zero lies inside, so these tables do not tell the two apart"
	case d.Inside:
		return text + fmt.Sprintf("zero lies outside, but the noise of the tables, as it was read, alone makes a standard deviation of %.2f: they are not told apart", d.Noise)
	}
	return text + fmt.Sprintf("zero lies outside, and the noise of the tables alone makes a standard deviation of no more than %.2f", d.Noise)
}
