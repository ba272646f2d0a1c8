package fabric

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
)

// parts holds recorded results of single functions of PAC-ML's simulator.
type parts struct {
	AllReduce  [][10]number           `json:"all_reduce"`
	OneToOne   [][5]float64           `json:"one_to_one"`
	Width      [][4]int               `json:"effective_trx"`
	Factors    map[string][][2]int    `json:"factor_pairs"`
	Shapes     [][3]json.RawMessage   `json:"block_shapes"`
	Blocks     []([4]json.RawMessage) `json:"get_block"`
	Searches   [][5]json.RawMessage   `json:"find_sub_block"`
	Unfinished [][]json.RawMessage    `json:"find_meta_block"` // errors of the original
}

func recordedParts(t *testing.T) (p parts) {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash("../../../shared/reference/ramp/golden/misc.json"))
	if os.IsNotExist(err) {
		t.Skip("left out: misc.json is not there; put the recorded results beside the tree")
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &p))
	return p
}

// number is a time. The original's error about an infinite time reads as +Inf.
type number float64

// UnmarshalJSON implements [json.Unmarshaler].
func (n *number) UnmarshalJSON(text []byte) error {
	if strings.HasPrefix(string(text), `"Exception: Infinite`) {
		*n = number(math.Inf(1))
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

// read decodes a recorded value.
func read[T any](t *testing.T, text json.RawMessage) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal(text, &v))
	return v
}

// Times of collectives and single transfers equal the original to the bit.
func TestTimesOfTransfers(t *testing.T) {
	p := recordedParts(t)
	for _, row := range p.AllReduce {
		var c [10]float64
		for k, v := range row {
			c[k] = float64(v)
		}
		r := Ramp{Groups: int(c[5]), Bandwidth: c[6] * c[5], Latency: c[7], IO: c[8],
			Quirks: cluster.Quirks{TwiceDivided.Name}}
		transfer, sums := r.allReduce(c[0], int(c[1]), int(c[2]), int(c[3]), int(c[4]))
		require.Equal(t, c[9], 2*transfer+sums, "%v", c)
	}
	for _, c := range p.OneToOne {
		r := Ramp{Groups: 1, Bandwidth: c[1], Latency: c[2], IO: c[3]}
		require.Equal(t, c[4], r.single(c[0]), "%v", c)
	}
	for _, c := range p.Width {
		require.Equal(t, c[3], width(c[0], c[1], c[2]), "%v", c)
	}
}

// serverAt returns the index of a server from its group, rack and place.
func (r *Ramp) serverAt(at [3]int) int { return (at[0]*r.Racks+at[1])*r.Servers + at[2] }

func (r *Ramp) serversAt(list [][3]int) (servers []int) {
	for _, at := range list {
		servers = append(servers, r.serverAt(at))
	}
	return servers
}

// Blocks of servers have the shapes and places of the original, and the search finds them in the same order.
func TestBlocksOfServers(t *testing.T) {
	p := recordedParts(t)
	for text, want := range p.Factors {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		require.Equal(t, want, factorPairs(n))
	}
	for _, c := range p.Shapes {
		n, size, want := read[int](t, c[0]), read[[3]int](t, c[1]), read[[]shape](t, c[2])
		r := Ramp{Groups: size[0], Racks: size[1], Servers: size[2]}
		require.ElementsMatch(t, want, r.shapes(n), "%d on %v", n, size)
		require.Equal(t, append([]shape{}, want...), append([]shape{}, r.shapes(n)...), "%d on %v", n, size)
	}
	left := 0
	for _, c := range p.Blocks {
		size, at, want := read[[3]int](t, c[1]), read[[3]int](t, c[2]), read[[][3]int](t, c[3])
		r := Ramp{Groups: size[0], Racks: size[1], Servers: size[2]}
		s := read[shape](t, c[0])
		if s[2] < 0 && at[0]+s[0] > size[0] {
			left++ // the original leaves the network, in a place that its search does not try
			continue
		}
		require.Equal(t, r.serversAt(want), r.block(s, at[0], at[1], at[2], func(int) bool { return true }, nil),
			"%v at %v", s, at)
	}
	require.LessOrEqual(t, left, 1)
	for _, c := range p.Searches {
		size, parts := read[[3]int](t, c[0]), read[int](t, c[3])
		r := Ramp{Groups: size[0], Racks: size[1], Servers: size[2]}
		free := map[int]float64{}
		for server := range r.Size() {
			free[server] = 80e9
		}
		for _, server := range r.serversAt(read[[][3]int](t, c[2])) {
			free[server] = 1e9
		}
		for _, server := range r.serversAt(read[[][3]int](t, c[1])) {
			free[server] = -1
		}
		got := r.Block(parts, func(server int) bool { return free[server] >= 2e9 }, nil)
		require.Equal(t, r.serversAt(read[[][3]int](t, c[4])), got, "%d parts on %v", parts, size)
	}
}
