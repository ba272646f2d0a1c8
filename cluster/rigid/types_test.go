package rigid

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/failures"
)

func TestTypesOfGPUs(t *testing.T) {
	good := GPUType{Name: "a100", Nodes: 2, Speed: 2, Models: []string{"bert"}, ModelSpeeds: []float64{2.5}}
	for want, change := range map[string]func(o *Options, one *GPUType){
		`types: entry 1: name is ""`:                        func(_ *Options, one *GPUType) { one.Name = "" },
		`types: entry 1: name is "a|b"`:                     func(_ *Options, one *GPUType) { one.Name = "a|b" },
		"types: entry 1: nodes is 0; must be between 1 and": func(_ *Options, one *GPUType) { one.Nodes = 0 },
		"types: entry 1: speed is -1; must be above 0":      func(_ *Options, one *GPUType) { one.Speed = -1 },
		"model_speeds has 1 entries for 0 models":           func(_ *Options, one *GPUType) { one.Models = nil },
		"model_speeds has an entry 0; must be above 0": func(_ *Options, one *GPUType) {
			one.ModelSpeeds = []float64{0}
		},
		`duplicate model "bert"; remove one`: func(_ *Options, one *GPUType) {
			one.Models, one.ModelSpeeds = []string{"bert", "bert"}, []float64{1, 2}
		},
		"nodes is 3, but types has 2 nodes; remove nodes": func(o *Options, _ *GPUType) { o.Nodes = 3 },
		"nodes is 2, but vc_file lists the nodes too":     func(o *Options, _ *GPUType) { o.VCFile = "vc.csv" },
		"gpus_per_node is 65; must be between 1 and 64":   func(_ *Options, one *GPUType) { one.PerNode = 65 },
		"Lucid's simulator has no types of GPUs; remove":  func(o *Options, _ *GPUType) { o.Compat = CompatLucid },
		`types: duplicate name "A100"; rename or remove`: func(o *Options, _ *GPUType) {
			o.Types = append(o.Types, GPUType{Name: "A100", Nodes: 1})
		},
		"types has 65 entries; expected at most 64": func(o *Options, _ *GPUType) { o.Types = make([]GPUType, 65) },
	} {
		o := Options{Types: []GPUType{good}}
		o.EnsureDefaults()
		change(&o, &o.Types[0])
		require.ErrorContains(t, o.Validate(), want)
	}
	o := Options{Types: []GPUType{good}, Nodes: 2}
	o.EnsureDefaults()
	require.NoError(t, o.Validate())
	f := File{Cluster: o, Failures: failures.Options{SpareNodes: 1}}
	require.ErrorContains(t, f.Validate(), "spare nodes have no type; remove spare_nodes or cluster.types")
	f = File{Cluster: o, Training: Training{Models: []string{"bert"}, Networks: []string{"MLP"}}}
	require.ErrorContains(t, f.Validate(), "remove the section training or cluster.types")
}
