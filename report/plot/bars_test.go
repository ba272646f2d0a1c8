package plot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/report/figure"
)

// Too many scenarios for one figure are divided by network, at most twelve in a figure.
func TestBarsAreDividedByNetwork(t *testing.T) {
	b := &figure.Bars{Title: "T", Note: "N", X: accuracyAxis}
	var networks []string
	for k := range 30 {
		b.Groups = append(b.Groups, figure.Group{Name: fmt.Sprint(k), Bars: []figure.Bar{{Value: 50}}})
		networks = append(networks, []string{"A", "B", "B"}[k%3])
	}
	var names []string
	scenarios := 0
	for _, d := range divideBars(b, networks) {
		part := d.Figure.(*figure.Bars)
		require.LessOrEqual(t, len(part.Groups), maxScenarios)
		require.True(t, strings.HasPrefix(part.Note, d.name+". N"))
		names, scenarios = append(names, part.Title), scenarios+len(part.Groups)
	}
	require.Equal(t, []string{"T, A", "T, B", "T, B, part 2"}, names)
	require.Equal(t, 30, scenarios)
	b.Groups = b.Groups[:12]
	require.Equal(t, []drawing{{Figure: b}}, divideBars(b, networks))
}
