package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/zap"

	"graft/config"
	"graft/files"
	"graft/results/document"
	"graft/results/report"
	"graft/results/runs"
	"graft/simulation"
	"graft/work"
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
var bys = map[string]simulation.By{"scenario": simulation.ByScenario, "network": simulation.ByNetwork}

// targets are the defaults to learn with.
var targets = map[string]func() simulation.TreeLearnOptions{"new": simulation.NewTransferOptions, "known": simulation.NewTreeLearnOptions}

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
func (o leaveOptions) study(tell func(simulation.LeaveOutProgress)) simulation.LeaveOutOptions {
	learn := targets[o.target]()
	if o.steps > 0 {
		learn.Steps = o.steps
	}
	s := simulation.LeaveOutOptions{By: bys[o.by], Ways: []simulation.Way{{Options: []simulation.TreeLearnOptions{learn}}}, AtOnce: runtime.GOMAXPROCS(0), Tell: tell}
	for k := range o.seeds {
		s.Seeds = append(s.Seeds, uint64(k+1))
	}
	return s
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
	rep, err := simulation.CompareLeftOut(ctx, trees, study)
	if err != nil {
		return err
	}
	r := runs.LeaveReport{LeaveOut: o.leave.by, For: o.leave.target, Steps: study.Ways[0].Options[0].Steps, Seeds: len(study.Seeds), LeaveOutReport: rep}
	if err := book.finish(runs.NewEvaluationOutcome(nil, &r)); err != nil {
		return err
	}
	switch {
	case o.csv:
		return report.PrintVerdicts(w, rep.Comparison)
	case o.json:
		return document.PrintJSON(w, r)
	}
	return report.PrintLeftOut(r, w)
}

// lessons are the tables, and how policies learn from them. Those of a file that are
// held out are left out in turn like the others.
func (o *evaluateOptions) lessons(tell func(simulation.LeaveOutProgress)) ([]*simulation.Tree, simulation.LeaveOutOptions, error) {
	if o.leave.learn == "" {
		trees, err := readTrees(o.tables)
		return trees, o.leave.study(tell), err
	}
	l, err := config.ReadTreeLearning(files.OS{}, o.leave.learn, nil)
	if err != nil {
		return nil, simulation.LeaveOutOptions{}, runs.AsConfigFault(err)
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
func tellLeaving(ctx context.Context) func(simulation.LeaveOutProgress) {
	log, group, last := loggerFrom(ctx), "", time.Now()
	return func(p simulation.LeaveOutProgress) {
		if now := time.Now(); p.Group != group || now.Sub(last) >= work.LogEvery {
			group, last = p.Group, now
			log.Info("learning", zap.String("left_out", p.Group), zap.Int("group", p.Groups+1), zap.Int("of", p.Of), zap.Int("policies", p.Policies), zap.Int("of_policies", p.OfThem))
		}
	}
}
