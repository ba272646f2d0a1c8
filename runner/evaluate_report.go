package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"graft/decider"
	"graft/simulation"
)

// evaluationReport is what `graft evaluate --json` prints.
type evaluationReport struct {
	Policy       string              `json:"policy"` // as it was given, as are table and vocabulary
	Table        string              `json:"table"`
	Vocab        string              `json:"vocab"`
	Prefix       bool                `json:"prefix"` // token 0 was read before the layers
	Scenario     simulation.Scenario `json:"scenario"`
	Sequences    int                 `json:"sequences"`     // in the table
	Seeds        int                 `json:"seeds"`         // of the sequence with the fewest
	Steps        []simulation.Step   `json:"steps"`         // the policy's decisions
	Chosen       standing            `json:"chosen"`        // what they led to
	Best         standing            `json:"best"`          // of all sequences
	BestFixed    *standing           `json:"best_fixed"`    // of those that take one action each time; null where there is none
	NoAdaptation *standing           `json:"no_adaptation"` // null where the table has it not
	RandomMean   float64             `json:"random_mean"`   // accuracy, with each sequence as likely
}

// standing is how a sequence fares.
type standing struct {
	Sequence []string `json:"sequence"`
	Accuracy float64  `json:"accuracy"` // mean over the seeds
	Rank     int      `json:"rank"`     // one more than there are better ones
	Regret   float64  `json:"regret_points"`
}

func reportEvaluation(o evaluateOptions, p *decider.LegacyPolicy, e *simulation.Evaluation) evaluationReport {
	r := evaluationReport{Policy: o.policy, Table: o.table, Vocab: o.vocab, Prefix: p.Prefixed(), Scenario: e.Table.Scenario,
		Sequences: len(e.Ranking), Seeds: len(e.Chosen.Seeds), Steps: e.Steps, RandomMean: e.RandomMean(),
		Chosen: *standingOf(e, e.Chosen), Best: *standingOf(e, e.Ranking[0]),
		BestFixed: standingOf(e, e.BestFixed()), NoAdaptation: standingOf(e, e.NoAdaptation())}
	for _, record := range e.Ranking {
		r.Seeds = min(r.Seeds, len(record.Seeds))
	}
	return r
}

func standingOf(e *simulation.Evaluation, r *simulation.Record) *standing {
	if r == nil {
		return nil
	}
	return &standing{Sequence: r.Sequence, Accuracy: r.Mean(), Rank: e.Rank(r), Regret: e.Regret(r)}
}

func (r evaluationReport) print(w io.Writer) error {
	reads := ""
	if r.Prefix {
		reads = ", which reads token 0 before the layers"
	}
	s := r.Scenario
	_, err := fmt.Fprintf(w, "policy  %s%s\ntable   %s: %s on %s, %d sequences of %d decisions from %v s of %v s on\n\n",
		printable(filepath.Base(r.Policy)), reads, printable(s.Name), printable(s.Network), printable(s.Dataset), r.Sequences, s.Decisions, s.Start, s.Budget)
	if err != nil {
		return err
	}
	if err := r.stepTable().print(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := r.standingTable().print(w); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%s\n", r.remark())
	return err
}

// stepTable has a line for each decision.
func (r evaluationReport) stepTable() *table {
	t := newTable(">DECISION", ">TIME LEFT", "ACTION", "PROBABILITIES")
	for k, s := range r.Steps {
		var shares []string
		for at, p := range s.Probabilities {
			shares = append(shares, fmt.Sprintf("%s %.1f%%", s.Actions[at], 100*p))
		}
		t.add(strconv.Itoa(k+1), fmt.Sprintf("%.1f s", s.Left), s.Action, strings.Join(shares, ", "))
	}
	return t
}

// standingTable compares the sequence with others.
func (r evaluationReport) standingTable() *table {
	t := newTable("", ">ACCURACY", ">POINTS BELOW THE BEST", ">RANK", "SEQUENCE")
	for _, row := range []struct {
		name string
		*standing
	}{{"the policy", &r.Chosen}, {"the best", &r.Best}, {"best fixed action", r.BestFixed}, {"no adaptation", r.NoAdaptation}} {
		if row.standing != nil {
			t.add(row.name, fmt.Sprintf("%.2f%%", 100*row.Accuracy), fmt.Sprintf("%.2f", row.Regret), fmt.Sprintf("%d of %d", row.Rank, r.Sequences),
				strings.Join(row.Sequence, ", "))
		}
	}
	t.add("at random", fmt.Sprintf("%.2f%%", 100*r.RandomMean), fmt.Sprintf("%.2f", 100*(r.Best.Accuracy-r.RandomMean)), "-", "mean of all sequences")
	return t
}

// remark says how far the figures can be trusted.
func (r evaluationReport) remark() string {
	if r.Seeds == 1 {
		return "Each accuracy is of one run with one seed: how much of these differences is noise is not known."
	}
	return fmt.Sprintf("Each accuracy is the mean of %d seeds or more.", r.Seeds)
}
