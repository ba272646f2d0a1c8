package tables_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/simulation/tables"
)

func TestTablesAreOneTree(t *testing.T) {
	record := func(a, b string) tables.Record {
		return tables.Record{Sequence: []string{a, b}, Left: []float64{9, 8}, Accuracy: []float64{0.5, 0.75}, Seeds: []int64{1, 2}}
	}
	s := tables.Scenario{Name: "two", Budget: 10, Decisions: 2, Actions: []string{"none", "deepen:0"}}
	table, err := tables.New(s, []tables.Record{record("none", "none"), record("none", "deepen:0")})
	require.NoError(t, err)
	require.Equal(t, 0.625, table.Records[0].Mean())
	require.Nil(t, table.Find("deepen:0", "none"))
	require.ErrorContains(t, table.Complete(), "table two: 2 of its sequences are missing, such as (deepen:0, none) and (deepen:0, deepen:0); simulate them")

	_, err = tables.New(s, []tables.Record{record("none", "none"), record("none", "none"), record("none", "widen:a")})
	require.ErrorContains(t, err, "(none, none): it is both record 0 and record 1")
	require.ErrorContains(t, err, "(none, widen:a): an action widen:a; the table's are none, deepen:0")
	require.True(t, math.IsNaN((&tables.Record{}).Mean()))
}
