package contrast

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"graft/internal/failure"
	"graft/report/document"
	"graft/report/runs"
)

// Sweep describes a sweep of the study.
type Sweep struct {
	Name   string `json:"name"`   // name in tables: the last part of the path or, if it is not unique, the path
	Path   string `json:"path"`   // path of the run folder
	Ended  bool   `json:"ended"`  // whether the sweep has ended
	Trials int    `json:"trials"` // number of planned trials of the reported arms
	Done   int    `json:"done"`   // number of trials with an outcome
	Failed int    `json:"failed"` // number of failed trials; zero for a sweep in progress, whose failures are unknown

	keys []sweptKey
}

// sweptKey is a key that a sweep varies, with its values in the order of the sweep.
type sweptKey struct {
	name   string
	values []string
}

// Setting identifies a sweep with one combination of its swept values.
type Setting struct {
	Folder string   `json:"folder"` // name of the sweep
	Swept  []string `json:"swept"`  // swept assignments, such as time.budget=8s; empty without swept keys
}

// name returns the setting in words.
func (s Setting) name() string { return strings.Join(append([]string{s.Folder}, s.Swept...), ", ") }

// setting holds the trials of a setting.
type setting struct {
	Setting
	folder *Sweep
	arms   []*arm // in the order of the sweep
}

// arm holds the values of an arm in a setting.
type arm struct {
	name    string
	planned []int64
	values  map[int64]float64
	failed  []int64  // seeds of failed trials
	notes   []string // trials without a value, with the reasons
}

func (s *setting) arm(name string) *arm {
	k := slices.IndexFunc(s.arms, func(a *arm) bool { return a.name == name })
	if k < 0 {
		return nil
	}
	return s.arms[k]
}

// seeds lists the seeds with a value, in the order of the plan.
func (a *arm) seeds() (list []int64) {
	for _, seed := range a.planned {
		if _, has := a.values[seed]; has {
			list = append(list, seed)
		}
	}
	return list
}

// list returns the values of the arm, in the order of the plan.
func (a *arm) list() (values []float64) {
	for _, seed := range a.seeds() {
		values = append(values, a.values[seed])
	}
	return values
}

// foldersOf checks that the runs are different sweeps, and names them.
func foldersOf(list []*runs.Run) (folders []*Sweep, err error) {
	outcomes, paths, names := map[string]string{}, map[string]bool{}, map[string]int{}
	for _, r := range list {
		if r.Kind != runs.SweepKind || r.Begun {
			return nil, failure.Usagef("%s is not a sweep with trials; option \"contrasts\" requires folders of "+
				"'graft train --cases', 'graft train --sweep' or 'graft compare'", r.Path)
		}
		if full := runs.Absolute(r.Path); paths[full] {
			return nil, failure.Usagef("%s is named twice; name each folder once", r.Path)
		}
		paths[runs.Absolute(r.Path)] = true
		if first := outcomes[r.Outcome]; r.Outcome != "" && first != "" {
			return nil, failure.Usagef("%s is a copy of the sweep in %s; name each sweep once", r.Path, first)
		}
		outcomes[r.Outcome] = r.Path
		names[r.Base()]++
	}
	for _, r := range list {
		f := &Sweep{Name: r.Base(), Path: r.Path, Ended: r.Ended}
		if names[f.Name] > 1 {
			f.Name = r.Path
		}
		folders = append(folders, f)
	}
	return folders, nil
}

// settingsOf lists the settings of a sweep, in the order of the sweep.
func settingsOf(r *runs.Run, f *Sweep, m runs.TrialMeasure) (list []*setting, err error) {
	arms, err := r.Arms(m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Path, err)
	}
	for _, a := range arms {
		k := slices.IndexFunc(list, func(s *setting) bool { return slices.Equal(s.Swept, a.Swept) })
		if k < 0 {
			k = len(list)
			list = append(list, &setting{Setting: Setting{f.Name, append([]string{}, a.Swept...)}, folder: f})
			f.addKeys(a.Swept)
		}
		list[k].arms = append(list[k].arms, armOf(a, m))
		f.Trials, f.Done, f.Failed = f.Trials+len(a.Plan.Seeds), f.Done+len(a.Ended), f.Failed+len(a.Failed)
	}
	return list, nil
}

// addKeys adds swept values.
func (f *Sweep) addKeys(swept []string) {
	for k, set := range swept {
		key, value, _ := strings.Cut(set, "=")
		if k == len(f.keys) {
			f.keys = append(f.keys, sweptKey{name: key})
		}
		if own := &f.keys[k]; !slices.Contains(own.values, value) {
			own.values = append(own.values, value)
		}
	}
}

// armOf collects the values of an arm, and the reasons for missing values.
func armOf(a *runs.SweepArm, m runs.TrialMeasure) *arm {
	made := &arm{name: a.Arm, planned: a.Plan.Seeds, values: map[int64]float64{}}
	without, missing := []int64{}, slices.Clone(a.Plan.Seeds)
	drop := func(seed int64) {
		missing = slices.DeleteFunc(missing, func(s int64) bool { return s == seed })
	}
	for _, t := range a.Ended {
		drop(t.Seed)
		if math.IsNaN(t.Value) {
			without = append(without, t.Seed)
			continue
		}
		made.values[t.Seed] = t.Value
	}
	for _, f := range a.Failed {
		drop(f.Seed)
		made.failed = append(made.failed, f.Seed)
		made.notes = append(made.notes, fmt.Sprintf("seed %d failed: %s", f.Seed, f.Why))
	}
	if len(missing) > 0 {
		made.notes = append(made.notes, document.SeedsText(missing)+" not ended")
	}
	if len(without) > 0 {
		made.notes = append(made.notes, fmt.Sprintf("%s without %s", document.SeedsText(without), wordsOf(m.Name)))
	}
	return made
}
