package events_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/internal/events"
)

// naive is a sorted list with the operations of a heap.
type naive []naiveEntry

type naiveEntry struct {
	key    events.Key
	handle events.Handle
	item   int
}

func (n naive) sort() {
	slices.SortFunc(n, func(a, b naiveEntry) int { return slices.Compare(a.key[:], b.key[:]) })
}

func drawKey(t *rapid.T, unique int64) events.Key {
	return events.Key{rapid.Int64Range(-3, 3).Draw(t, "first"), rapid.Int64Range(0, 2).Draw(t, "second"), unique}
}

// A heap equals a sorted list for any sequence of pushes, moves and removals.
func TestHeapIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h events.Heap[int]
		var list naive
		for step := range rapid.IntRange(0, 80).Draw(t, "steps") {
			at := 0
			if len(list) > 0 {
				at = rapid.IntRange(0, len(list)-1).Draw(t, "entry")
			}
			switch what := rapid.IntRange(0, 20).Draw(t, "what"); {
			case what < 9 || len(list) == 0:
				key := drawKey(t, int64(step))
				list = append(list, naiveEntry{key, h.Push(key, step), step})
			case what < 13:
				list[at].key = drawKey(t, list[at].key[2])
				h.Move(list[at].handle, list[at].key)
			case what < 16:
				require.Equal(t, list[at].item, h.Remove(list[at].handle))
				list = slices.Delete(list, at, at+1)
			case what < 20:
				list.sort()
				key, item, ok := h.Pop()
				require.True(t, ok)
				require.Equal(t, list[0], naiveEntry{key, list[0].handle, item})
				list = list[1:]
			default:
				h.Clear()
				list = nil
			}
			requireHeap(t, &h, list)
		}
	})
}

func requireHeap(t *rapid.T, h *events.Heap[int], list naive) {
	list.sort()
	require.Equal(t, len(list), h.Len())
	key, item, ok := h.Head()
	require.Equal(t, len(list) > 0, ok)
	if ok {
		require.Equal(t, list[0], naiveEntry{key, list[0].handle, item})
	}
	for _, e := range list {
		require.Equal(t, e.key, h.Key(e.handle))
		require.Equal(t, e.item, h.Item(e.handle))
	}
}

func TestEmptyHeap(t *testing.T) {
	var h events.Heap[string]
	_, _, ok := h.Pop()
	require.False(t, ok)
	handle := h.Push(events.Key{1}, "a")
	require.NotZero(t, handle)
	_, item, ok := h.Pop()
	require.True(t, ok)
	require.Equal(t, "a", item)
	_, _, ok = h.Head()
	require.False(t, ok)
}

// Float keeps the order of floats.
func TestFloat(t *testing.T) {
	list := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64,
		0.5, 1, math.MaxFloat64, math.Inf(1)}
	require.Equal(t, events.Float(0), events.Float(math.Copysign(0, -1)))
	for k := range list[1:] {
		require.Less(t, events.Float(list[k]), events.Float(list[k+1]), "%v %v", list[k], list[k+1])
	}
	require.Greater(t, events.Float(math.NaN()), events.Float(math.Inf(1)))
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64().Draw(t, "a"), rapid.Float64().Draw(t, "b")
		require.Equal(t, a < b, events.Float(a) < events.Float(b))
		require.Equal(t, a == b, events.Float(a) == events.Float(b))
	})
}

// BenchmarkHeap pushes and pops one of a thousand entries.
func BenchmarkHeap(b *testing.B) {
	const entries = 1000
	var h events.Heap[int]
	for k := range b.N {
		if h.Push(events.Key{int64(k * 7919 % 4096), 0, int64(k)}, k); h.Len() > entries {
			h.Pop()
		}
	}
}
