package evaluate

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"graft/decider"
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
		assert.Equal(t, want, p.seen(trees), notes)
	}
	p := &Policy{Structural: &decider.Structural{Notes: map[string]string{"tables": "late"}}}
	assert.Equal(t, "this table", p.seen(trees[1:]))
	assert.Empty(t, (&Policy{}).seen(trees), "one of the original's")
}

func named(name string) *tables.Table { return &tables.Table{Scenario: tables.Scenario{Name: name}} }
