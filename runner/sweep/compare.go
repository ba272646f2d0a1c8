package sweep

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/words"
	"graft/report/runs"
	"graft/runner/app"
	"graft/simulation/tables"
)

// Configured is the name of the arm that runs the unmodified job.
const Configured = "as configured"

// CompareOptions configures [Compare]. The embedded Options must not define cases. If Options.Seeds is not zero, it
// replaces compare.seeds.
type CompareOptions struct {
	Options                 // options for the trials; zero values mean the values in the file
	Arms           []string // names of arms, as in compare.arms; empty means the value in the file
	SelectionSeeds int      // number of seeds, as in compare.selection_seeds; zero means the value in the file
}

// assignments returns the options as keys of the section compare.
func (o CompareOptions) assignments() []string {
	set := slices.Clone(o.Set)
	if o.Seeds != 0 {
		set = append(set, fmt.Sprintf("compare.seeds=%d", o.Seeds))
	}
	if o.SelectionSeeds != 0 {
		set = append(set, fmt.Sprintf("compare.selection_seeds=%d", o.SelectionSeeds))
	}
	if len(o.Arms) > 0 {
		arms := slices.DeleteFunc(slices.Clone(o.Arms), func(arm string) bool { return arm == Configured })
		if len(arms) == 0 { // these two always run
			arms = []string{config.ArmNever}
		}
		set = append(set, "compare.arms="+textList(arms))
	}
	return set
}

// textList writes texts as a list in TOML.
func textList(texts []string) string {
	quoted := make([]string, len(texts))
	for k, text := range texts {
		quoted[k] = fmt.Sprintf("%q", text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// Compare runs an adapting job and its baselines, which are arms with the same budget, timeline, data and seeds. See
// [Run] for results and errors.
func Compare(ctx context.Context, env *app.Env, path string, o CompareOptions) (*Result, error) {
	o.Set = o.assignments()
	s, err := open(env, path, o.Options)
	if err != nil {
		return nil, err
	}
	if err := s.comparable(path); err != nil {
		return nil, failure.With(failure.Configuration, err)
	}
	if err := s.planArms(path, o.Options); err != nil {
		return nil, err
	}
	return s.run(ctx, path, o.Options)
}

// comparable returns an error if the job never adapts.
func (s *sweep) comparable(path string) error {
	if s.Adapt.Decider == config.DecideNone {
		return fmt.Errorf("compare %s: the job never adapts, because adapt.decider is none; set it to policy, "+
			"script or another decider", path)
	}
	if s.Run.Fork != "" {
		return fmt.Errorf("compare %s: run.fork is set, but the arms have other deciders than the job, so they "+
			"cannot start from one run; remove it", path)
	}
	if key, why := s.Sweep.Undecided(); key != "" {
		return fmt.Errorf("compare %s: %s: %s", path, key, why)
	}
	return nil
}

// arms returns the arms in addition to the configured job: never first, the baseline of the others.
func (s *sweep) arms() []string {
	arms := s.Compare.Arms
	if len(arms) == 0 {
		arms = slices.DeleteFunc(config.Arms(),
			func(arm string) bool { return arm == config.ArmScratch && s.InitialWeights().Weights == "" })
	}
	return append([]string{config.ArmNever},
		slices.DeleteFunc(slices.Clone(arms), func(arm string) bool { return arm == config.ArmNever })...)
}

// planArms plans the trials of all arms, and the trials that select the best fixed sequence.
func (s *sweep) planArms(path string, o Options) error {
	o.Seeds = s.Compare.Seeds
	s.plan.Comparison = &runs.SweepComparison{Configured: Configured, Baseline: config.ArmNever}
	faults := []error{s.addArm(path, o, Configured, nil)}
	for _, arm := range s.arms() {
		if why := s.cannotRun(arm); why != "" {
			s.env.Log.Warn("dropped arm", zap.String("arm", arm), zap.String("reason", why))
			s.plan.Comparison.Dropped = append(s.plan.Comparison.Dropped, runs.DroppedArm{Arm: arm, Why: why})
			continue
		}
		switch arm {
		case config.ArmNever:
			faults = append(faults, s.addArm(path, o, arm, s.never()))
		case config.ArmScratch, config.ArmFinal:
			faults = append(faults, s.addArm(path, o, arm, s.fresh()))
		case config.ArmRandom:
			faults = append(faults, s.addArm(path, o, arm, s.random()))
		case config.ArmBestFixed:
			faults = append(faults, s.addBest(path, o))
		}
	}
	if c := s.plan.Case(config.ArmFinal); c != nil {
		c.Final = Configured
	}
	return runs.AsConfigFault(config.JoinCases(slices.DeleteFunc(faults, func(err error) bool { return err == nil })))
}

func (s *sweep) addArm(path string, o Options, arm string, set []string) error {
	_, err := s.add(path, o, config.Case{Name: arm, Set: set}, s.seeds(o.Seeds, 0))
	if err != nil {
		return fmt.Errorf("arm %s: %w", arm, err)
	}
	return nil
}

// never returns the assignments of a job that never adapts.
func (s *sweep) never() []string { return s.decide(config.DecideNone) }

// decide returns the assignments that replace the decider and its keys.
func (s *sweep) decide(decider string, more ...string) []string {
	return append(s.Adapt.Replace(decider), more...)
}

// cannotRun returns the reason why an arm with fresh weights cannot run; empty for other arms.
func (s *sweep) cannotRun(arm string) string {
	if arm != config.ArmScratch && arm != config.ArmFinal {
		return ""
	}
	if s.Program.On() {
		return "the arm needs fresh weights, but only the program can initialize parameters, " +
			"and only of its own network"
	}
	parameters, _ := s.Undrawn()
	if len(parameters) == 0 {
		return ""
	}
	return fmt.Sprintf(
		"the arm needs fresh weights, but the initialization of parameter %s of %s is unknown", parameters[0],
		s.NetworkName())
}

// fresh returns the assignments of a job that never adapts and starts with fresh weights. Buffers and constants without
// a defined initialization come from the weight file.
func (s *sweep) fresh() []string {
	set := s.never()
	if s.InitialWeights().Weights == "" {
		return set
	}
	weights := "network.weights="
	if s.needsConstants() {
		weights = "network.fresh=true"
	}
	return append(set, weights, "network.runtimes=", "network.reset_epochs=false", "time.start=0s")
}

// needsConstants reports whether a network with fresh parameters takes tensors from a file.
func (s *sweep) needsConstants() bool {
	_, others := s.Undrawn()
	return len(others) > 0
}

// random returns the assignments of a job that draws its actions.
func (s *sweep) random() []string {
	switch {
	case len(s.Compare.Actions) > 0:
		return s.decide(config.DecideRandom, "adapt.actions="+textList(textsOf(s.Compare.Actions)))
	case len(s.Compare.Kinds) > 0:
		return s.decide(config.DecideRandom, "adapt.kinds="+textList(textsOf(s.Compare.Kinds)))
	}
	return s.decide(config.DecideRandom)
}

func textsOf[T any](list []T) []string {
	texts := make([]string, len(list))
	for k, v := range list {
		texts[k] = fmt.Sprint(v)
	}
	return texts
}

// scriptOf returns the assignments of a job that takes a sequence of actions; the case clears the keys of other
// deciders.
func scriptOf(sequence []string) []string {
	return []string{"adapt.decider=" + config.DecideScript, "adapt.actions=" + textList(sequence)}
}

// addBest adds the arm of the best fixed sequence, and a case for each tried sequence.
func (s *sweep) addBest(path string, o Options) error {
	list, all, err := s.Sequences()
	if err != nil {
		return fmt.Errorf("arm %s: %w", config.ArmBestFixed, err)
	}
	s.plan.Comparison.Sequences, s.plan.Comparison.Tried = all, len(list)
	seeds := s.seeds(s.Compare.SelectionSeeds, o.Seeds) // disjoint from the seeds of the arms
	if trials := len(list)*len(seeds) + len(s.plan.Trials()); trials > config.MostTrials {
		return fmt.Errorf("arm %s: trying %s with %s each makes %d trials in total, but the maximum is %d; "+
			"reduce compare.max_sequences", config.ArmBestFixed, words.Plural(len(list), "sequence"),
			words.Plural(len(seeds), "seed"), trials, config.MostTrials)
	}
	if err := s.addArm(path, o, config.ArmBestFixed, s.never()); err != nil {
		return err
	}
	s.plan.Case(config.ArmBestFixed).Best = true
	for _, sequence := range list {
		name := "select " + tables.Sequence(sequence)
		c, err := s.add(path, o, config.Case{Name: name, Set: append(s.never(), scriptOf(sequence)...)}, seeds)
		if err != nil {
			return fmt.Errorf("sequence %s: %w", tables.Sequence(sequence), err)
		}
		c.Selects = sequence
	}
	return nil
}
