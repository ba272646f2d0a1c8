package rewrite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/model/pt2"
	"graft/torch"
	"graft/tracing/axes"
)

const archives = "../../../shared/reference/import/cases"

// archive is a network that PyTorch exported, with an input.
type archive struct {
	Name   string
	Inputs []struct {
		Shape  []int
		DType  string
		Values []float64
	}
	net *graph.Imported
}

func readArchives(t *testing.T) []archive {
	paths, _ := filepath.Glob(filepath.Join(archives, "*.json"))
	if len(paths) == 0 {
		t.Skip("left out: surgery on archives of PyTorch; " + archives + " is not here")
	}
	var all []archive
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var a archive
		require.NoError(t, json.Unmarshal(text, &a))
		data, err := os.ReadFile(strings.TrimSuffix(path, ".json") + ".pt2")
		require.NoError(t, err)
		a.net, err = pt2.Read(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		all = append(all, a)
	}
	return all
}

func (a archive) forward(t *testing.T, s *torch.Scope, n *graph.Network) []float64 {
	in := a.Inputs[0]
	x := torch.From(s, in.Values, in.Shape...)
	dtype := torch.Float32
	if in.DType == "int64" {
		dtype = torch.Int64
	}
	p, err := n.Program(s, torch.ProgramOptions{})
	require.NoError(t, err)
	out := p.Forward(s, s.To(x, dtype, torch.CPU), false, nil)
	require.NoError(t, s.Err())
	values, err := torch.Values[float64](s.To(s.Detach(out), torch.Float64, torch.CPU))
	require.NoError(t, err)
	return values
}

// Widening any axis and repeating any block keeps the function of an imported network.
func TestArchivesGrow(t *testing.T) {
	var report []string
	for _, a := range readArchives(t) {
		report = append(report, growAll(t, a.Name, a.net,
			func(s *torch.Scope, n *graph.Network) []float64 { return a.forward(t, s, n) })...)
	}
	slices.Sort(report)
	golden(t, "testdata/archives.golden", strings.Join(report, "\n")+"\n")
}

// growAll widens every axis and repeats every block of a network. It reports each operation, with the error if it is
// refused.
func growAll(t *testing.T, name string, net *graph.Imported,
	forward func(s *torch.Scope, n *graph.Network) []float64) (report []string) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, err := net.Graph.Bind(s, torch.CPU, net.Weights)
		require.NoError(t, err)
		want := forward(s, n)
		read, err := axes.Read(n.Graph)
		require.NoError(t, err)
		check := func(what string, p *Plan, err error) {
			if err != nil {
				report = append(report, fmt.Sprintf("%s, %s: %v", name, what, err))
				return
			}
			grown, err := p.Grow(s, n)
			require.NoError(t, err, "%s, %s", name, what)
			assert.Less(t, distance(want, forward(s, grown)), 2e-5, "%s, %s", name, what)
			report = append(report, fmt.Sprintf("%s, %s", name, what))
		}
		for k, axis := range read.List() {
			if axis.Fixed != "" || slices.ContainsFunc(read.Uses,
				func(u axes.Use) bool { return u.Kind == axes.Looks && u.Term.Has(axis) }) {
				continue
			}
			for _, to := range []int{axis.Size + max(1, axis.Size/2), 2 * axis.Size} {
				p, err := Widen(read, axis, to, Options{Spread: 0.5, Seed: uint64(k), Partition: to%2 == 0})
				check(fmt.Sprintf("widen %s from %d to %d", read.Name(axis), axis.Size, to), p, err)
			}
		}
		blocks, others := Blocks(read)
		for _, b := range blocks {
			p, err := Deepen(read, b.Path, ZeroBranches)
			check("deepen "+b.Path, p, err)
			if p, err := Deepen(read, b.Path, OppositeBranches); err == nil {
				check("deepen "+b.Path+" by pairs", p, nil)
			}
		}
		for path, err := range others {
			report = append(report, fmt.Sprintf("%s, deepen %s: %v", name, path, err))
		}
		return nil
	}))
	return report
}
