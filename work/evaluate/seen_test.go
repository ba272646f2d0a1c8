package evaluate

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"graft/decider"
	"graft/simulation"
)

// A policy that has learned from the tables is not tested by them, and the report says so.
func TestAPolicysNotesSayWhatItHasSeen(t *testing.T) {
	trees := []*simulation.Tree{{Name: "early"}, {Name: "late"}}
	for notes, want := range map[string]string{
		"": "", "middle": "other tables", "early, middle": "some of these tables", "early, late, middle": "these tables",
	} {
		p := &Policy{Structural: &decider.Structural{Notes: map[string]string{"tables": notes}}}
		assert.Equal(t, want, p.seen(trees), notes)
	}
	p := &Policy{Structural: &decider.Structural{Notes: map[string]string{"tables": "late"}}}
	assert.Equal(t, "this table", p.seen(trees[1:]))
	assert.Empty(t, (&Policy{}).seen(trees), "one of the original's")
}
