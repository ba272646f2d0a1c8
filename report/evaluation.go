package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
	"graft/simulation/evaluation"
)

// PrintEvaluation writes an evaluation of policies as text.
func PrintEvaluation(r *runs.EvaluationReport, w io.Writer) error {
	d := &document.Document{}
	for _, policy := range r.Policies {
		d.Say("policy  " + policyText(policy))
	}
	for _, t := range r.Tables {
		d.Head("%s", tableTitle(t))
		if len(r.Tables) == 1 {
			writeSteps(d, t.Steps)
		}
		writeVerdicts(d, t, r.Standings)
	}
	if len(r.Tables) > 1 || slices.ContainsFunc(r.Standings, func(s evaluation.Standing) bool { return s.Seeds > 1 }) {
		writeStandings(d, comparisonOf(r), "")
	}
	d.Break()
	d.Say(trustRemarks(r.Standings, len(r.Tables))...)
	return d.PrintCompact(w)
}

func comparisonOf(r *runs.EvaluationReport) *evaluation.Comparison {
	return (&runs.EvaluationOutcome{Compared: r}).Comparison()
}

// writeVerdicts adds the results of all choosers in a table.
func writeVerdicts(d *document.Document, t runs.EvaluatedTable, standings []evaluation.Standing) {
	d.Show(verdictTable(t.TableScores, standings))
	d.Say(append(missingRemarks(t.TableScores), outsideRemarks(t.TableScores)...)...)
	d.Say(chanceText(t.NoiseEstimate))
}

// policyText describes a policy.
func policyText(p runs.EvaluatedPolicy) string {
	text := document.Printable(p.Name)
	switch {
	case p.Prefix != nil && *p.Prefix:
		return text + ", of the original, with token 0 before the layers"
	case p.Prefix != nil:
		return text + ", of the original"
	}
	text += ", structural, "
	if p.Trees > 0 {
		text += "a forest of " + words.Plural(p.Trees, "tree")
	} else {
		text += words.Plural(p.Members, "member")
	}
	if judges := cmp.Or(strings.Join(p.Targets, ", "), strings.Join(p.Learned, " and ")); judges != "" {
		text += ", judges " + judges
	}
	var notes []string
	for key, note := range p.Notes {
		notes = append(notes, key+": "+note)
	}
	if slices.Sort(notes); len(notes) > 0 {
		text += "\n        " + shortened(document.Printable(strings.Join(notes, "; ")))
	}
	return text
}

// longestNotes limits the printed notes of a policy, in characters.
const longestNotes = 200

func shortened(text string) string {
	if runes := []rune(text); len(runes) > longestNotes {
		return string(runes[:longestNotes-1]) + "…"
	}
	return text
}

func tableTitle(t runs.EvaluatedTable) string {
	on := ""
	if t.Dataset != "" {
		on = " on " + document.Printable(t.Dataset)
	}
	return fmt.Sprintf("table   %s: %s%s, %s of %s, start at %s s of %s s", document.Printable(t.Scenario),
		document.Printable(t.Network), on, words.Plural(t.Sequences, "sequence"),
		words.Plural(t.Decisions, "decision"), document.ShortText(t.Start), document.ShortText(t.Budget))
}

// writeSteps adds the decisions of each policy.
func writeSteps(d *document.Document, all []runs.EvaluatedSteps) {
	for _, one := range all {
		if len(all) > 1 {
			d.Head("%s", one.Chooser)
		}
		t := (&document.Table{}).Numbers("", "", "decision").Numbers(document.UnitSeconds, "%.1f s", "time left").
			Texts("action", "probabilities")
		for k, s := range one.Steps {
			var shares []string
			for at, share := range s.Probabilities {
				shares = append(shares, fmt.Sprintf("%s %.1f%%", s.Actions[at], 100*share))
			}
			t.Add(k+1, s.Left, s.Action, strings.Join(shares, ", "))
		}
		d.Show(t)
	}
	d.Break()
}

// verdictTable has a line per chooser in a table.
func verdictTable(trial evaluation.TableScores, standings []evaluation.Standing) *document.Table {
	t := document.NewTable("policy").Numbers(document.UnitShare, "%.2f%%", "accuracy").
		Numbers("", "", "regret", "rank", "ties").Texts("trained on", "sequence")
	for _, v := range trial.Scores {
		seen := "-"
		for _, s := range standings {
			if s.Policy == v.Policy && s.Seen != "" {
				seen = s.Seen
			}
		}
		sequence := strings.Join(v.Sequence, ", ")
		if !v.Certain {
			sequence = "several"
		}
		t.Add(v.Policy, v.Accuracy, points(v.Regret), rankCell(v.Rank),
			document.Value(float64(v.From), "").Then("-%d", v.To), seen, sequence)
	}
	return t
}

// rankCell formats a rank; a fractional mean has one decimal.
func rankCell(rank float64) document.Cell {
	if math.Abs(rank-math.Round(rank)) < 1e-9 {
		return document.Value(rank, "").As("%.0f")
	}
	return document.Value(rank, "").As("%.1f")
}

// chanceText describes the noise of a table.
func chanceText(c evaluation.NoiseEstimate) string {
	from := ""
	switch c.Source {
	case evaluation.NoiseUnknown:
		return "noise of a sequence: unknown, because no two runs differ only by chance; differences cannot be tested"
	case evaluation.NoiseOfSeeds:
		from = "estimated from runs that differ only in their seed"
	case evaluation.NoiseOfOrders:
		from = "upper bound, estimated from reordered sequences"
	}
	return fmt.Sprintf("noise of a sequence: %.2f points, %s; noise floor: %.2f points", c.Noise, from, c.Floor)
}

// PrintVerdicts writes a CSV file with one row for each combination of a table and a chooser, which is a policy, a
// joint vote of several policies, or a baseline. A row holds the chosen sequence, its accuracy and its regret.
func PrintVerdicts(w io.Writer, c *evaluation.Comparison) error {
	t := document.NewTable("scenario", "network", "group", "chooser", "role", "has_seen", "seeds", "sequence",
		"certain", "accuracy").Numbers(document.UnitPoints, "", "regret", "smoothed_regret", "gain").
		Texts("rank", "rank_from", "rank_to", "rank_of").Numbers(document.UnitPoints, "", "noise").
		Texts("noise_source").Numbers(document.UnitPoints, "", "floor")
	for _, trial := range c.Tables {
		for _, v := range trial.Scores {
			s := c.Standing(v.Policy)
			t.Add(trial.Scenario, trial.Network, trial.Group, v.Policy, s.Role, s.Seen, s.Seeds,
				strings.Join(v.Sequence, " "), v.Certain, v.Accuracy, v.Regret, v.Smoothed, v.Gain,
				v.Rank, v.From, v.To, v.Of, trial.Noise, trial.Source, trial.Floor)
		}
	}
	return t.CSV(w)
}

// EvaluationDetail holds the outcome of an evaluation.
type EvaluationDetail struct {
	Outcome *runs.EvaluationOutcome `json:"outcome"` // outcome; null if the evaluation has not ended
}

func readEvaluationDetail(r *runs.Run, _ bool) (Detail, error) {
	o, err := runs.OutcomeOf[runs.EvaluationOutcome](r)
	return &EvaluationDetail{o}, err
}

func (e *EvaluationDetail) write(d *document.Document) {
	switch {
	case e.Outcome == nil:
		d.Say("No outcome yet: the evaluation is running, or was killed; " +
			"rerun it in another folder or with --force.")
	case e.Outcome.LeftOut != nil:
		d.Head(leftOutHead)
		writeLeftOut(e.Outcome.LeftOut, d, " left out")
	case e.Outcome.Compared != nil:
		writeEvaluation(e.Outcome.Compared, d)
	}
}

// writeEvaluation adds the comparison of policies in tables.
func writeEvaluation(r *runs.EvaluationReport, d *document.Document) {
	d.Head("policies")
	var lines []string
	for _, p := range r.Policies {
		lines = append(lines, policyText(p))
	}
	d.Say(lines...)
	writeStandings(d, comparisonOf(r), "")
	for _, t := range r.Tables {
		d.Head("%s", strings.Join(strings.Fields(tableTitle(t)), " "))
		writeVerdicts(d, t, r.Standings)
	}
	d.Say(trustRemarks(r.Standings, len(r.Tables))...)
}
