package evaluate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/original/published"
	"graft/simulation"
	"graft/simulation/tables"
)

// The report states which tables were in a policy's training set, since they do not test the policy.
func TestAPolicysNotesSayWhatItHasSeen(t *testing.T) {
	trees := []*simulation.Tree{{Table: named("early")}, {Table: named("late")}}
	for notes, want := range map[string]string{
		"": "", "middle": "other tables", "early, middle": "some of these tables",
		"early, late, middle": "these tables",
	} {
		p := &Policy{Structural: &decider.Structural{Notes: map[string]string{"tables": notes}}}
		assert.Equal(t, want, p.seen(identify(trees)), notes)
	}
	p := &Policy{Structural: &decider.Structural{Notes: map[string]string{"tables": "late"}}}
	assert.Equal(t, "this table", p.seen(identify(trees[1:])))
	assert.Empty(t, (&Policy{}).seen(identify(trees)), "one of the original's")
}

// A policy knows its tables by their content: a renamed copy was in its training set, and another table of the same
// name was not, such as one simulated with another learning rate. A table with further runs keeps its old runs.
func TestPoliciesKnowTheirTablesByContent(t *testing.T) {
	table := func(name string, budget, accuracy float64, seeds ...int64) *simulation.Tree {
		r := tables.Record{Sequence: []string{"none"}, Left: []float64{1}}
		for _, seed := range seeds {
			r.Seeds, r.Accuracy = append(r.Seeds, seed), append(r.Accuracy, accuracy)
		}
		made, err := tables.New(tables.Scenario{Name: name, Budget: budget, Decisions: 1}, []tables.Record{r})
		require.NoError(t, err)
		return &simulation.Tree{Table: made}
	}
	late := table("late", 9, 0.5, 1)
	p := &Policy{Structural: &decider.Structural{Notes: map[string]string{"tables": "late"},
		Tables: []decider.LearnedTable{{Name: "late", Runs: late.RunsDigest(), Sample: late.Hashes().Sample()}}}}
	for name, c := range map[string]struct {
		tree *simulation.Tree
		want string
	}{
		"same":          {late, "this table"},
		"renamed copy":  {table("early", 9, 0.5, 1), "this table"},
		"further seed":  {table("late", 9, 0.5, 1, 2), "this table"},
		"same name":     {table("late", 8, 0.7, 1), "other tables"},
		"same scenario": {table("late", 9, 0.7, 1), "other tables"},
		"other seeds":   {table("late", 9, 0.5, 2, 3), "other tables"},
		"another table": {table("early", 9, 0.6, 1), "other tables"},
	} {
		assert.Equal(t, c.want, p.seen(identify([]*simulation.Tree{c.tree})), name)
	}
}

// Policies of the original system name their training tables in their run folders. Without the folder, or if a policy
// continued from an unknown one, tables that are not named are unknown.
func TestPoliciesOfTheOriginalSystemKnowTheirTables(t *testing.T) {
	r := tables.Record{Sequence: []string{"none"}, Left: []float64{1}, Seeds: []int64{42}, Accuracy: []float64{0.5}}
	early, err := tables.New(tables.Scenario{Name: "early", Budget: 9, Decisions: 1}, []tables.Record{r})
	require.NoError(t, err)
	r.Accuracy = []float64{0.6}
	late, err := tables.New(tables.Scenario{Name: "late", Budget: 9, Decisions: 1}, []tables.Record{r})
	require.NoError(t, err)
	known := identify([]*simulation.Tree{{Table: early}})
	trained := func(name string, t *tables.Table, whole bool) Policy {
		return Policy{trained: []published.TrainingTable{{Name: name, Table: t}}, whole: whole}
	}
	for name, c := range map[string]struct {
		policy Policy
		want   string
	}{
		"no folder":     {Policy{}, ""},
		"trained":       {trained("x", early, false), "this table"},
		"other, whole":  {trained("early", late, true), "other tables"},
		"other, others": {trained("early", late, false), ""},
		"missing":       {trained("early", nil, true), "this table"},
		"missing other": {trained("late", nil, true), "other tables"},
	} {
		assert.Equal(t, c.want, c.policy.seen(known), name)
	}
}

func named(name string) *tables.Table { return &tables.Table{Scenario: tables.Scenario{Name: name}} }
