package learn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/stat"
)

// DQN learns the path to the reward and its values, with and without extensions. The same seed gives the same bits.
func TestDQNLearns(t *testing.T) {
	t.Parallel()
	for _, o := range []DQNOptions{{}, {Double: true, Duel: true, Ahead: 3, Alpha: 0.6, Beta: 0.5}} {
		t.Run(fmt.Sprintf("double %t", o.Double), func(t *testing.T) {
			o.Inputs, o.Actions, o.Hidden, o.Rate, o.Every, o.Sync, o.Fill, o.ExploreFor = 8, 3, []int{24}, 3e-3, 2, 50,
				200, 3000
			var weights []float64
			for range 2 {
				d, err := NewDQN(o, 1, &walk{length: 8})
				require.NoError(t, err)
				require.NoError(t, d.Learn(context.Background(), 6000))
				w := &walk{length: 8}
				for ; w.at < 7; w.at++ {
					require.Equal(t, 1, d.Best(w.Observe()), "at %d", w.at)
				}
				w.at = 6
				require.InDelta(t, 1, d.online.values([]Observation{w.Observe()})[1], 0.15)
				require.NotEmpty(t, d.Ended)
				if weights == nil {
					weights = d.online.(*denseValues).Params[0]
				}
				require.Equal(t, weights, d.online.(*denseValues).Params[0])
			}
		})
	}
}

// named puts the index of a graph before the values of an environment.
type named struct{ *walk }

func (n named) Observe() Observation {
	o := n.walk.Observe()
	return Observation{append([]float64{0}, o.Values...), o.Mask}
}

// A network that reads graphs learns the same path from several environments.
func TestDQNOfGraphs(t *testing.T) {
	o := DQNOptions{Graph: &GraphOptions{Graphs: drawnGraphs(rand.New(rand.NewPCG(1, 2)))[:1], Globals: 8, Actions: 3,
		Rate: 3e-3}, Actions: 3, Double: true, Ahead: 3, Alpha: 0.6, Beta: 0.5,
		Every: 2, Batch: 32, Sync: 50, Fill: 200, ExploreFor: 2000}
	d, err := NewDQN(o, 1, named{&walk{length: 8}}, named{&walk{length: 8}})
	require.NoError(t, err)
	require.NoError(t, d.Learn(context.Background(), 5000))
	for w := (named{&walk{length: 8}}); w.at < 7; w.at++ {
		require.Equal(t, 1, d.Best(w.Observe()), "at %d", w.at)
		logits, _ := d.GraphNet().Score(w.Observe())
		require.Equal(t, 1, Likeliest(logits), "at %d", w.at)
	}
}

// The mean of a duel's values is the value of the state; their differences equal the differences of logits. A descent
// step raises a value with a negative slope.
func TestValuesOfGraphs(t *testing.T) {
	m, states := drawnGraphNet(t, true)
	g := &graphValues{m}
	all := g.values(states)
	logits, values := m.Forward(states)
	for k := range states {
		require.InDelta(t, values[k], stat.Mean(all[4*k:][:4]), 1e-12)
		require.InDelta(t, logits[k][1]-logits[k][0], all[4*k+1]-all[4*k], 1e-12)
	}
	before := g.values(states)[6]
	slope := make([]float64, len(all))
	slope[6] = -1 // raises that value
	require.NoError(t, g.descend(slope, 1))
	require.Greater(t, g.values(states)[6], before)
}

// Rewards of several steps are discounted by the elapsed time, and the sum stops at the end of the episode.
func TestTransitionsAhead(t *testing.T) {
	d, err := NewDQN(DQNOptions{Inputs: 3, Actions: 3, Ahead: 3, Gamma: 0.5}, 1, &walk{length: 3})
	require.NoError(t, err)
	for k, o := range []Outcome{{Reward: 1, Elapsed: 1}, {Reward: 2}, {Reward: 4, Elapsed: 2},
		{Reward: 8, Elapsed: 1, Done: true}} {
		d.remember(d.players[0], transition{action: k, discount: 1}, o)
	}
	require.Equal(t, 4, d.memory.Len())
	for k, want := range []struct{ reward, discount float64 }{{1 + 0.5*2 + 0.5*4, 0.125}, {2 + 4 + 0.25*8, 0},
		{4 + 0.25*8, 0}, {8, 0}} {
		got := d.memory.Item(k)
		require.Equal(t, []any{k, want.reward, want.discount}, []any{got.action, got.reward, got.discount})
	}
}

func TestDQNStops(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	d, err := NewDQN(DQNOptions{Inputs: 8, Actions: 3}, 1, &walk{length: 8, fails: 5})
	require.NoError(t, err)
	require.ErrorContains(t, d.Learn(ctx, 100), "the floor gave way")
	stop()
	require.ErrorIs(t, d.Learn(ctx, 1), context.Canceled)
}
