package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/words"
)

var reservedNames = []string{"cache", "policy", "evaluation", "left-out"}

// Check reports the errors in the scenarios, the jobs of trials and the policy files to r. It checks each scenario and
// each case of a job with the settings that the pipeline passes to it.
func (p *Pipeline) Check(fsys files.FS, r *decode.Reading) {
	p.checkTrials(fsys, r)
	const key = "pipeline.scenarios"
	if r.Broken(key) {
		return
	}
	names := map[string]int{}
	for k, path := range p.Pipeline.Scenarios {
		blame := func(format string, args ...any) {
			r.Blame(key, fmt.Sprintf("scenarios[%d]: ", k)+fmt.Sprintf(format, args...), k)
		}
		m, err := p.scenario(fsys, path)
		var faults Faults
		switch {
		case errors.As(err, &faults):
			r.Add(faults...)
			continue
		case err != nil:
			blame("%v", r.Elsewhere(key, err, k))
			continue
		}
		name := m.Simulate.Name
		if other, twice := names[name]; twice {
			blame("duplicate scenario name %s, also used by scenarios[%d]; set another simulate.name in one of them",
				name, other)
		} else if slices.Contains(reservedNames, name) || name != filepath.Base(name) || name == "." || name == ".." {
			blame("the scenario name %q cannot be a folder name; set another simulate.name", name)
		}
		names[name] = k
		p.scenarios = append(p.scenarios, m)
	}
	p.groups(r)
	p.checkRuns(fsys, r)
}

func (p *Pipeline) scenario(fsys files.FS, path string) (*Simulation, error) {
	if _, err := fsys.Stat(path); err != nil {
		return nil, fmt.Errorf("%w; expected the path of a scenario file", err)
	}
	d := Open(fsys, path)
	if d.Kind() != SimulationKind {
		return nil, fmt.Errorf("%s has no section \"simulate\"; expected a scenario file", path)
	}
	return readAs[*Simulation](SimulationKind, d, p.Assignments())
}

// Assignments returns the assignments to configuration keys, as KEY=VALUE, that the pipeline applies to every scenario.
func (p *Pipeline) Assignments() []string {
	set := slices.Clone(p.Pipeline.Set)
	if p.Pipeline.Cache != "" {
		set = append(set, "simulate.cache="+decode.Quote(p.Pipeline.Cache))
	}
	return set
}

// groups checks that training tables remain when some are held out.
func (p *Pipeline) groups(r *decode.Reading) {
	var names []string
	for _, m := range p.scenarios {
		name := cmp.Or(m.content(), m.Simulate.Name)
		if p.Evaluate.LeaveOut == LeaveNetwork && m.network != nil { // a program's network is not yet known
			name = m.network.Name()
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if p.Evaluate.LeaveOut != LeaveNone && len(p.scenarios) == len(p.Pipeline.Scenarios) &&
		len(slices.Compact(names)) < 2 {
		r.Blame("evaluate.leave_out", fmt.Sprintf("leave_out is %[1]s, but the pipeline has only one %[1]s, "+
			"so no table is left to learn from; add scenarios, or set leave_out to none", p.Evaluate.LeaveOut))
	}
}

// Summary describes the pipeline in one line.
func (p *Pipeline) Summary() (string, error) {
	if len(p.entries) > 0 {
		return p.trialsSummary(), nil
	}
	sequences, ends := 0, 0
	for k, m := range p.Scenarios() {
		if m.unknown() {
			return fmt.Sprintf("%s; the number of sequences is known when the program of %s has started; digest %.12s",
				words.Plural(len(p.Scenarios()), "scenario"), p.Pipeline.Scenarios[k], p.Digest()), nil
		}
		n, _, err := m.Size()
		if err != nil {
			return "", fmt.Errorf("%s: %w", p.Pipeline.Scenarios[k], err)
		}
		sequences, ends = sequences+n, ends+n*m.Simulate.Seeds
	}
	withSeeds := ""
	if ends > sequences {
		withSeeds = fmt.Sprintf(" in %d runs, one for each seed", ends)
	}
	text := fmt.Sprintf("simulates %s of %s%s, trains structural policies with %s, for %s scenarios, %s",
		words.Plural(sequences, "sequence"), words.Plural(len(p.Scenarios()), "scenario"), withSeeds,
		words.Plural(p.Run.Seeds, "seed"), p.Learn.For, p.Learn.effort())
	if p.Evaluate.LeaveOut != LeaveNone {
		text += fmt.Sprintf(", evaluates with each %s left out", p.Evaluate.LeaveOut)
	}
	return fmt.Sprintf("%s; digest %.12s", text, p.Digest()), nil
}
