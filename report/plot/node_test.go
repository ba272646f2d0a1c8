package plot

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/report/runs"
)

// Cores count up to all of a GPU, and tasks wait from arrival until they run.
func TestUseOfAMachine(t *testing.T) {
	spans := []runs.NodeSpan{{Task: "a", GPU: 0, From: 0, To: 4, Cores: 80},
		{Task: "b", GPU: 0, From: 1, To: 3, Cores: 60}, {Task: "c", GPU: 1, From: 2, To: 6, Cores: 50}}
	tasks := []runs.NodeTaskRow{{Workload: 1, Seed: 1, Arrival: 0, Ended: 4},
		{Workload: 1, Seed: 1, Arrival: 0, Ended: 3}, {Workload: 1, Seed: 1, Arrival: 1, Ended: 6},
		{Workload: 2, Seed: 1, Arrival: 1, Ended: 6}, {Workload: 1, Seed: 1, Arrival: 5, Ended: -1}}
	u := useOf(spans, tasks, 2)
	require.Equal(t, use{[]float64{0, 1, 2, 3, 4, 5, 6}, []float64{40, 50, 75, 65, 25, 25, 0},
		[]float64{1, 1, 0, 0, 0, 1, 1}}, u)
	m := u.means(3)
	require.Equal(t, []float64{0, 3}, m.at)
	require.InDeltaSlice(t, []float64{55, 115. / 3}, m.cores, 1e-9)
	require.InDeltaSlice(t, []float64{2. / 3, 1. / 3}, m.waiting, 1e-9)
	require.Empty(t, useOf(nil, nil, 0).means(1).at)
}

// Means over steps keep the integral of a curve.
func TestMeansKeepTheIntegral(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	u, want, at := use{}, 0.0, 0.0
	for range 1000 {
		u.at, u.cores, u.waiting = append(u.at, at), append(u.cores, random.Float64()), append(u.waiting, 1)
		step := random.ExpFloat64()
		want, at = want+step*u.cores[len(u.cores)-1], at+step
	}
	u.at, u.cores, u.waiting = append(u.at, at), append(u.cores, 0), append(u.waiting, 0)
	width, sum := at/usageSteps, 0.0
	m := u.means(width)
	for _, v := range m.cores {
		sum += v * width
	}
	require.InDelta(t, want, sum, 1e-6)
	require.Len(t, m.at, usageSteps)
}

// Tasks have the colours of their groups where these are few, and their own where most are a group of their own.
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
