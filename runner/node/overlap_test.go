package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const second = time.Second

func TestSpeedOfTasksTogether(t *testing.T) {
	run := func(from, to float64) span {
		return span{time.Duration(from * float64(second)), time.Duration(to * float64(second)), true}
	}
	for name, c := range map[string]struct {
		own, others []span
		speed       float64
		runs        int
	}{
		"half the speed":                  {[]span{run(0, 4)}, []span{run(0, 4)}, 0.5, 1},
		"others in a chain":               {[]span{run(0, 4)}, []span{run(0, 1), run(1, 3), run(3, 9)}, 0.5, 1},
		"a gap is at full speed":          {[]span{run(0, 3)}, []span{run(0, 1), run(2, 4)}, 0.5, 1},
		"several runs":                    {[]span{run(0, 4), run(4, 8)}, []span{run(0, 8)}, 0.5, 2},
		"a run mostly alone":              {[]span{run(0, 2.1)}, []span{run(1.9, 9)}, 0, 0},
		"a run that was ended":            {[]span{{0, 4 * second, false}}, []span{run(0, 4)}, 0, 0},
		"faster than alone by the gap":    {[]span{run(0, 4)}, []span{run(0, 2)}, 0, 0},
		"only the part beside the others": {[]span{run(0, 2), run(2, 4)}, []span{run(0, 2)}, 1, 1},
	} {
		speed, _, runs := together(c.own, c.others, 2*second)
		require.InDelta(t, c.speed, speed, 1e-9, name)
		require.Equal(t, c.runs, runs, name)
	}
	mean, runs := alone([]span{run(0, 1), run(1, 4), {4 * second, 5 * second, false}})
	require.Equal(t, 2*second, mean)
	require.Equal(t, 2, runs)
}

// A run in progress counts until now.
func TestRunUnderWay(t *testing.T) {
	list := []span{{0, second, true}, {second, second, false}}
	require.Equal(t, []span{{0, second, true}, {second, 3 * second, false}}, until(list, 3*second))
	require.Equal(t, second, list[1].to)
	require.Empty(t, until(nil, second))
}
