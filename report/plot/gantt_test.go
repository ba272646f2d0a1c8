package plot

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/report/runs"
)

// Tasks have the colours of their groups if there are few groups, and their own colours if most groups have one task.
func TestColoursOfTasks(t *testing.T) {
	spans := func(groups, each int) (all []runs.NodeSpan) {
		for k := range groups * each {
			all = append(all, runs.NodeSpan{Task: fmt.Sprint(k), Group: fmt.Sprintf("g%02d", k%groups),
				To: float64(1 + k%groups)})
		}
		return all
	}
	require.Equal(t, []string{"g00", "g01", "g02"}, coloursOf(spans(3, 1)).names)
	c := coloursOf(spans(9, 4))
	require.Equal(t, []string{"g04", "g05", "g06", "g07", "g08", "others"}, c.names)
	require.Equal(t, 5, c.kinds["g00"])
	own := coloursOf(spans(9, 1))
	require.Nil(t, own.names)
	require.Equal(t, 8, own.kinds["8"])
	require.Nil(t, coloursOf([]runs.NodeSpan{{Task: "a"}}).names, "earlier versions wrote no groups")
}
