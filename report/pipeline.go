package report

import (
	"slices"
	"strings"
	"time"

	"graft/internal/stat"
	"graft/report/document"
	"graft/report/runs"
	"graft/simulation/evaluation"
)

// Pipeline returns the evaluation of a pipeline's policies, or its trials, as a document in compact form.
func Pipeline(o *runs.PipelineOutcome) *document.Document {
	d := &document.Document{}
	if o.Comparison == nil {
		writeTrials(o.Trials, d)
		return d
	}
	writePipeline(o, d, "The policies learned from these tables. On tables left out:", "")
	return d
}

// seenAll remarks that no table was held out.
const seenAll = "The policies and the best fixed sequence were learned from these tables, so this does not test " +
	"them; use evaluate.leave_out for a test."

// shownBaselines lists the baselines next to the learned policy.
var shownBaselines = []string{"never", "random", "best fixed", "optimum"}

// scenarioTable has a line per table.
func scenarioTable(o *runs.PipelineOutcome) *document.Table {
	t := document.NewTable("scenario").Numbers("", "", "sequences").Texts("learned sequence").
		Numbers(document.UnitShare, "%.2f%%", "learned").Numbers(document.UnitShare, "%.2f%%", shownBaselines...)
	for _, trial := range o.Tables {
		cells := []any{trial.Scenario, trial.Sequences, "-"}
		for _, name := range append([]string{o.Learned}, shownBaselines...) {
			k := slices.IndexFunc(trial.Scores, func(v evaluation.Score) bool { return v.Policy == name })
			if k < 0 {
				cells = append(cells, document.Missing())
				continue
			}
			v := trial.Scores[k]
			if name == o.Learned {
				cells[2] = strings.Join(v.Sequence, ", ")
			}
			cells = append(cells, document.Value(v.Accuracy, "").Then(" (%.2f)", v.Regret))
		}
		t.Add(cells...)
	}
	return t
}

// PipelineDetail holds the stages of a pipeline and the evaluation of its policies.
type PipelineDetail struct {
	Stages  []pipelineStage       `json:"stages"`  // stages in order
	Outcome *runs.PipelineOutcome `json:"outcome"` // outcome; null if the pipeline has not ended
}

// pipelineStage describes the state of a stage.
type pipelineStage struct {
	Stage   string          `json:"stage"`     // name of the stage, such as learn
	State   runs.StageState `json:"state"`     // waits, begun, done or failed
	Began   *time.Time      `json:"began"`     // start of the last attempt; null if the stage never started
	Seconds float64         `json:"seconds"`   // duration of the last completed attempt, in seconds
	Reused  int             `json:"reused"`    // number of times that the stage was skipped since then
	Changed bool            `json:"changed"`   // whether the output of the stage was changed or removed
	Parts   []string        `json:"part_runs"` // run folders of the stage
	Made    []string        `json:"made"`      // outcome of each run, in words
	Why     string          `json:"why"`       // reason of the failure; empty if the stage has not failed
}

func readPipelineDetail(r *runs.Run, _ bool) (Detail, error) {
	l, err := r.Journal()
	if err != nil {
		return nil, err
	}
	d := &PipelineDetail{Stages: []pipelineStage{}}
	if r.Ended {
		if d.Outcome, err = r.Pipeline(); err != nil {
			return nil, err
		}
	}
	parts, _ := r.Parts() // faults of the parts were reported when the run was read
	for _, e := range l.Stages {
		s := pipelineStage{Stage: e.Name, State: e.State, Seconds: e.Seconds, Reused: e.Reused, Why: e.Why,
			Parts: []string{}, Made: []string{}}
		if !e.Began.IsZero() {
			s.Began = &e.Began
		}
		if e.State == runs.StageDone {
			made, err := l.Made(e)
			s.Changed = err != nil || made != e.Made
		}
		for _, p := range parts {
			if p.Stage == e {
				s.Parts, s.Made = append(s.Parts, p.Path), append(s.Made, partWords(p))
			}
		}
		d.Stages = append(d.Stages, s)
	}
	return d, nil
}

// maxPartFigures is the number of quantities that describe a part.
const maxPartFigures = 3

// partWords describes the outcome of a part.
func partWords(p runs.Part) string {
	switch {
	case p.Run != nil:
	case p.None:
		return "-"
	default:
		return "cannot be read"
	}
	var list []string
	for _, q := range p.Run.Quantities[:min(maxPartFigures, len(p.Run.Quantities))] {
		list = append(list, quantityText(q.Name, stat.Mean(q.Values), q.Unit))
	}
	if !p.Run.Ended {
		list = append(list, "not ended")
	}
	return strings.Join(list, ", ")
}

// stateWords returns the state of a stage in words.
func (s *pipelineStage) stateWords() string {
	switch {
	case s.Changed:
		return "changed since"
	case s.State == runs.StageRunning:
		return "begun, not ended"
	}
	return string(s.State)
}

func (p *PipelineDetail) write(d *document.Document) {
	d.Head("stages")
	t := document.NewTable("stage", "state").Numbers(document.UnitSeconds, "", "took").Numbers("", "", "reused").
		Texts("run", "outcome")
	var failed []string
	for _, s := range p.Stages {
		cells := []any{s.Stage, s.stateWords(), orMissing(s.Seconds), s.Reused}
		for k, path := range s.Parts {
			t.Add(append(cells, path, s.Made[k])...)
			cells = []any{"", "", "", ""}
		}
		if s.Why != "" {
			failed = append(failed, s.Stage+" failed: "+s.Why)
		}
	}
	d.Show(t)
	d.Say("REUSED counts how often a completed stage was skipped because its inputs were unchanged; " +
		"TOOK is the time of the process that completed it.")
	d.Say(failed...)
	if p.Outcome == nil {
		d.Say("No outcome yet: run the same pipeline in the same folder to continue.")
		return
	}
	if p.Outcome.Comparison == nil {
		d.Head("trials")
		writeTrials(p.Outcome.Trials, d)
		return
	}
	d.Head("scenarios used for learning")
	writePipeline(p.Outcome, d, leftOutHead, " left out")
}

// writePipeline adds the evaluation of the policies. Below the heading leftOut it adds the evaluation on held-out
// tables, which are named with the suffix.
func writePipeline(o *runs.PipelineOutcome, d *document.Document, leftOut, suffix string) {
	d.Show(scenarioTable(o))
	d.Say("In parentheses: regret, in points of accuracy below the table's best.")
	writeStandings(d, o.Comparison, "")
	if o.LeftOut == nil {
		d.Break()
		d.Say(seenAll, tooFew(len(o.Tables), "tables"))
		return
	}
	d.Head("%s", leftOut)
	d.Break()
	writeLeftOut(o.LeftOut, d, suffix)
}
