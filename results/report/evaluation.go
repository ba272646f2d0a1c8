package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/results/document"
	"graft/results/runs"
	"graft/simulation/evaluation"
)

// PrintEvaluation writes the report for people.
func PrintEvaluation(r *runs.EvaluationReport, w io.Writer) error {
	p := &document.Printer{W: w}
	for _, policy := range r.Policies {
		p.Line("policy  %s", policyText(policy))
	}
	for _, t := range r.Tables {
		p.Line("\n%s", tableTitle(t))
		if len(r.Tables) == 1 {
			printSteps(p, t.Steps)
		}
		p.Table(verdictTable(t.TableScores, r.Standings))
		p.Line("%s", chanceText(t.NoiseEstimate))
	}
	if len(r.Tables) > 1 || slices.ContainsFunc(r.Standings, func(s evaluation.Standing) bool { return s.Seeds > 1 }) {
		p.Line("\nover %s; expected regret of an oracle: %.2f points", document.Plural(len(r.Tables), "table"), r.Floor)
		printStandings(p, r.Standings, r.Against)
	}
	printRemarks(p, r.Standings, len(r.Tables))
	return p.Err
}

// policyText describes a policy.
func policyText(p runs.EvaluatedPolicy) string {
	text := document.Printable(p.Name)
	switch {
	case p.Prefix != nil && *p.Prefix:
		return text + ", of the original's, which reads token 0 before the layers"
	case p.Prefix != nil:
		return text + ", of the original's"
	}
	text += ", structural, " + document.Plural(p.Members, "member")
	if len(p.Learned) > 0 {
		text += ", judges " + strings.Join(p.Learned, " and ")
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
	return fmt.Sprintf("table   %s: %s%s, %d sequences of %s from %s s of %s s on", document.Printable(t.Scenario), document.Printable(t.Network), on, t.Sequences,
		document.Plural(t.Decisions, "decision"), document.ShortText(t.Start), document.ShortText(t.Budget))
}

// printSteps prints the decisions of each policy.
func printSteps(p *document.Printer, all []runs.EvaluatedSteps) {
	for _, one := range all {
		if len(all) > 1 {
			p.Line("\n%s", document.Printable(one.Chooser))
		}
		t := document.NewTable(">DECISION", ">TIME LEFT", "ACTION", "PROBABILITIES")
		for k, s := range one.Steps {
			var shares []string
			for at, share := range s.Probabilities {
				shares = append(shares, fmt.Sprintf("%s %.1f%%", s.Actions[at], 100*share))
			}
			t.Add(strconv.Itoa(k+1), fmt.Sprintf("%.1f s", s.Left), document.Printable(s.Action), document.Printable(strings.Join(shares, ", ")))
		}
		p.Table(t)
	}
	p.Line("")
}

// verdictTable has a line for each chooser in a table.
func verdictTable(trial evaluation.TableScores, standings []evaluation.Standing) *document.Table {
	t := document.NewTable("CHOOSER", ">ACCURACY", ">REGRET", ">RANK", ">TIES", "HAS SEEN", "SEQUENCE")
	for _, v := range trial.Scores {
		seen := "-"
		for _, s := range standings {
			if s.Policy == v.Policy && s.Seen != "" {
				seen = s.Seen
			}
		}
		sequence := document.Printable(strings.Join(v.Sequence, ", "))
		if !v.Certain {
			sequence = "several"
		}
		t.Add(document.Printable(v.Policy), fmt.Sprintf("%.2f%%", 100*v.Accuracy), document.PointsText(v.Regret), rankText(v.Rank), fmt.Sprintf("%d-%d", v.From, v.To), seen, sequence)
	}
	return t
}

// rankText formats a rank; a mean that is not whole has one decimal.
func rankText(rank float64) string {
	if rounded := math.Round(rank); math.Abs(rank-rounded) < 1e-9 {
		return strconv.Itoa(int(rounded))
	}
	return fmt.Sprintf("%.1f", rank)
}

// chanceText describes the noise of a table.
func chanceText(c evaluation.NoiseEstimate) string {
	from := ""
	switch c.Source {
	case evaluation.NoiseUnknown:
		return "noise of a sequence: unknown, as no two runs differ by chance alone; differences cannot be tested"
	case evaluation.NoiseOfSeeds:
		from = "estimated from runs that differ in their seed"
	case evaluation.NoiseOfOrders:
		from = "upper bound, estimated from reordered sequences"
	}
	return fmt.Sprintf("noise of a sequence: %.2f points, %s; expected regret of an oracle: %.2f points", c.Noise, from, c.Floor)
}

// PrintVerdicts writes a row for each table and chooser.
func PrintVerdicts(w io.Writer, c *evaluation.Comparison) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"scenario", "network", "group", "chooser", "role", "has_seen", "seeds", "sequence", "certain", "accuracy", "regret [points]", // the first error is kept
		"smoothed_regret [points]", "gain [points]", "rank", "rank_from", "rank_to", "rank_of", "noise [points]", "noise_source", "floor [points]"})
	for _, t := range c.Tables {
		for _, v := range t.Scores {
			s := c.Standing(v.Policy)
			_ = out.Write([]string{t.Scenario, t.Network, t.Group, v.Policy, string(s.Role), s.Seen, strconv.Itoa(s.Seeds), strings.Join(v.Sequence, " "),
				strconv.FormatBool(v.Certain), document.Exact(v.Accuracy), document.Exact(v.Regret), document.Exact(v.Smoothed), document.Exact(v.Gain), document.Exact(v.Rank), strconv.Itoa(v.From),
				strconv.Itoa(v.To), strconv.Itoa(v.Of), document.Exact(t.Noise), t.Source, document.Exact(t.Floor)})
		}
	}
	out.Flush()
	return out.Error()
}

// EvaluationDetail holds the outcome of an evaluation.
type EvaluationDetail struct {
	Outcome *runs.EvaluationOutcome `json:"outcome"` // null where the evaluation has not ended
}

func readEvaluationDetail(r *runs.Run, _ bool) (Detail, error) {
	d := &EvaluationDetail{}
	if !r.Ended {
		return d, nil
	}
	var err error
	d.Outcome, err = runs.ReadEvaluation(r)
	return d, err
}

func (e *EvaluationDetail) write(d *document.Document) {
	switch {
	case e.Outcome == nil:
		d.Say("It has come to no outcome: it is under way, or was killed; begin it again, in another folder or with --force.")
	case e.Outcome.LeftOut != nil:
		writeLeftOut(e.Outcome.LeftOut, d)
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
	writeStandings(d, document.Plural(len(r.Tables), "table"), r.Floor, r.Standings, r.Against)
	for _, t := range r.Tables {
		d.Head("%s", strings.Join(strings.Fields(tableTitle(t)), " "))
		d.Show(verdictTable(t.TableScores, r.Standings))
		d.Say(chanceText(t.NoiseEstimate))
	}
	d.Say(trustRemarks(r.Standings, len(r.Tables))...)
}
