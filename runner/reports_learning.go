package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"graft/original/learn"
	"graft/results"
)

// policiesDetail is what policies have learned, each from a seed.
type policiesDetail struct {
	Outcome *treeOutcome `json:"outcome"` // null where they have not ended
	Rows    []learnedRow `json:"rows"`    // the last figures of each seed
}

// learnedRow is figures of a seed.
type learnedRow struct {
	Seed    int64    `json:"seed"`
	Step    int64    `json:"step"`
	Aim     float64  `json:"aim"`
	Entropy float64  `json:"entropy_nats"`
	Regret  float64  `json:"regret_points"`
	HeldOut *float64 `json:"held_out"` // null where nothing is held out
}

func readPoliciesDetail(r *runData, _ bool) (runDetail, error) {
	d := &policiesDetail{Rows: []learnedRow{}}
	if r.Ended {
		d.Outcome = &treeOutcome{}
		if err := results.ReadOutcome(r.fsys, r.Path, d.Outcome); err != nil {
			return nil, err
		}
	}
	t, err := results.ReadStream(r.fsys, filepath.Join(r.Path, learningFile))
	if err != nil {
		return nil, err
	}
	last, err := lastRows(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", learningFile, err)
	}
	d.Rows = append(d.Rows, last...)
	return d, nil
}

func (p *policiesDetail) write(d *document) {
	if p.Outcome != nil {
		d.head("tables")
		d.show(p.Outcome.tableOfTables())
		d.say(p.Outcome.summaries())
		d.head("seeds")
		d.show(p.Outcome.tableOfSeeds())
		return
	}
	d.head("seeds")
	t := newTable(">SEED", ">STEP", ">AIM", ">ENTROPY [nats]", ">REGRET [points]")
	for _, row := range p.Rows {
		t.add(fmt.Sprint(row.Seed), fmt.Sprint(row.Step), fmt.Sprintf("%.4f", row.Aim), shownValue(row.Entropy, unitNats), shownValue(row.Regret, unitPoints))
	}
	d.show(t)
}

// policyDetail is what a policy of the original's has learned.
type policyDetail struct {
	Outcome *learn.StudyOutcome `json:"outcome"` // null where it has not ended
	Rows    []studiedRow        `json:"rows"`    // the last figures; with --all every one
}

// studiedRow is figures of some episodes.
type studiedRow struct {
	Episodes    int64   `json:"episodes"` // in all, after these
	Objective   float64 `json:"objective"`
	Accuracy    float64 `json:"accuracy"`
	Expected    float64 `json:"expected_accuracy"`
	Greedy      string  `json:"greedy"` // the sequence of the likeliest actions
	Temperature float64 `json:"temperature"`
	Rate        float64 `json:"learning_rate"`
}

func readPolicyDetail(r *runData, all bool) (runDetail, error) {
	d := &policyDetail{Rows: []studiedRow{}}
	if r.Ended {
		d.Outcome = &learn.StudyOutcome{}
		if err := results.ReadOutcome(r.fsys, r.Path, d.Outcome); err != nil {
			return nil, err
		}
	}
	t, err := results.ReadStream(r.fsys, filepath.Join(r.Path, learningFile))
	if err != nil {
		return nil, err
	}
	s, err := seriesOf("learning", t)
	if err != nil {
		return nil, err
	}
	from := 0
	if !all {
		from = max(0, t.Rows-lastEpochs)
	}
	for row := from; row < t.Rows; row++ {
		one, err := studied(&s, row)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", learningFile, err)
		}
		d.Rows = append(d.Rows, one)
	}
	return d, nil
}

// studied is a row of the table of figures.
func studied(s *runSeries, row int) (r studiedRow, err error) {
	value := func(name string) float64 {
		c := s.column(name)
		if c == nil || c.Values == nil {
			err = fmt.Errorf("it has no numbers %s", name)
			return 0
		}
		return c.Values[row]
	}
	r = studiedRow{int64(value("episodes")), value("objective"), value("accuracy"), value("expected_accuracy"), "", value("temperature"), value("learning_rate")}
	if c := s.column("greedy"); c != nil && c.Texts != nil {
		r.Greedy = c.Texts[row]
	}
	return r, err
}

func (p *policyDetail) write(d *document) {
	if o := p.Outcome; o != nil {
		d.say(fmt.Sprintf("the policy's likeliest sequence is %s: %s, rank %d of %d", strings.Join(o.Greedy, ", "), percentText(o.Accuracy), o.Rank, o.Records),
			fmt.Sprintf("the table's best is %s: %s", strings.Join(o.Best, ", "), percentText(o.Most)),
			fmt.Sprintf("what the policy draws has %s on average", percentText(o.Expected)))
	}
	d.head("last figures")
	t := newTable(">EPISODES", ">OBJECTIVE", ">ACCURACY [%]", ">EXPECTED ACCURACY [%]", "LIKELIEST SEQUENCE", ">TEMPERATURE", ">RATE")
	for _, row := range p.Rows {
		t.add(fmt.Sprint(row.Episodes), fmt.Sprintf("%.4f", row.Objective), shownValue(row.Accuracy, unitShare), shownValue(row.Expected, unitShare), row.Greedy,
			fmt.Sprintf("%.3g", row.Temperature), fmt.Sprintf("%.3g", row.Rate))
	}
	d.show(t)
}
