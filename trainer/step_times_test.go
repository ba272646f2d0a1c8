package trainer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/torch"
)

// The second measurement of a kind replaces the first, later ones are averaged, and the length of the list is limited.
func TestStepTimesAreAveraged(t *testing.T) {
	one := timed{Nodes: 1, Devices: 2, Device: 32, Compute: 9, Step: 10}
	list := withTime(nil, one)
	one.Compute, one.Step = 1, 2
	list = withTime(list, one)
	require.Equal(t, []timed{{1, 2, 32, 1, 2, 2}}, list, "the first includes allocation")
	one.Compute, one.Step = 2, 4
	list = withTime(list, one)
	require.Equal(t, []timed{{1, 2, 32, 1.25, 2.5, 3}}, list)
	for k := range 2 * mostTimes {
		list = withTime(list, timed{Nodes: 1, Devices: 1, Device: k + 1, Compute: 1, Step: 1})
	}
	require.Len(t, list, mostTimes)
	require.Equal(t, 2*mostTimes, list[mostTimes-1].Device)
}

// A course of distillation keeps its share and the time of its end if steps take longer.
func TestCoursesStretch(t *testing.T) {
	d := &distillation{core: &core{replica: &replica{}}}
	d.Distill.Share = 0.8
	d.Taught, d.Length = 50, 200
	d.stretch(time.Second, 2*time.Second)
	require.Equal(t, course{Taught: 50, Length: 200}, d.course, "nothing is taught")
	d.logits = &torch.Tensor{}
	before := d.teacher().Share
	d.stretch(time.Second, 2*time.Second)
	require.Equal(t, course{Taught: 25, Length: 100}, d.course)
	require.InDelta(t, before, d.teacher().Share, 1e-12)
	d.stretch(time.Nanosecond, time.Hour)
	require.Equal(t, course{Taught: 0, Length: 1}, d.course)
}

// With AdaScale, the warm-up and the epochs of the schedule count steps of the smallest batch.
func TestMomentsOfAdaScale(t *testing.T) {
	c := &core{replica: &replica{Options: Options{Batch: 10, AdaptiveBatch: AdaptiveBatch{On: true, Most: 40,
		Scaling: AdaScale}}, Data: &dataset.Set{Train: dataset.Split{Count: 100}}}}
	c.Steps, c.Rate = 7, 3
	c.Batching = batchState{Size: 40, Progress: 38, Since: 5}
	c.Batching.Noise.Count, c.Batching.Noise.Square, c.Batching.Noise.Variance, c.Batching.Noise.Weight = 8, 1, 10, 1
	require.InEpsilon(t, 2/(1+0.25), c.gain(), 1e-12, "the variance of the smallest batch is the squared gradient")
	require.Equal(t, Moment{Epochs: 3, Steps: 41}, c.moment(c.Steps+2, c.Batching.Progress+2*c.gain()),
		"33 steps of 10 an epoch; 38 and 3.2")
	require.InEpsilon(t, 1.6, c.rateFactor(), 1e-12)
	c.AdaptiveBatch.Scaling = SquareRoot
	require.Equal(t, Moment{Epochs: 3, Steps: 9}, c.moment(c.Steps+2, c.Batching.Progress+2*c.gain()))
	require.InEpsilon(t, 2.0, c.rateFactor(), 1e-12)
}
