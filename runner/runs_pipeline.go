package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"graft/config"
)

// pipelineRuns is the folders of graft pipeline, in which those of its parts lie.
var pipelineRuns = &runKind{name: "pipeline", title: "pipeline", titles: "pipelines", fits: func(f *runFolderView) bool { return f.has(ledgerName) }}

func init() { // these read runs of other kinds, and so ask for the list in which this one is
	pipelineRuns.read, pipelineRuns.detail = readPipelineRun, readPipelineDetail
}

func readPipelineRun(f *runFolderView, r *runData) error {
	l, err := readLedger(f.fsys, f.at(ledgerName))
	if err != nil {
		return err
	}
	r.Manifest, r.Seeded = l.Run, true
	if f.has(resolvedFile) {
		if r.Settings, err = config.ReadSettings(f.fsys, f.at(resolvedFile)); err != nil {
			return err
		}
	}
	r.Ended = l.ended() && f.has(outcomeName)
	var o *pipelineOutcome
	if r.Ended {
		if o, err = readPipelineOutcome(f.fsys, f.path); err != nil {
			return err
		}
	}
	r.Quantities = append(pipelineQuantities(o), l.quantities()...)
	_, r.Faults = l.parts()
	return nil
}

// ended says whether there is nothing left to do. Scenarios that failed are left out.
func (l *ledger) ended() bool {
	for _, e := range l.All {
		if e.State != stageDone && (e.State != stageFailed || !strings.HasPrefix(e.Stage, simulateStage)) {
			return false
		}
	}
	return true
}

// kindOfStage is the first word of a stage's name.
func (e *stageEntry) kindOfStage() string {
	word, _, _ := strings.Cut(e.Stage, " ")
	return word
}

// quantities are how many stages there are, and what they took.
func (l *ledger) quantities() []quantity {
	took, failed, scenarios := map[string]float64{}, 0, 0
	for _, e := range l.All {
		took[e.kindOfStage()] += e.Seconds
		if e.kindOfStage() == strings.TrimSpace(simulateStage) {
			scenarios++
		}
		if e.State == stageFailed {
			failed++
		}
	}
	list := []quantity{seedless("scenarios", "", noAim, float64(scenarios)), seedless("failed_stages", "", downward, float64(failed))}
	for _, kind := range []string{"simulate", learnStage, judgeStage} {
		list = append(list, seedless(kind+"_time", unitSeconds, noAim, took[kind]))
	}
	return list
}

// pipelineQuantities are how its policies fare, in tables that they learned from and in
// those that they did not.
func pipelineQuantities(o *pipelineOutcome) []quantity {
	if o == nil {
		return nil
	}
	list := evaluationQuantities(&evaluationOutcome{Compared: o.asEvaluation()})
	if o.LeftOut == nil {
		return list
	}
	for _, q := range evaluationQuantities(&evaluationOutcome{LeftOut: o.LeftOut}) {
		q.Name = "left_out_" + q.Name
		list = append(list, q)
	}
	return list
}

// asEvaluation is what an evaluation of the policies has, too.
func (o *pipelineOutcome) asEvaluation() *evaluationReport {
	r := &evaluationReport{Against: o.Against, Floor: o.Floor, Standings: o.Standings}
	for _, t := range o.Tables {
		r.Tables = append(r.Tables, evaluatedTable{TableScores: t})
	}
	return r
}

// part is a run that a stage leaves.
type part struct {
	stage *stageEntry
	path  string
	run   *runData // nil where it is not there, or cannot be read
	none  bool     // it is not there
}

// parts reads the runs of stages that were done, and says which of them are no longer
// what they were.
func (l *ledger) parts() (all []part, faults error) {
	for _, e := range l.All {
		for _, name := range e.Parts {
			p := part{stage: e, path: filepath.Join(filepath.Dir(l.path), name)}
			run, err := openRun(p.path)
			p.none = notThere(err)
			switch {
			case err == nil:
				p.run, faults = run, errors.Join(faults, wrapPart(e, run.Faults))
				if e.State == stageDone && !run.Ended {
					faults = errors.Join(faults, fmt.Errorf("%s: %s has not ended, though it had when the stage was done; the same pipeline makes it again", e.Stage, p.path))
				}
			case e.State == stageDone:
				faults = errors.Join(faults, fmt.Errorf("%s: %w; the same pipeline makes it again", e.Stage, err))
			case e.State != stageWaits && !p.none:
				faults = errors.Join(faults, wrapPart(e, err))
			}
			all = append(all, p)
		}
	}
	return all, faults
}

func wrapPart(e *stageEntry, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", e.Stage, err)
}
