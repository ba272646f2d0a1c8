package cluster

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A queue returns its jobs in the order of a stable sort.
func TestQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 300 {
		by := []func(j *Job) float64{func(j *Job) float64 { return float64(j.GPUs) },
			func(j *Job) float64 { return j.Priority }}[:round%3]
		q := NewQueue(by...)
		var plain []*Job
		for range 60 {
			if r.IntN(3) > 0 {
				j := &Job{GPUs: r.IntN(4), Priority: float64(r.IntN(3))}
				q.Put(j)
				plain = append(plain, j)
			} else {
				slices.SortStableFunc(plain, func(a, b *Job) int {
					for _, number := range by {
						if c := cmp.Compare(number(a), number(b)); c != 0 {
							return c
						}
					}
					return 0
				})
				requireTaken(t, q, &plain)
			}
			require.Equal(t, len(plain), q.Len())
		}
	}
}

func requireTaken(t *testing.T, q *Queue, plain *[]*Job) {
	t.Helper()
	if len(*plain) == 0 {
		require.Nil(t, q.First())
		require.Nil(t, q.Take())
		return
	}
	require.Same(t, (*plain)[0], q.First())
	require.Same(t, (*plain)[0], q.Take())
	*plain = (*plain)[1:]
}

// The index of nodes agrees with a scan of all nodes, while devices and nodes come and go. There are up to three words
// of nodes, with up to 64 devices each.
func TestNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, count := range []int{1, 2, 5, 63, 64, 65, 130} {
		for _, each := range []int{1, 3, 8, 64} {
			p := newPool(newNodes(count, each, nil), consolidate{}, LinearSpeed{}, 0)
			var taken [][]Share
			for range 80 {
				taken = exercise(r, p, taken)
				requireIndex(t, p.nodes)
			}
		}
	}
}

// exercise changes a pool's nodes: it takes or releases devices, or adds or removes a node.
func exercise(r *rand.Rand, p *Pool, taken [][]Share) [][]Share {
	n := p.nodes
	switch pick := r.IntN(20); {
	case pick == 0:
		p.AddNode(9999)
	case pick == 1:
		if idle, ok := p.LastIdle(); ok {
			p.RemoveNode(idle)
		}
	case pick < 7 && len(taken) > 0:
		at := r.IntN(len(taken))
		n.release(taken[at])
		return slices.Delete(taken, at, at+1)
	default:
		at := n.FirstFree(r.IntN(len(n.list) + 1))
		if at < 0 {
			return taken
		}
		shares := []Share{n.Share(at, 1+r.IntN(n.FreeOf(at)))}
		n.take(shares)
		return append(taken, shares)
	}
	return taken
}

func requireIndex(t *testing.T, n *Nodes) {
	t.Helper()
	free, with := 0, map[int][]int{}
	var some []int
	for at, nd := range n.list {
		f := bits.OnesCount64(nd.free)
		require.Equal(t, at, nd.at)
		require.Same(t, nd, n.find(nd.name))
		require.Equal(t, f, n.FreeOf(at))
		free += f
		with[f] = append(with[f], at)
		if f > 0 {
			some = append(some, at)
		}
	}
	require.Equal(t, free, n.Free())
	for from := range len(n.list) + 2 {
		require.Equal(t, atOrBehind(some, from), n.FirstFree(from), "from %d", from)
	}
	for f := range n.Each() + 1 {
		require.Equal(t, len(with[f]), n.With(f))
		for _, from := range []int{0, len(n.list) / 2, len(n.list)} {
			require.Equal(t, atOrBehind(with[f], from), n.First(f, from), "%d free, from %d", f, from)
		}
	}
}

// atOrBehind returns the first value of a sorted list from a place on, or -1.
func atOrBehind(list []int, from int) int {
	at, _ := slices.BinarySearch(list, from)
	if at == len(list) {
		return -1
	}
	return list[at]
}

// A placer uses only free devices and returns the requested number. More free devices never lose a placement.
func TestPlacers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for name, placer := range Placers() {
		for round := range 400 {
			n := newNodes(1+r.IntN(5), 1+r.IntN(8), nil)
			for at := range n.list {
				if take := r.IntN(n.each + 1); take > 0 {
					n.take([]Share{n.Share(at, take)})
				}
			}
			found := requirePlaces(t, placer, n)
			var given []Share
			for at, nd := range n.list {
				if n.FreeOf(at) < n.each {
					given = append(given, Share{nd.name, uint64(1)<<n.each - 1&^nd.free})
				}
			}
			if len(given) > 0 {
				n.release(given[:1])
			}
			more := requirePlaces(t, placer, n)
			for gpus := range found {
				require.True(t, more[gpus], "%s, round %d: %d devices", name, round, gpus)
			}
		}
	}
}

func requirePlaces(t *testing.T, placer Placer, n *Nodes) map[int]bool {
	t.Helper()
	found := map[int]bool{}
	before := []Share{{Node: 77, GPUs: 1}}
	for gpus := 1; gpus <= n.Free(); gpus++ {
		shares, ok := placer.Place(n, gpus, slices.Clone(before))
		if !ok {
			continue
		}
		found[gpus] = true
		require.Equal(t, before[0], shares[0])
		count, seen := 0, map[int]bool{}
		for _, s := range shares[1:] {
			require.False(t, seen[s.Node])
			require.Zero(t, s.GPUs&^n.find(s.Node).free)
			seen[s.Node] = true
			count += bits.OnesCount64(s.GPUs)
		}
		require.Equal(t, gpus, count, fmt.Sprint(shares))
	}
	return found
}

// Ahead returns the mean of the next five spans.
func TestAhead(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		f := &Forecast{}
		at := r.Int64N(50)
		for range r.IntN(12) {
			f.At, f.Jobs = append(f.At, at), append(f.Jobs, float64(r.IntN(9)))
			at += 1 + r.Int64N(20)
		}
		for now := int64(-5); now < at+5; now++ {
			sum, count := 0.0, 0
			for k := range f.At {
				if f.At[k] > now && count < 5 {
					sum, count = sum+f.Jobs[k], count+1
				}
			}
			if got := f.Ahead(f.Jobs, now); count == 0 {
				require.NotEqual(t, got, got)
			} else {
				require.Equal(t, sum/float64(count), got)
			}
		}
	}
}

// must returns the value of a call that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
