package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"graft/config"
	"graft/internal/files"
	"graft/internal/stat"
	"graft/report/runs"
	"graft/runner/app"
	"graft/trainer"
)

// state is the state of a trial.
type state int

const (
	waiting state = iota // waits for other trials
	ready                // can run, or runs
	ended                // has an outcome
	failed
)

// trial is a trial and its state.
type trial struct {
	runs.SweepTrial
	state state
	set   []string // additional assignments for a trial that is ready
	same  string   // case whose trial with this seed is the same job; empty for none
	why   string   // reason of the failure
	// the failed trial diverged, so that it fails again
	diverged bool
}

// failureReport is the file of a failed trial.
type failureReport struct {
	Why      string `json:"why"`
	Diverged bool   `json:"diverged,omitempty"`
}

func (s *sweep) failurePath(t runs.SweepTrial) string {
	return s.at(runs.FailuresFolder, t.Key()+".json")
}

// fail records the failure of a trial.
func (s *sweep) fail(t runs.SweepTrial, why error) error {
	text, err := json.Marshal(failureReport{why.Error(), errors.Is(why, trainer.ErrDiverged)})
	if err == nil {
		err = s.env.Files.MkdirAll(s.at(runs.FailuresFolder))
	}
	if err != nil {
		return err
	}
	return s.env.WriteText(s.failurePath(t), string(text)+"\n")
}

// retry removes failures, and an outcome with failures.
func (s *sweep) retry() error {
	entries, err := files.Entries(s.env.Files, s.at(runs.FailuresFolder))
	if err != nil || len(entries) == 0 {
		return err
	}
	err = s.remove(s.at(runs.OutcomeFile))
	for _, entry := range entries {
		err = errors.Join(err, s.remove(s.at(runs.FailuresFolder, entry.Name())))
	}
	return err
}

func (s *sweep) remove(path string) error {
	if err := s.env.Files.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// look returns all trials and their states.
func (s *sweep) look() ([]trial, error) {
	var all []trial
	for _, t := range s.plan.Trials() {
		one, err := s.lookAt(t)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// lookAt returns a trial and its state.
func (s *sweep) lookAt(t runs.SweepTrial) (trial, error) {
	one := trial{SweepTrial: t, state: s.seen[t.Key()]}
	if one.state == ended {
		return one, nil
	}
	if _, err := s.env.Files.Stat(s.at(t.Folder(), runs.OutcomeFile)); err == nil {
		one.state, s.seen[t.Key()] = ended, ended
		return one, nil
	}
	text, err := files.ReadAll(s.env.Files, s.failurePath(t), largestFailure)
	if err == nil {
		var report failureReport
		err := json.Unmarshal(text, &report)
		one.state, one.why, one.diverged = failed, report.Why, report.Diverged
		return one, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return one, err
	}
	one.state = ready
	switch {
	case t.Case.Final != "":
		err = s.followFinal(&one)
	case t.Case.Best:
		err = s.followBest(&one)
	default:
		err = nil
	}
	return one, err
}

// largestFailure limits the size of a failure's file, in bytes.
const largestFailure = 16 << 20

// followFinal makes a trial start with the final network of another trial.
func (s *sweep) followFinal(t *trial) error {
	parent, err := s.lookAt(runs.SweepTrial{Case: s.plan.Case(t.Case.Final), Seed: t.Seed})
	if err != nil {
		return err
	}
	if parent.state != ended {
		t.after(parent)
		return nil
	}
	network := s.at(parent.Folder(), app.NetworkFile)
	t.set = []string{"network.name=", "network.file=" + network}
	if s.needsConstants() { // tensors of the grown network
		t.set = append(t.set, "network.fresh=true", "network.weights="+s.at(parent.Folder(), app.WeightsFile))
	}
	twin := s.freshTwin()
	if twin == nil {
		return nil
	}
	other, err := s.lookAt(runs.SweepTrial{Case: twin, Seed: t.Seed})
	if err != nil || other.state == failed {
		return err
	}
	if other.state != ended { // it never adapts, so it ends with the initial network
		t.state = waiting
		return nil
	}
	same, err := s.sameFile(network, s.at(other.Folder(), app.NetworkFile))
	if same {
		t.same, t.state = twin.Name, ended
	}
	return err
}

// freshTwin returns the case that trains the initial network with fresh weights and never adapts; nil if there is none.
func (s *sweep) freshTwin() *runs.SweepCase {
	if c := s.plan.Case(config.ArmScratch); c != nil || s.InitialWeights().Weights != "" {
		return c
	}
	return s.plan.Case(config.ArmNever)
}

func (s *sweep) sameFile(a, b string) (bool, error) {
	one, err := files.ReadAll(s.env.Files, a, largestFailure)
	two, err2 := files.ReadAll(s.env.Files, b, largestFailure)
	return bytes.Equal(one, two), errors.Join(err, err2)
}

// after makes a trial wait for another, or fail with it.
func (t *trial) after(other trial) {
	t.state = waiting
	if other.state == failed {
		t.state, t.why = failed, fmt.Sprintf("the required trial %s failed", other)
	}
}

// followBest makes a trial take the selected sequence.
func (s *sweep) followBest(t *trial) error {
	candidates, tied, settled, err := s.candidates()
	if err != nil {
		return err
	}
	switch {
	case !settled:
		t.state = waiting
	case tied == 0:
		t.state, t.why = failed, "each sequence failed for one of the selection seeds"
	default:
		t.set = scriptOf(candidates[0].Sequence)
	}
	return nil
}

// candidates ranks the fixed sequences by their mean validation accuracy, and returns the number of sequences that tie
// as the best. It waits until all their trials have run.
func (s *sweep) candidates() (list []runs.Candidate, tied int, settled bool, err error) {
	folder, seeds := s.reader(), 0
	for _, c := range s.plan.Candidates() {
		seeds = len(c.Seeds)
		var values []float64
		for _, seed := range c.Seeds {
			t, err := s.lookAt(runs.SweepTrial{Case: c, Seed: seed})
			if err != nil || t.state == ready || t.state == waiting {
				return nil, 0, false, err
			}
			if t.state == failed {
				continue
			}
			o, err := s.readTrial(folder, t.SweepTrial)
			if err != nil {
				return nil, 0, false, err
			}
			values = append(values, o.Values[runs.ValidationAccuracy])
		}
		if len(values) > 0 {
			list = append(list, runs.Candidate{Sequence: c.Selects, Validation: stat.Mean(values), N: len(values)})
		}
	}
	return list, runs.RankCandidates(list, seeds), true, nil
}

// reader reads the run folder.
func (s *sweep) reader() *runs.Folder {
	return &runs.Folder{Path: filepath.Clean(s.folder), Files: s.env.Files}
}
