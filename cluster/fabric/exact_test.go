package fabric_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
)

// drawEpisode draws a few jobs of two networks on eight servers.
func drawEpisode(t *rapid.T, jobs int) *fabric.Study {
	s := &fabric.Study{Network: &fabric.Ramp{Groups: 2, Racks: 2, Servers: 2, Channels: 1, Bandwidth: 1e11,
		Latency: 1e-6}}
	for range 2 {
		s.Models = append(s.Models, fabric.NewModel(drawProfile(t).Mirror(graph.MirrorOptions{})))
	}
	s.Options.MaxParts = 4
	s.Options.EnsureDefaults()
	at := 0.0
	for range jobs {
		model := rapid.IntRange(0, 1).Draw(t, "model")
		s.Jobs = append(s.Jobs, fabric.Job{Model: model, Limit: rapid.Float64Range(0.1, 1).Draw(t, "limit"), Steps: 100,
			Arrival: at})
		at += rapid.Float64Range(0, 1).Draw(t, "gap") * s.Models[model].Details.Compute * 1e-3 * 100
	}
	s.Prepare()
	return s
}

// fewest returns the least number of blocked jobs over all sequences of degrees.
func fewest(t *rapid.T, s *fabric.Study, degrees []int) int {
	w, err := fabric.NewWorld(s)
	require.NoError(t, err)
	for _, degree := range degrees {
		require.NoError(t, w.Decide(degree))
	}
	if w.Waiting() == nil {
		return w.Record.Blocked
	}
	least := len(s.Jobs)
	for _, degree := range w.Degrees() {
		least = min(least, fewest(t, s, append(degrees, degree)))
	}
	return least
}

// Exact finds the minimum of all sequences, its plan reaches that minimum, and no decider blocks fewer jobs.
func TestExactSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawEpisode(t, rapid.IntRange(1, 5).Draw(t, "jobs"))
		plan, err := fabric.Exact(context.Background(), s, 1_000_000)
		require.NoError(t, err)
		require.Equal(t, fewest(t, s, nil), plan.Blocked)
		w, err := fabric.NewWorld(s)
		require.NoError(t, err)
		require.NoError(t, fabric.Play(context.Background(), w, fabric.Replay{Degrees: plan.Degrees}))
		require.Equal(t, plan.Blocked, w.Record.Blocked)
		for _, kind := range fabric.Kinds() {
			w, err := fabric.NewWorld(s)
			require.NoError(t, err)
			require.NoError(t, fabric.Play(context.Background(), w, kind.New(rand.New(rand.NewPCG(1, 1)))), kind.Name)
			require.GreaterOrEqual(t, w.Record.Blocked, plan.Blocked, kind.Name)
		}
	})
}

// An exact search that is too large returns ErrTooLarge.
func TestExactSearchGivesUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, err := fabric.Exact(context.Background(), drawEpisode(t, 4), 2)
		require.ErrorIs(t, err, fabric.ErrTooLarge)
	})
}

// The offer for a degree comes true if the degree is chosen. Clones do not change their world.
func TestOffersComeTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, err := fabric.NewWorld(drawEpisode(t, 6))
		require.NoError(t, err)
		for w.Waiting() != nil {
			id := w.Waiting().ID
			offers, err := w.Offers()
			require.NoError(t, err)
			for _, o := range offers {
				c := w.Clone()
				require.NoError(t, c.Decide(o.Degree))
				job := &c.Jobs[id]
				require.Equal(t, o.Cause, job.Cause)
				if o.Cause == fabric.NoCause {
					require.Equal(t, o.Time, job.Time)
					require.Len(t, job.Run.Placed.Servers, o.Servers)
				}
			}
			require.Equal(t, id, w.Waiting().ID)
			require.Equal(t, fabric.Queued, w.Waiting().Status)
			require.NoError(t, w.Decide(rapid.SampledFrom(w.Degrees()).Draw(t, "degree")))
		}
	})
}

// Named finds every decider by its name and refuses unknown names.
func TestNamesOfDeciders(t *testing.T) {
	for _, kind := range fabric.Kinds() {
		found, err := fabric.Named(kind.Name)
		require.NoError(t, err)
		require.Equal(t, kind.About, found.About)
	}
	kind, err := fabric.Named("constant-6")
	require.NoError(t, err)
	require.Equal(t, fabric.Constant{Parts: 6}, kind.New(nil))
	for name, says := range map[string]string{"best": "expected one of: never, least, most, in-time, thrifty, " +
		"quickest, random, or constant-N with a degree N", "constant-3": "expected 1 or an even number " +
		"up to 4096, such as constant-4",
		"constant-":     "expected 1 or an even number up to 4096, such as constant-4",
		"constant-9999": "expected 1 or an even number up to 4096, such as constant-4"} {
		_, err := fabric.Named(name)
		require.ErrorContains(t, err, says)
	}
}
