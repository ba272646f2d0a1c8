package learn

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every extension learns the way to what pays, and the values of the way; the same seed has the same
// bits.
func TestDQNLearns(t *testing.T) {
	t.Parallel()
	for _, o := range []DQNOptions{{}, {Double: true, Duel: true, Ahead: 3, Alpha: 0.6, Beta: 0.5}} {
		t.Run(fmt.Sprintf("double %t", o.Double), func(t *testing.T) {
			o.Inputs, o.Actions, o.Hidden, o.Rate, o.Every, o.Sync, o.Fill, o.ExploreFor = 8, 3, []int{24}, 3e-3, 2, 50, 200, 3000
			var weights []float64
			for range 2 {
				d, err := NewDQN(&walk{length: 8}, o, 1)
				require.NoError(t, err)
				require.NoError(t, d.Learn(context.Background(), 6000))
				w := &walk{length: 8}
				for ; w.at < 7; w.at++ {
					require.Equal(t, 1, d.Best(w.Observe()), "at %d", w.at)
				}
				w.at = 6
				require.InDelta(t, 1, d.one.Forward(w.Observe().Values)[1], 0.15)
				require.NotEmpty(t, d.Ended)
				if weights == nil {
					weights = d.online.Params[0]
				}
				require.Equal(t, weights, d.online.Params[0])
			}
		})
	}
}

// Rewards of several actions count by the time between them, and nothing counts behind the end.
func TestTransitionsAhead(t *testing.T) {
	d, err := NewDQN(&walk{length: 3}, DQNOptions{Inputs: 3, Actions: 3, Ahead: 3, Gamma: 0.5}, 1)
	require.NoError(t, err)
	for k, o := range []Outcome{{Reward: 1, Elapsed: 1}, {Reward: 2}, {Reward: 4, Elapsed: 2}, {Reward: 8, Elapsed: 1, Done: true}} {
		d.remember(transition{action: k, discount: 1}, o)
	}
	require.Equal(t, 4, d.memory.Len())
	for k, want := range []struct{ reward, discount float64 }{{1 + 0.5*2 + 0.5*4, 0.125}, {2 + 4 + 0.25*8, 0}, {4 + 0.25*8, 0}, {8, 0}} {
		got := d.memory.Item(k)
		require.Equal(t, []any{k, want.reward, want.discount}, []any{got.action, got.reward, got.discount})
	}
}

func TestDQNStops(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	d, err := NewDQN(&walk{length: 8, fails: 5}, DQNOptions{Inputs: 8, Actions: 3}, 1)
	require.NoError(t, err)
	require.ErrorContains(t, d.Learn(ctx, 100), "the floor gave way")
	stop()
	require.ErrorIs(t, d.Learn(ctx, 1), context.Canceled)
}
