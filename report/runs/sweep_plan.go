package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"graft/internal/failure"
	"graft/internal/files"
)

// Names in the run folder of a sweep.
const (
	SweepFile    = "sweep.json" // its plan
	CasesFolder  = "cases"      // the job file of each case
	TrialsFolder = "trials"     // run folders of jobs: a folder for each case, and in it one for each seed
)

// SweepPlan lists the cases of a sweep and the seeds of their trials.
type SweepPlan struct {
	Cases      []*SweepCase     `json:"cases"`                // the first is the one that others are compared with
	Comparison *SweepComparison `json:"comparison,omitempty"` // of arms; null for other sweeps
}

// SweepCase is a job that runs once for each of its seeds.
type SweepCase struct {
	Name   string   `json:"name"`   // unique
	Set    []string `json:"set"`    // assignments that make the case; what graft adds for a trial is not among them
	Key    string   `json:"key"`    // its name in paths
	Digest string   `json:"digest"` // of the job, with the first seed
	Seeds  []int64  `json:"seeds"`  // of its trials
	// Shared says what the seeds have in common at the start; empty where each draws all weights.
	Shared string `json:"shared_by_seeds,omitempty"`
	// Final names the case with whose final network the trial of the same seed begins, with
	// fresh weights; empty for none.
	Final string `json:"final_of,omitempty"`
	// Selects is the sequence of actions of a case whose trials only select; null for cases
	// that are reported.
	Selects []string `json:"selects,omitempty"`
	// Best is whether the trials take the sequence that was selected.
	Best bool `json:"best,omitempty"`
}

// SweepComparison says how the arms of a comparison were made.
type SweepComparison struct {
	Configured string `json:"configured"` // arm of the job as it is configured
	// arm that others are compared with: no adaptation, from scratch if that is an arm
	Baseline  string `json:"baseline"`
	Sequences int    `json:"sequences"` // fixed sequences that there are; zero without the arm best fixed
	Tried     int    `json:"tried"`     // of them
	// Dropped are the arms that cannot run.
	Dropped []DroppedArm `json:"dropped,omitempty"`
}

// DroppedArm is an arm that cannot run.
type DroppedArm struct {
	Arm string `json:"arm"` // its name
	Why string `json:"why"` // it cannot
}

// SweepTrial describes a job of a sweep.
type SweepTrial struct {
	Case *SweepCase
	Seed int64
}

// Key is the name of the trial for leases and failures.
func (t SweepTrial) Key() string { return fmt.Sprintf("%s_seed%d", t.Case.Key, t.Seed) }

// String is the trial for people.
func (t SweepTrial) String() string { return fmt.Sprintf("%s, seed %d", t.Case.Name, t.Seed) }

// Folder is the run folder of the trial, in the folder of the sweep.
func (t SweepTrial) Folder() string {
	return filepath.Join(TrialsFolder, t.Case.Key, fmt.Sprintf("seed-%d", t.Seed))
}

// Trials lists all trials, in order.
func (p *SweepPlan) Trials() (all []SweepTrial) {
	for _, c := range p.Cases {
		for _, seed := range c.Seeds {
			all = append(all, SweepTrial{c, seed})
		}
	}
	return all
}

// Case returns a case by name; nil where there is none.
func (p *SweepPlan) Case(name string) *SweepCase {
	for _, c := range p.Cases {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Reported lists the cases that reports show: all but those that only select.
func (p *SweepPlan) Reported() (list []*SweepCase) {
	for _, c := range p.Cases {
		if c.Selects == nil {
			list = append(list, c)
		}
	}
	return list
}

// Candidates lists the cases that only select.
func (p *SweepPlan) Candidates() (list []*SweepCase) {
	for _, c := range p.Cases {
		if c.Selects != nil {
			list = append(list, c)
		}
	}
	return list
}

// ReadSweepPlan reads the plan in the folder of a sweep. A damaged one has the exit code Damaged.
func ReadSweepPlan(fsys files.FS, folder string) (*SweepPlan, error) {
	path := filepath.Join(folder, SweepFile)
	text, err := files.ReadAll(fsys, path, largestOutcome)
	if err != nil {
		return nil, err
	}
	p := &SweepPlan{}
	if err = json.Unmarshal(text, p); err == nil {
		err = p.validate()
	}
	if err != nil {
		return nil, failure.With(failure.Damaged, fmt.Errorf("%s is damaged: %w", path, err))
	}
	return p, nil
}

func (p *SweepPlan) validate() error {
	if len(p.Cases) == 0 {
		return errors.New("it lists no cases")
	}
	for _, c := range p.Cases {
		if c == nil || !filepath.IsLocal(c.Key) || filepath.Base(c.Key) != c.Key || len(c.Seeds) == 0 {
			return errors.New("a case has no name or no seeds")
		}
	}
	if b := p.Comparison; b != nil && (p.Case(b.Configured) == nil || p.Case(b.Baseline) == nil) {
		return errors.New("an arm of the comparison is missing")
	}
	return nil
}
