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
	SweepFile   = "sweep.json" // plan of the sweep
	CasesFolder = "cases"      // folder with the job file of each case
	// folder of the jobs' run folders: one folder per case, which contains one folder per seed
	TrialsFolder = "trials"
)

// SweepPlan lists the cases of a sweep and the seeds of their trials.
type SweepPlan struct {
	// cases of the sweep; the first is the baseline of comparisons
	Cases      []*SweepCase     `json:"cases"`
	Comparison *SweepComparison `json:"comparison,omitempty"` // arms of a comparison; null for other sweeps
}

// SweepCase is a job that runs once per seed.
type SweepCase struct {
	Name string `json:"name"` // unique name of the case
	// assignments to configuration keys that define the case; assignments that graft adds for each trial are not
	// included
	Set    []string `json:"set"`
	Key    string   `json:"key"`    // name of the case in paths
	Digest string   `json:"digest"` // digest of the job with the first seed
	Seeds  []int64  `json:"seeds"`  // seeds of the case's trials
	// SHA-256 of the weight file of each seed, when the sweep was planned; an empty text means unknown. Null without
	// initial weights.
	Weights []string `json:"weights_sha256,omitempty"`
	// Shared describes how the seeds share initial weights from a file. It is empty if each seed draws all its weights
	// at random.
	Shared string `json:"shared_by_seeds,omitempty"`
	// Final is the name of another case that supplies the network. Each trial starts from the final network of the
	// other case's trial with the same seed, but with fresh weights. Empty means none.
	Final string `json:"final_of,omitempty"`
	// Selects holds the action sequence of a case that runs only to select the best sequence. It is null for all other
	// cases, which reports show.
	Selects []string `json:"selects,omitempty"`
	// Best reports whether the trials of this case use the best fixed sequence.
	Best bool `json:"best,omitempty"`
}

// SweepComparison describes how the arms of a comparison are derived from the configured job.
type SweepComparison struct {
	Configured string `json:"configured"` // name of the arm of the configured job
	// name of the baseline arm, which is the arm that never adapts
	Baseline  string `json:"baseline"`
	Sequences int    `json:"sequences"` // number of possible fixed sequences; zero without the arm best fixed
	Tried     int    `json:"tried"`     // number of sequences that are tried
	// Dropped lists the arms that cannot run.
	Dropped []DroppedArm `json:"dropped,omitempty"`
}

// DroppedArm is an arm that cannot run.
type DroppedArm struct {
	Arm string `json:"arm"` // name of the arm
	Why string `json:"why"` // reason why it cannot run
}

// SweepTrial is a job of a sweep: a case with a seed.
type SweepTrial struct {
	Case *SweepCase
	Seed int64
}

// Key returns the trial's name in leases and failure records.
func (t SweepTrial) Key() string { return fmt.Sprintf("%s_seed%d", t.Case.Key, t.Seed) }

// String describes the trial as text.
func (t SweepTrial) String() string { return fmt.Sprintf("%s, seed %d", t.Case.Name, t.Seed) }

// Folder returns the path of the trial's run folder in the folder of the sweep.
func (t SweepTrial) Folder() string {
	return filepath.Join(TrialsFolder, t.Case.Key, fmt.Sprintf("seed-%d", t.Seed))
}

// Trials lists all trials of the first case, then all trials of the second case, and so on.
func (p *SweepPlan) Trials() (all []SweepTrial) {
	for _, c := range p.Cases {
		for _, seed := range c.Seeds {
			all = append(all, SweepTrial{c, seed})
		}
	}
	return all
}

// Case returns a case by name, or nil if there is none.
func (p *SweepPlan) Case(name string) *SweepCase {
	for _, c := range p.Cases {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Reported lists the cases that reports show. It omits cases that run only to select the best sequence.
func (p *SweepPlan) Reported() (list []*SweepCase) {
	for _, c := range p.Cases {
		if c.Selects == nil {
			list = append(list, c)
		}
	}
	return list
}

// Candidates lists the cases that run only to select the best sequence.
func (p *SweepPlan) Candidates() (list []*SweepCase) {
	for _, c := range p.Cases {
		if c.Selects != nil {
			list = append(list, c)
		}
	}
	return list
}

// ReadSweepPlan reads the plan in the folder of a sweep. For a damaged plan, the error has the exit code Damaged.
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
		return errors.New("no cases found")
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
