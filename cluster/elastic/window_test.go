package elastic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
)

// Without bundle actions, a scheduler's bundle is one sample for each of its tasks. A function chooses their columns.
func TestWindowOfSingleTasks(t *testing.T) {
	w := world(t, studyOf(job(1, 0), job(2, 0)))
	o := elastic.WindowOptions{Size: 3, Apart: true, Shuffle: func(int) []int { return []int{2, 0, 1} }}
	var labels []int
	elastic.Record(w, o, func(s elastic.Sample) { labels = append(labels, s.Label) })
	w.Begin()
	for _, a := range []elastic.Action{elastic.Bundle, elastic.Worker, elastic.Server} {
		w.Add(w.Jobs()[0], a)
	}
	w.AddOn(w.Jobs()[1], 0, elastic.Bundle)
	require.Equal(t, []int{4, 5, 4, 5, 0, 1}, labels)
	window := elastic.NewWindow(w, o)
	window.Observe()
	require.Equal(t, []*elastic.Job{w.Jobs()[1], nil, w.Jobs()[0]}, window.Jobs)
	require.Equal(t, 7, window.Actions())
}

// The world takes errors of speeds from the given random numbers.
func TestSpeedErrorsFromOutside(t *testing.T) {
	s := studyOf(job(1, 0))
	s.Options.SpeedError, s.Options.Scaling = 0.4, elastic.NoScaling
	s.Jobs[0].RealEpochs = 1e6
	w := world(t, s)
	w.Errors = func(*elastic.Job) float64 { return 0.75 }
	w.Begin()
	w.AddPair(w.Jobs()[0])
	w.End()
	require.InDelta(t, 120*(1+0.4*0.5), w.Jobs()[0].Progress, tolerance)
}
