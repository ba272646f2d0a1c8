package costs

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/internal/stat"
)

// All-reduce times are within a few per cent of the tables. The V100's ring on 5 devices reaches less than two rings.
func TestAllReducesOfTheTables(t *testing.T) {
	for name, most := range map[string]float64{"a100": 0.025, "v100": 0.05} {
		h, err := Library().Named("hardware", name)
		require.NoError(t, err)
		by := map[int][]float64{}
		var all []float64
		for _, s := range sums(t, h.Name) {
			off := math.Abs(h.AllReduceSeconds(s.bytes, Group{Ranks: s.ranks, Stride: 1})/s.seconds - 1)
			by[s.ranks], all = append(by[s.ranks], off), append(all, off)
		}
		for ranks := 2; ranks <= 8; ranks++ {
			t.Logf("%s, %d devices: mean error %.2f%%", h.Name, ranks, 100*stat.Mean(by[ranks]))
		}
		t.Logf("%s: mean error %.2f%%", h.Name, 100*stat.Mean(all))
		require.LessOrEqual(t, stat.Mean(all), most, name)
	}
}

// The time of a ring equals ASTRA-sim's regression test: 8 devices sum 1 MiB in 4 chunks, one after the other. Its
// simulator truncates the times of messages to whole ns and counts 10 ns once per chunk.
func TestRingOfASTRASim(t *testing.T) {
	data, err := os.ReadFile("../../../shared/reference/steptimes/astra/regression.json")
	if os.IsNotExist(err) {
		t.Skip("no values of ASTRA-sim in ../../../shared/reference/steptimes/astra")
	}
	require.NoError(t, err)
	var regression struct {
		Form struct {
			Chunks    float64
			Bytes     float64 `json:"chunk_bytes"`
			Link      float64 `json:"link_bytes_per_ns"`
			Latency   float64 `json:"latency_ns"`
			Endpoint  float64 `json:"endpoint_ns"`
			Memory    float64 `json:"local_memory_pass_ns"`
			Passes    float64
			Reductive float64 `json:"steps_with_reduction"`
			Once      float64 `json:"once_per_chunk_ns"`
			Total     float64 `json:"total_ns"`
		} `json:"closed_form"`
	}
	require.NoError(t, json.Unmarshal(data, &regression))
	f := regression.Form
	h := Hardware{Link: Link{Devices: 8, Rate: f.Link * 1e9, Start: f.Once * 1e-9,
		Step: (f.Latency + f.Endpoint) * 1e-9, Reduce: f.Bytes / (f.Passes * f.Reductive * f.Memory) * 1e9}}
	got := f.Chunks * h.AllReduceSeconds(f.Bytes, Group{Ranks: 8, Stride: 1})
	truncated := f.Chunks * 14 * 1e-9 // less than 1 ns per message
	require.InDelta(t, f.Total*1e-9, got, truncated)
}

func TestAllReduceGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(Library()).Draw(t, "hardware")
		g := Group{Ranks: rapid.IntRange(2, 512).Draw(t, "ranks"), Stride: 1 << rapid.IntRange(0, 6).Draw(t, "stride")}
		bytes := math.Exp(rapid.Float64Range(0, 25).Draw(t, "bytes"))
		one := h.AllReduceSeconds(bytes, g)
		require.Greater(t, h.AllReduceSeconds(2*bytes, g), one)
		require.Less(t, h.AllReduceSeconds(2*bytes, g), 2*one)
		require.GreaterOrEqual(t, one, bytes/h.Link.Reduce)
	})
}

func TestAllReduceByPlace(t *testing.T) {
	h := Hardware{Link: Link{Devices: 4, Rate: 100, Reduce: math.Inf(1), Start: 1, Step: 0.5},
		Network: Network{Rate: 40, Efficiency: 0.5, Step: 2}}
	for name, c := range map[string]struct {
		group Group
		want  float64
	}{
		"one device sends nothing":                     {Group{Ranks: 1}, 0},
		"two neighbours":                               {Group{Ranks: 2}, 1 + 2*0.5 + 200./100},
		"a whole server":                               {Group{Ranks: 4, Stride: 1}, 1 + 6*0.5 + 300./100},
		"every second device of a server":              {Group{Ranks: 2, Stride: 2}, 1 + 2*0.5 + 200./100},
		"two servers, one ring with the whole network": {Group{Ranks: 8, Stride: 1}, 1 + 12*0.5 + 4*2 + 2*7./8*200/20},
		"two servers, two rings that share it":         {Group{Ranks: 4, Stride: 2}, 1 + 4*0.5 + 4*2 + 2*3./4*200/10},
		"two servers, one ring for each device":        {Group{Ranks: 2, Stride: 4}, 1 + 4*2 + 200./5},
		"stages that are two servers apart":            {Group{Ranks: 2, Stride: 8}, 1 + 4*2 + 200./5},
	} {
		require.InDelta(t, c.want, h.AllReduceSeconds(200, c.group), 1e-9, name)
	}
}
