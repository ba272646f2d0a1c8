package events_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/internal/events"
)

type plannedEvent struct {
	at       int64
	priority int
	order    int // position in the order of scheduling
	handle   events.Handle
}

func soonest(a, b plannedEvent) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.priority, b.priority), cmp.Compare(a.order, b.order))
}

// A kernel delivers events in the order of a stable sort by time and priority, for any scheduling, moves and
// cancellations. Its clock never goes back.
func TestKernelIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := rapid.Int64Range(-5, 5).Draw(t, "now")
		k := events.NewKernel[int](now)
		var list []plannedEvent
		at := func() int64 { return max(now, rapid.Int64Range(now-2, now+6).Draw(t, "at")) }
		for step := range rapid.IntRange(0, 80).Draw(t, "steps") {
			pick := 0
			if len(list) > 0 {
				pick = rapid.IntRange(0, len(list)-1).Draw(t, "event")
			}
			switch what := rapid.IntRange(0, 19).Draw(t, "what"); {
			case what < 8 || len(list) == 0:
				e := plannedEvent{at: at(), priority: rapid.IntRange(0, 2).Draw(t, "priority"), order: step}
				e.handle = k.Schedule(e.at, e.priority, step)
				list = append(list, e)
			case what < 11:
				list[pick].at = at()
				k.Reschedule(list[pick].handle, list[pick].at)
			case what < 13:
				k.Cancel(list[pick].handle)
				list = slices.Delete(list, pick, pick+1)
			case what < 15:
				slices.SortFunc(list, soonest)
				now = max(now, min(now+3, list[0].at))
				k.Advance(now)
			default:
				slices.SortFunc(list, soonest)
				e, ok := k.Step()
				require.True(t, ok)
				require.Equal(t, list[0].order, e)
				now, list = list[0].at, list[1:]
			}
			requireKernel(t, k, now, list)
		}
	})
}

func requireKernel(t *rapid.T, k *events.Kernel[int], now int64, list []plannedEvent) {
	require.Equal(t, now, k.Now())
	require.Equal(t, len(list), k.Len())
	slices.SortFunc(list, soonest)
	at, event, ok := k.Peek()
	require.Equal(t, len(list) > 0, ok)
	require.Equal(t, at, k.Next())
	if !ok {
		require.Equal(t, events.Never, at)
		_, stepped := k.Step()
		require.False(t, stepped)
		return
	}
	require.Equal(t, list[0], plannedEvent{at, list[0].priority, event, list[0].handle})
	for _, e := range list {
		require.Equal(t, []any{e.at, e.order}, []any{k.At(e.handle), k.Event(e.handle)})
	}
}

// An event or advance in the past happens now.
func TestKernelNeverGoesBack(t *testing.T) {
	k := events.NewKernel[string](100)
	k.Schedule(40, 0, "late")
	_, ok := k.Step()
	require.True(t, ok)
	require.Equal(t, int64(100), k.Now())
	k.Advance(50)
	require.Equal(t, int64(100), k.Now())
}

// A machine works on one task at a time. Each task takes five seconds.
func Example() {
	type event struct {
		what string
		task int
	}
	const ends, arrives = 0, 1 // priorities: at equal times, ends come before arrivals
	k := events.NewKernel[event](0)
	for task, at := range []int64{0, 2, 5} {
		k.Schedule(at, arrives, event{"arrives", task})
	}
	busy, waiting := false, []int{}
	for e, ok := k.Step(); ok; e, ok = k.Step() {
		fmt.Printf("%2d s: task %d %s\n", k.Now(), e.task, e.what)
		if e.what == "arrives" {
			waiting = append(waiting, e.task)
		} else {
			busy = false
		}
		if !busy && len(waiting) > 0 {
			k.Schedule(k.Now()+5, ends, event{"ends", waiting[0]})
			busy, waiting = true, waiting[1:]
		}
	}
	// Output:
	//  0 s: task 0 arrives
	//  2 s: task 1 arrives
	//  5 s: task 0 ends
	//  5 s: task 2 arrives
	// 10 s: task 1 ends
	// 15 s: task 2 ends
}

// BenchmarkKernel schedules and takes one of a thousand events.
func BenchmarkKernel(b *testing.B) {
	k := events.NewKernel[int](0)
	for n := range 1000 {
		k.Schedule(int64(n*7919%1000), 0, n)
	}
	for b.Loop() {
		e, _ := k.Step()
		k.Schedule(k.Now()+int64(e*7919%1000), 0, e)
	}
}
