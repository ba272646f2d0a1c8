package ramp_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric"
	"graft/original/ramp"
)

// lookahead is a recorded step.
type lookahead struct {
	Set string `json:"set"`
	Cfg struct {
		Shape     [3]int  `json:"shape"`
		MaxPart   int     `json:"maxpart"`
		Bandwidth float64 `json:"bw"`
		Latency   float64 `json:"prop"`
		Quantum   float64 `json:"q"`
	} `json:"cfg"`
	Model       string       `json:"model"`
	Action      int          `json:"action"`
	Steps       int          `json:"steps"`
	Masked      bool         `json:"masked_invalid"`
	Mask        []int        `json:"mask"`
	Nodes       int          `json:"num_nodes"`
	Edges       int          `json:"num_edges"`
	Placed      bool         `json:"placed"`
	SumCompute  float64      `json:"sum_compute"`
	SumMemory   float64      `json:"sum_memory"`
	SumDep      float64      `json:"sum_dep_size"`
	NodesSHA    string       `json:"nodes_sha"`
	EdgesSHA    string       `json:"edges_sha"`
	SumTime     float64      `json:"sum_dep_run_time"`
	MaxTime     float64      `json:"max_dep_run_time"`
	Servers     []string     `json:"servers_used"`
	Accepted    bool         `json:"accepted"`
	JCT         float64      `json:"lookahead_jct"`
	Comm        float64      `json:"comm_overhead"`
	Comp        float64      `json:"comp_overhead"`
	Ticks       int          `json:"num_ticks"`
	TicksHead   [][2]float64 `json:"ticks_head"`
	TicksSHA    string       `json:"ticks_sha"`
	Busy        float64      `json:"mean_mounted_worker_utilisation_frac"`
	Flow        float64      `json:"job_total_flow_size"`
	Channels    int          `json:"num_mounted_channels"`
	PlacedSHA   string       `json:"placement_sha"`
	TimesSHA    string       `json:"dep_run_time_sha"`
	PrioritySHA string       `json:"dep_prio_sha"`
}

func (l *lookahead) study(t *testing.T) *fabric.Study {
	t.Helper()
	network := &fabric.Ramp{
		Groups: l.Cfg.Shape[0], Racks: l.Cfg.Shape[1], Servers: l.Cfg.Shape[2], Channels: 1,
		Bandwidth: 1.6e12, Latency: 50e-9, IO: 100e-9, Quirks: ramp.Quirks(),
	}
	if l.Cfg.Bandwidth > 0 {
		network.Bandwidth, network.Latency = l.Cfg.Bandwidth, l.Cfg.Latency
	}
	folder := "small"
	switch l.Model {
	case "chain", "diamond":
		folder = "toy"
	case "alexnet", "gnmt", "resnet18", "squeezenet1_0", "vgg16":
	default:
		folder = "all"
	}
	s := &fabric.Study{Network: network, Options: fabric.Options{MaxParts: l.Cfg.MaxPart, Quantum: l.Cfg.Quantum,
		Quirks: ramp.Quirks()}}
	s.Models = []fabric.Model{fabric.NewModel(profile(t, folder, l.Model+".txt").Mirror(fabric.Mirror(ramp.Quirks())))}
	s.Jobs = []fabric.Job{{Limit: 1, Steps: l.Steps}}
	s.Options.EnsureDefaults()
	s.Prepare()
	return s
}

func TestStepsAreThoseOfTheSimulator(t *testing.T) {
	var golden []lookahead
	recorded(t, "lookahead_all.json", &golden)
	require.Len(t, golden, 95)
	for k := range golden {
		want := &golden[k]
		t.Run(fmt.Sprintf("%s %s %d", want.Set, want.Model, want.Action), func(t *testing.T) { requireStep(t, want) })
	}
}

func requireStep(t *testing.T, want *lookahead) {
	t.Helper()
	s := want.study(t)
	world, err := fabric.NewWorld(s)
	require.NoError(t, err)
	degrees := world.Degrees()
	for n, ok := range want.Mask {
		require.Equal(t, ok == 1, slices.Contains(degrees, n), "degree %d", n)
	}
	if want.Masked {
		return
	}
	parted := s.Parted(0, want.Action)
	g := parted.Graph
	require.Equal(t, [2]int{want.Nodes, want.Edges}, [2]int{len(g.Ops), len(g.Deps)})
	if want.NodesSHA != "" {
		require.Equal(t, want.NodesSHA, sum(len(g.Ops), func(k int) string {
			pass := "f"
			if g.Backward(&g.Ops[k]) {
				pass = "b"
			}
			return fmt.Sprintf("%s %s %s %s", g.Ops[k].Name(), python(g.Ops[k].Compute), python(g.Ops[k].Memory), pass)
		}))
		require.Equal(t, want.EdgesSHA, sum(len(g.Deps), func(k int) string {
			d := g.Deps[k]
			return fmt.Sprintf("%s %s %s", g.Ops[d.From].Name(), g.Ops[d.To].Name(), python(d.Size))
		}))
	}
	site := fabric.Site{Network: s.Network, Memory: s.Options.Memory, Free: func(int) bool { return true },
		Forward: true}
	placed, err := fabric.Place(&site, parted)
	require.Equal(t, want.Placed, err == nil, "%v", err)
	if err != nil {
		return
	}
	timing := s.Timing()
	step, err := timing.Run(placed)
	require.NoError(t, err)
	requireRun(t, want, s, placed, step)
}

func requireRun(t *testing.T, want *lookahead, s *fabric.Study, p *fabric.Placed, step *fabric.Step) {
	t.Helper()
	g := p.Parted.Graph
	var names []string
	for _, server := range p.Servers {
		names = append(names, s.Network.Name(server))
	}
	require.Equal(t, want.Servers, names)
	require.Equal(t, want.Channels, p.Lanes)
	var rows []string
	for k := range g.Ops {
		rows = append(rows, g.Ops[k].Name()+" "+s.Network.Name(p.Server[k]))
	}
	slices.Sort(rows)
	require.Equal(t, want.PlacedSHA, sum(len(rows), func(k int) string { return rows[k] }))
	require.Equal(t, want.MaxTime, slices.Max(p.Work))
	require.Equal(t, want.TimesSHA, sum(len(g.Deps), func(k int) string {
		d := g.Deps[k]
		return fmt.Sprintf("%s %s %s", g.Ops[d.From].Name(), g.Ops[d.To].Name(), python(p.Work[k]))
	}))
	for k, tick := range want.TicksHead {
		require.Equal(t, tick, [2]float64{float64(step.Ticks[k].Computing), step.Ticks[k].Length}, "tick %d", k)
	}
	require.Len(t, step.Ticks, want.Ticks)
	steps := float64(want.Steps)
	require.Equal(t, want.JCT, step.Time*steps)
	require.Equal(t, want.Comm, step.Transfer*steps)
	require.Equal(t, want.Comp, step.Compute*steps)
	if want.Accepted {
		require.Equal(t, want.Busy, step.Busy(len(p.Servers), step.Time*steps))
	}
	require.InEpsilon(t, 1+want.Flow, 1+p.Flow, 1e-12)
}

func sum(n int, row func(k int) string) string {
	rows := make([]string, n)
	for k := range rows {
		rows[k] = row(k)
	}
	hash := sha256.Sum256([]byte(strings.Join(rows, "\n")))
	return hex.EncodeToString(hash[:])
}

// python formats a float as Python does.
func python(x float64) string {
	if a := math.Abs(x); x == 0 || a >= 1e-4 && a < 1e16 {
		text := strconv.FormatFloat(x, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	}
	return strconv.FormatFloat(x, 'e', -1, 64)
}
