package main

import (
	"strings"

	"graft/simulation/evaluation"
)

// evaluationDetail is how policies fared.
type evaluationDetail struct {
	Outcome *evaluationOutcome `json:"outcome"` // null where the evaluation has not ended
}

func readEvaluationDetail(r *runData, _ bool) (runDetail, error) {
	d := &evaluationDetail{}
	if !r.Ended {
		return d, nil
	}
	var err error
	d.Outcome, err = readEvaluation(r)
	return d, err
}

func (e *evaluationDetail) write(d *document) {
	switch {
	case e.Outcome == nil:
		d.say("It has come to no outcome: it is under way, or was killed; begin it again, in another folder or with --force.")
	case e.Outcome.LeftOut != nil:
		e.Outcome.LeftOut.write(d)
	case e.Outcome.Compared != nil:
		e.Outcome.Compared.write(d)
	}
}

// write adds the report of policies that were held against tables.
func (r *evaluationReport) write(d *document) {
	d.head("policies")
	var lines []string
	for _, p := range r.Policies {
		lines = append(lines, p.text())
	}
	d.say(lines...)
	writeStandings(d, plural(len(r.Tables), "table"), r.Floor, r.Standings, r.Against)
	for _, t := range r.Tables {
		d.head("%s", strings.Join(strings.Fields(t.title()), " "))
		d.show(verdictTable(t.TableScores, r.Standings))
		d.say(chanceText(t.Chance))
	}
	d.say(trustRemarks(r.Standings, len(r.Tables))...)
}

// write adds the report of policies that learned from other tables.
func (r *leaveReport) write(d *document) {
	d.head("judged by what was left out")
	d.say(r.lead())
	d.show(r.groupTable())
	writeStandings(d, plural(len(r.Tables), "table")+" left out", r.Floor, r.Standings, r.Against)
	d.say(r.sentences()...)
	d.say(leaveRemark, tooFew(len(r.Groups), r.LeaveOut+"s"))
}

// writeStandings adds how all fared over the tables.
func writeStandings(d *document, tables string, floor float64, all []evaluation.Standing, against string) {
	d.head("over %s, where chance leaves %.2f points to be regretted", tables, floor)
	d.show(standingTable(all))
	d.say(standingRemarks(all, against)...)
}
