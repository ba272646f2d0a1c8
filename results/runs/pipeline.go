package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"graft/config"
	"graft/files"
	"graft/results/document"
	"graft/results/failure"
	"graft/simulation/evaluation"
)

// ReadPipelineOutcome reads how the policies of a pipeline fare.
func ReadPipelineOutcome(fsys files.FS, folder string) (*PipelineOutcome, error) {
	path := filepath.Join(folder, OutcomeName)
	text, err := files.ReadAll(fsys, path, largestOutcome)
	if err != nil {
		return nil, err
	}
	o := &PipelineOutcome{}
	if err := json.Unmarshal(text, o); err != nil {
		return nil, failure.With(failure.Damaged, fmt.Errorf("%s: %w; delete it, and the same command makes it again", path, err))
	}
	if o.Comparison == nil {
		return nil, failure.With(failure.Damaged, fmt.Errorf("%s: it says nothing; delete it, and the same command makes it again", path))
	}
	return o, nil
}

// largestOutcome is above the size of any outcome.
const largestOutcome = 1 << 28

// PipelineOutcome is how policies fare that a pipeline has made, as outcome.json has it.
type PipelineOutcome struct {
	Learned                string `json:"learned"` // the chooser that is what was learned: all seeds voting
	*evaluation.Comparison        // in the tables that were learned from
	// LeftOut judges policies by tables that they did not learn from; null where nothing
	// is left out.
	LeftOut *LeaveReport `json:"left_out"`
}

// PipelineKind is the folders of graft pipeline, in which those of its parts lie.
var PipelineKind = &Kind{Name: "pipeline", Title: "pipeline", Titles: "pipelines", fits: func(f *Folder) bool { return f.Has(LedgerName) }, read: readPipelineRun}

func readPipelineRun(f *Folder, r *Run) error {
	l, err := ReadLedger(f.Fsys, f.At(LedgerName))
	if err != nil {
		return err
	}
	r.Manifest, r.Seeded = l.Run, true
	if f.Has(ResolvedFile) {
		if r.Settings, err = config.ReadSettings(f.Fsys, f.At(ResolvedFile)); err != nil {
			return err
		}
	}
	r.Ended = l.ended() && f.Has(OutcomeName)
	var o *PipelineOutcome
	if r.Ended {
		if o, err = ReadPipelineOutcome(f.Fsys, f.Path); err != nil {
			return err
		}
	}
	r.Quantities = append(pipelineQuantities(o), l.quantities()...)
	_, r.Faults = l.Parts(f.other)
	return nil
}

// ended says whether there is nothing left to do. Scenarios that failed are left out.
func (l *Ledger) ended() bool {
	for _, e := range l.All {
		if e.State != StageDone && (e.State != stageFailed || !strings.HasPrefix(e.Stage, SimulateStage)) {
			return false
		}
	}
	return true
}

// kindOfStage is the first word of a stage's name.
func (e *StageEntry) kindOfStage() string {
	word, _, _ := strings.Cut(e.Stage, " ")
	return word
}

// quantities are how many stages there are, and what they took.
func (l *Ledger) quantities() []quantity {
	took, failed, scenarios := map[string]float64{}, 0, 0
	for _, e := range l.All {
		took[e.kindOfStage()] += e.Seconds
		if e.kindOfStage() == strings.TrimSpace(SimulateStage) {
			scenarios++
		}
		if e.State == stageFailed {
			failed++
		}
	}
	list := []quantity{seedless("scenarios", "", noAim, float64(scenarios)), seedless("failed_stages", "", downward, float64(failed))}
	for _, kind := range []string{"simulate", LearnStage, JudgeStage} {
		list = append(list, seedless(kind+"_time", document.UnitSeconds, noAim, took[kind]))
	}
	return list
}

// pipelineQuantities are how its policies fare, in tables that they learned from and in
// those that they did not.
func pipelineQuantities(o *PipelineOutcome) []quantity {
	if o == nil {
		return nil
	}
	list := evaluationQuantities(&EvaluationOutcome{Compared: o.AsEvaluation()})
	if o.LeftOut == nil {
		return list
	}
	for _, q := range evaluationQuantities(&EvaluationOutcome{LeftOut: o.LeftOut}) {
		q.Name = "left_out_" + q.Name
		list = append(list, q)
	}
	return list
}

// AsEvaluation is what an evaluation of the policies has, too.
func (o *PipelineOutcome) AsEvaluation() *EvaluationReport {
	r := &EvaluationReport{Against: o.Against, Floor: o.Floor, Standings: o.Standings}
	for _, t := range o.Tables {
		r.Tables = append(r.Tables, EvaluatedTable{TableScores: t})
	}
	return r
}

// Part is a run that a stage leaves.
type Part struct {
	Stage *StageEntry
	Path  string
	Run   *Run // nil where it is not there, or cannot be read
	None  bool // it is not there
}

// Parts reads the runs of stages that were done, and says which of them are no longer
// what they were.
func (l *Ledger) Parts(open func(folder string) (*Run, error)) (all []Part, faults error) {
	for _, e := range l.All {
		for _, name := range e.Parts {
			p := Part{Stage: e, Path: filepath.Join(filepath.Dir(l.Path), name)}
			run, err := open(p.Path)
			p.None = NotThere(err)
			switch {
			case err == nil:
				p.Run, faults = run, errors.Join(faults, wrapPart(e, run.Faults))
				if e.State == StageDone && !run.Ended {
					faults = errors.Join(faults, fmt.Errorf("%s: %s has not ended, though it had when the stage was done; the same pipeline makes it again", e.Stage, p.Path))
				}
			case e.State == StageDone:
				faults = errors.Join(faults, fmt.Errorf("%s: %w; the same pipeline makes it again", e.Stage, err))
			case e.State != StageWaits && !p.None:
				faults = errors.Join(faults, wrapPart(e, err))
			}
			all = append(all, p)
		}
	}
	return all, faults
}

func wrapPart(e *StageEntry, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", e.Stage, err)
}
