package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/document"
	"graft/simulation/evaluation"
)

// ReadPipelineOutcome reads the outcome of a pipeline.
func ReadPipelineOutcome(fsys files.FS, folder string) (*PipelineOutcome, error) {
	path := filepath.Join(folder, OutcomeFile)
	text, err := files.ReadAll(fsys, path, largestOutcome)
	if err != nil {
		return nil, err
	}
	o := &PipelineOutcome{}
	if err := json.Unmarshal(text, o); err != nil {
		return nil, failure.With(failure.Damaged, fmt.Errorf(
			"%s: %w; delete the file, and rerun the same command to recreate it",
			path, err))
	}
	if o.Comparison == nil && o.Trials == nil {
		return nil, failure.With(failure.Damaged,
			fmt.Errorf("%s: the file contains neither a comparison nor trials; "+
				"delete the file, and rerun the same command to recreate it",
				path))
	}
	return o, nil
}

// largestOutcome limits the size of an outcome, in bytes.
const largestOutcome = 1 << 28

// PipelineOutcome is the content of outcome.json for a pipeline: the evaluation of its policies, or the outcomes of its
// trials. A pipeline of trials has no comparison.
type PipelineOutcome struct {
	// name of the candidate in the comparison whose decisions are votes of the policies of all seeds; empty for a
	// pipeline of trials
	Learned                string `json:"learned"`
	*evaluation.Comparison        // comparison on the training tables; nil for a pipeline of trials
	// entries of a pipeline of trials, in order; absent for other pipelines
	Trials []EntryOutcome `json:"trials,omitempty"`
	// LeftOut is the evaluation of policies on tables that they did not learn from; null if no tables are left out.
	LeftOut *LeaveOutReport `json:"left_out"`
}

// UnmarshalJSON reads an outcome like [EvaluationOutcome.UnmarshalJSON].
func (o *PipelineOutcome) UnmarshalJSON(text []byte) error {
	type plain PipelineOutcome
	if err := json.Unmarshal(text, (*plain)(o)); err != nil {
		return err
	}
	dropUnknownStandings(o.Comparison)
	o.LeftOut.dropUnknown()
	return nil
}

// PipelineKind describes the run folders that graft pipeline writes. The folder of a pipeline contains the run folders
// of its stages.
var PipelineKind = &Kind{Name: "pipeline", By: "graft pipeline", Title: "pipeline", Titles: "pipelines",
	matches: func(f *Folder) bool { return f.Has(JournalFile) }, read: readPipelineRun,
	list: pipelineOverview}

// Pipeline returns the outcome of a completed pipeline.
func (r *Run) Pipeline() (*PipelineOutcome, error) {
	o, err := keep(&r.folder.kept, OutcomeFile, func() (any, error) { return ReadPipelineOutcome(r.Files, r.Path) })
	if err != nil {
		return nil, err
	}
	return o.(*PipelineOutcome), nil
}

func readPipelineRun(f *Folder, r *Run) error {
	l, err := f.readJournal()
	if err != nil {
		return err
	}
	r.Manifest, r.Seeded = l.Run, true
	if f.Has(ResolvedFile) {
		if r.Settings, err = f.configuration(ResolvedFile).Settings(); err != nil {
			return err
		}
	}
	r.Ended = l.ended() && f.Has(OutcomeFile)
	var o *PipelineOutcome
	if r.Ended {
		if o, err = r.Pipeline(); err != nil {
			return err
		}
	}
	r.Quantities = append(pipelineQuantities(o), l.quantities()...)
	_, r.Faults = r.Parts()
	return nil
}

// ended reports whether all stages are completed, apart from failed scenarios.
func (l *Journal) ended() bool {
	for _, e := range l.Stages {
		if e.State != StageDone && (e.State != stageFailed || !strings.HasPrefix(e.Name, SimulateStage)) {
			return false
		}
	}
	return true
}

// kind returns the first word of a stage's name.
func (e *Stage) kind() string {
	word, _, _ := strings.Cut(e.Name, " ")
	return word
}

// quantities lists numbers of stages and their times.
func (l *Journal) quantities() []Quantity {
	took, failed, scenarios, entries := map[string]float64{}, 0, 0, 0
	for _, e := range l.Stages {
		took[e.kind()] += e.Seconds
		if e.kind() == strings.TrimSpace(SimulateStage) {
			scenarios++
		}
		if e.kind() == strings.TrimSpace(TrialsStage) {
			entries++
		}
		if e.State == stageFailed {
			failed++
		}
	}
	list := []Quantity{seedless("scenarios", "", Neutral, float64(scenarios)),
		seedless("failed_stages", "", Lower, float64(failed))}
	kinds := []string{"simulate", LearnStage, EvaluateStage}
	if entries > 0 {
		list[0], kinds = seedless("entries", "", Neutral, float64(entries)), []string{"tune", "trials"}
	}
	for _, kind := range kinds {
		list = append(list, seedless(kind+"_time", document.UnitSeconds, Neutral, took[kind]))
	}
	return list
}

// pipelineQuantities lists the regrets of policies in training tables and in held-out tables.
func pipelineQuantities(o *PipelineOutcome) []Quantity {
	if o == nil {
		return nil
	}
	if o.Comparison == nil {
		return trialsQuantities(o.Trials)
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

// AsEvaluation converts the outcome to the report of an evaluation.
func (o *PipelineOutcome) AsEvaluation() *EvaluationReport {
	r := &EvaluationReport{Against: o.Against, Floor: o.Floor, Standings: o.Standings}
	for _, t := range o.Tables {
		r.Tables = append(r.Tables, EvaluatedTable{TableScores: t})
	}
	return r
}

// Part is a run that a stage of a pipeline created.
type Part struct {
	Stage *Stage
	Path  string
	Run   *Run // run; nil if it is missing or unreadable
	None  bool // the run is missing
}

// Parts reads the runs that stages created. The error lists the runs of completed stages that are missing, unreadable
// or incomplete.
func (l *Journal) Parts(open func(folder string) (*Run, error)) (all []Part, faults error) {
	for _, e := range l.Stages {
		for _, name := range e.Parts {
			p := Part{Stage: e, Path: filepath.Join(filepath.Dir(l.Path), name)}
			run, err := open(p.Path)
			p.None = NotThere(err)
			switch {
			case err == nil:
				p.Run, faults = run, errors.Join(faults, wrapPart(e, run.Faults))
				if e.State == StageDone && !run.Ended {
					faults = errors.Join(faults, fmt.Errorf("%s: %s is incomplete, "+
						"although the journal marks the stage as complete; "+
						"rerun the same pipeline to recreate it", e.Name, p.Path))
				}
			case e.State == StageDone:
				faults = errors.Join(faults, fmt.Errorf("%s: %w; rerun the same pipeline to recreate it", e.Name, err))
			case e.State != StageWaiting && !p.None:
				faults = errors.Join(faults, wrapPart(e, err))
			}
			all = append(all, p)
		}
	}
	return all, faults
}

func wrapPart(e *Stage, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", e.Name, err)
}
