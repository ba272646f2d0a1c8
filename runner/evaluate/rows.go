package evaluate

import (
	"errors"
	"strings"

	"graft/internal/stat"
	"graft/report/document"
	"graft/report/runs"
	"graft/results"
	"graft/simulation/evaluation"
)

// Columns of the tables of an evaluation.
var (
	verdictColumns = []results.Column{{Name: "scenario", Kind: results.String}, {Name: "network", Kind: results.String},
		{Name: "group", Kind: results.String}, {Name: "chooser", Kind: results.String}, {Name: "role",
			Kind: results.String}, {Name: "has_seen", Kind: results.String}, {Name: "seeds", Kind: results.Int},
		{Name: "sequence", Kind: results.String}, {Name: "certain", Kind: results.Bool}, {Name: "accuracy"},
		{Name: "accuracy_low"}, {Name: "accuracy_high"}, {Name: "regret", Unit: document.UnitPoints},
		{Name: "regret_low", Unit: document.UnitPoints}, {Name: "regret_high", Unit: document.UnitPoints},
		{Name: "smoothed_regret", Unit: document.UnitPoints}, {Name: "gain", Unit: document.UnitPoints},
		{Name: "rank"}, {Name: "rank_from", Kind: results.Int}, {Name: "rank_to", Kind: results.Int},
		{Name: "rank_of", Kind: results.Int}, {Name: "noise", Unit: document.UnitPoints},
		{Name: "noise_source", Kind: results.String}, {Name: "floor", Unit: document.UnitPoints}}
	memberColumns = []results.Column{{Name: "scenario", Kind: results.String}, {Name: "group", Kind: results.String},
		{Name: "chooser", Kind: results.String}, {Name: "member", Kind: results.Int},
		{Name: "sequence", Kind: results.String}, {Name: "accuracy"}, {Name: "regret", Unit: document.UnitPoints},
		{Name: "smoothed_regret", Unit: document.UnitPoints}, {Name: "gain", Unit: document.UnitPoints}, {Name: "rank"}}
	standingColumns = []results.Column{{Name: "chooser", Kind: results.String}, {Name: "role", Kind: results.String},
		{Name: "has_seen", Kind: results.String}, {Name: "seeds", Kind: results.Int},
		{Name: "tables", Kind: results.Int}, {Name: "regret", Unit: document.UnitPoints},
		{Name: "over_tables_low", Unit: document.UnitPoints}, {Name: "over_tables_high", Unit: document.UnitPoints},
		{Name: "over_groups_low", Unit: document.UnitPoints}, {Name: "over_groups_high", Unit: document.UnitPoints},
		{Name: "over_seeds_low", Unit: document.UnitPoints}, {Name: "over_seeds_high", Unit: document.UnitPoints},
		{Name: "top_five"}, {Name: "in_lower_half", Kind: results.Int}, {Name: "worst", Unit: document.UnitPoints},
		{Name: "worst_scenario", Kind: results.String}, {Name: "difference", Unit: document.UnitPoints},
		{Name: "difference_low", Unit: document.UnitPoints}, {Name: "difference_high", Unit: document.UnitPoints},
		{Name: "inside_noise", Kind: results.Bool}}
	foldColumns = []results.Column{{Name: "group", Kind: results.String}, {Name: "tables", Kind: results.String},
		{Name: "learned_from", Kind: results.String}}
)

// fill writes the results of all choosers in each table, and over all.
func (f *Folder) fill(o *runs.EvaluationOutcome) error {
	c := o.Comparison()
	for k, t := range c.Tables {
		for _, v := range t.Scores {
			if err := f.verdict(o, k, v, c.Standing(v.Policy)); err != nil {
				return err
			}
		}
	}
	for _, m := range o.Members {
		if err := f.members.Append(m.Scenario, m.Group, m.Policy, m.Member, sequenceCell(m.Score), m.Accuracy, m.Regret,
			m.Smoothed, m.Gain, m.Rank); err != nil {
			return err
		}
	}
	for _, s := range c.Standings {
		if err := f.standing(s); err != nil {
			return err
		}
	}
	return nil
}

func (f *Folder) verdict(o *runs.EvaluationOutcome, table int, v evaluation.Score, s *evaluation.Standing) error {
	t := o.Comparison().Tables[table]
	accuracy := stat.NewOverSeeds(o.Spread(table, v.Policy), 0.05, stat.Shares).Interval()
	regret := stat.NewOverSeeds(o.Values(table, v.Policy, runs.RegretOf), 0.05, stat.Percents).Interval()
	return f.verdicts.Append(t.Scenario, t.Network, t.Group, v.Policy, string(s.Role), s.Seen, s.Seeds, sequenceCell(v),
		v.Certain, v.Accuracy, low(accuracy), high(accuracy), v.Regret, low(regret), high(regret), v.Smoothed, v.Gain,
		v.Rank, v.From, v.To, v.Of, t.Noise, t.Source, t.Floor)
}

func sequenceCell(v evaluation.Score) string { return strings.Join(v.Sequence, " ") }

// low and high format the ends of an interval as cells; without an interval they are missing.
func low(i *stat.Interval) any {
	if i == nil {
		return nil
	}
	return i.Low
}

func high(i *stat.Interval) any {
	if i == nil {
		return nil
	}
	return i.High
}

func (f *Folder) standing(s evaluation.Standing) error {
	var mean, inside any
	var over *stat.Interval
	if s.Difference != nil {
		mean, inside, over = s.Difference.Mean, s.Difference.Inside, s.Difference.OverTables
	}
	return f.standings.Append(s.Policy, string(s.Role), s.Seen, s.Seeds, s.Tables, s.Regret, low(s.OverTables),
		high(s.OverTables), low(s.OverGroups), high(s.OverGroups), low(s.OverSeeds), high(s.OverSeeds), s.TopFive,
		s.LowHalf, s.Worst, s.WorstOne, mean, low(over), high(over), inside)
}

// fold writes the results per held-out group.
func (f *Folder) fold(o *runs.EvaluationOutcome) error {
	if o.LeftOut == nil {
		return nil
	}
	var faults []error
	for _, g := range o.LeftOut.Groups {
		faults = append(faults, f.folds.Append(g.Group, strings.Join(g.Tables, ", "), strings.Join(g.Learned, ", ")))
	}
	return errors.Join(faults...)
}
