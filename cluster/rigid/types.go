package rigid

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"graft/cluster"
	"graft/cluster/study"
	"graft/cluster/trace"
	"graft/internal/validate"
	"graft/internal/words"
)

// GPUType is a type of GPUs.
type GPUType struct {
	// Name of the type, as in the trace. Upper and lower case do not matter.
	Name string
	// Number of nodes with GPUs of this type. Zero means that cluster.vc_file lists them.
	Nodes int
	// Number of GPUs per node of this type, at most 64. Zero means the number in cluster.vc_file or, if the file has
	// none, cluster.gpus_per_node.
	PerNode int `config:"gpus_per_node" json:",omitempty"`
	// Number of processors per node of this type. Zero means cluster.cpus_per_node.
	CPUs int `config:"cpus_per_node" json:",omitempty"`
	// Memory per node of this type in MiB. Zero means cluster.memory_mb_per_node.
	Memory int64 `config:"memory_mb_per_node" json:",omitempty"`
	// Speed of jobs on this type relative to the other types. Zero means 1.
	Speed float64
	// Models in the trace whose jobs have another speed on this type. May be empty.
	Models []string
	// Speed of each model at the same position of models, instead of speed.
	ModelSpeeds []float64
}

// validate returns the first fault of a type whose nodes are listed here or in a file.
func (t *GPUType) validate(file bool) error {
	var faults validate.Faults
	faults.When(strings.TrimSpace(t.Name) == "" || strings.Contains(t.Name, "|"),
		"name is %q; expected the name of a type of GPUs, without vertical bars", t.Name)
	if file {
		faults.When(t.Nodes != 0, "nodes is %d, but vc_file lists the nodes too; remove one of them", t.Nodes)
	} else {
		faults.When(t.Nodes < 1 || t.Nodes > trace.MaxNodes, "nodes is %d; must be between 1 and %d", t.Nodes,
			trace.MaxNodes)
	}
	faults.When(t.PerNode < 0 || t.PerNode > trace.MaxPerNode, "gpus_per_node is %d; must be between 1 and %d",
		t.PerNode, trace.MaxPerNode)
	faults.When(t.CPUs < 0 || t.Memory < 0 || t.CPUs > math.MaxInt32 || t.Memory > math.MaxInt32, "cpus_per_node "+
		"is %d and memory_mb_per_node is %d; both must be between 0 and %d", t.CPUs, t.Memory, math.MaxInt32)
	faults.Unless(t.Speed >= 0 && t.Speed <= mostSpeed, "speed is %g; must be above 0 and at most %g", t.Speed,
		float64(mostSpeed))
	faults.When(len(t.Models) != len(t.ModelSpeeds), "model_speeds has %d entries for %d models; expected one for each",
		len(t.ModelSpeeds), len(t.Models))
	for _, speed := range t.ModelSpeeds {
		faults.Unless(speed > 0 && speed <= mostSpeed, "model_speeds has an entry %g; must be above 0 and at most %g",
			speed, float64(mostSpeed))
	}
	for k, m := range t.Models {
		for _, other := range t.Models[:k] {
			faults.When(m == other, "duplicate model %q; remove one", m)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return faults[0]
}

// mostSpeed limits the speeds of types, so that times stay in range.
const mostSpeed = 1e6

// mostTypes is the maximum number of types.
const mostTypes = 64

// validateTypes returns the faults of the types of GPUs.
func (o *Options) validateTypes() (faults validate.Faults) {
	faults.When(len(o.Types) > mostTypes, "types has %d entries; expected at most %d", len(o.Types), mostTypes)
	if len(o.Types) == 0 {
		return faults
	}
	seen := map[string]bool{}
	for k := range o.Types {
		t := &o.Types[k]
		if err := t.validate(o.VCFile != ""); err != nil {
			faults = append(faults, fmt.Errorf("types: entry %d: %w", k+1, err))
		}
		name := strings.ToLower(t.Name)
		faults.When(seen[name], "types: duplicate name %q; rename or remove one", t.Name)
		seen[name] = true
	}
	faults.When(o.VCFile == "" && o.Nodes != 0 && o.Nodes != o.typedNodes(), "nodes is %d, but types has %d nodes; "+
		"remove nodes", o.Nodes, o.typedNodes())
	faults.When(o.Compat == CompatLucid, "compat is \"lucid\", but Lucid's simulator has no types of GPUs; remove "+
		"compat or types")
	return faults
}

// typedNodes returns the number of nodes of all types.
func (o *Options) typedNodes() (sum int) {
	for _, t := range o.Types {
		sum += min(max(0, t.Nodes), math.MaxInt32)
	}
	return sum
}

// types returns the types of the nodes of virtual clusters, or of the undivided cluster if there are none.
func (o *Options) types(vcs []trace.VC) (list []cluster.NodeType) {
	for _, t := range o.Types {
		one := cluster.NodeType{Name: t.Name, Nodes: map[string]int{}, Speed: t.Speed, GPUs: t.PerNode,
			CPUs: t.CPUs, Memory: t.Memory}
		if vcs == nil {
			one.Nodes[undividedName] = t.Nodes
		}
		for _, vc := range vcs {
			for _, of := range vc.Types {
				if strings.EqualFold(of.Name, t.Name) {
					one.Nodes[vc.Name], one.GPUs = of.Nodes, cmp.Or(one.GPUs, of.GPUs)
				}
			}
		}
		for k, model := range t.Models {
			if one.Speeds == nil {
				one.Speeds = map[string]float64{}
			}
			one.Speeds[model] = t.ModelSpeeds[k]
		}
		list = append(list, one)
	}
	return list
}

// checkTypes compares the types of GPUs with the types of the nodes in a file of virtual clusters.
func (o *Options) checkTypes(vcs []trace.VC, path string) error {
	sizes, seen := make([]int, len(o.Types)), make([]bool, len(o.Types))
	for _, vc := range vcs {
		if len(o.Types) > 0 && vc.Types == nil {
			return invalid("%s has no types of GPUs; add the column \"type\", or remove cluster.types", path)
		}
		for _, of := range vc.Types {
			k := slices.IndexFunc(o.Types, func(t GPUType) bool { return strings.EqualFold(of.Name, t.Name) })
			if k < 0 {
				return invalid("virtual cluster %q in %s has nodes of type %q; add a section [[cluster.types]] "+
					"with this name, or remove the column \"type\"", vc.Name, path, of.Name)
			}
			if other := cmp.Or(o.Types[k].PerNode, sizes[k]); other > 0 && of.GPUs > 0 && other != of.GPUs {
				return invalid("nodes of type %q have %d GPUs in virtual cluster %q of %s, but %d in "+
					"cluster.types or in another virtual cluster; correct one of them, or give nodes of different "+
					"sizes different types", of.Name, of.GPUs, vc.Name, path, other)
			}
			sizes[k], seen[k] = of.GPUs, true
		}
	}
	if k := slices.Index(seen, false); k >= 0 {
		return invalid("%s has no nodes of type %q; remove the type, or correct its name", path, o.Types[k].Name)
	}
	return nil
}

// validateTypes returns an error for sections that types of GPUs exclude.
func (f *File) validateTypes() error {
	if len(f.Cluster.Types) == 0 {
		return nil
	}
	if f.Failures.SpareNodes > 0 {
		return fmt.Errorf("failures.spare_nodes is %d, but spare nodes have no type; remove spare_nodes or "+
			"cluster.types", f.Failures.SpareNodes)
	}
	if len(f.Training.Models) > 0 {
		return fmt.Errorf("training.models is set, but training.profile has the step times of a single type of GPUs; " +
			"remove the section training or cluster.types")
	}
	return nil
}

// typesText describes the types of GPUs of a plan, and the jobs that ran on other types in the traces.
func (s *simulations) typesText() string {
	o := &s.Cluster
	var parts []string
	sums := make([]int, len(o.Types))
	for k := range s.workloads[0].base.VCs {
		_, byType := s.workloads[0].base.Devices(&s.workloads[0].base.VCs[k])
		for i, n := range byType {
			sums[i] += n
		}
	}
	for k, t := range o.Types {
		parts = append(parts, fmt.Sprintf("%s of %s", words.Plural(sums[k], "GPU"), t.Name))
	}
	text := "Types of GPUs: " + strings.Join(parts, ", ") + "."
	other, names := 0, map[string]bool{}
	for _, w := range s.workloads {
		for k := range w.base.Jobs {
			if j := &w.base.Jobs[k]; o.onOtherType(j) {
				other++
				names[j.GPUType] = true
			}
		}
	}
	if other > 0 {
		text += fmt.Sprintf(" In the trace, %s ran on types that are not among them (%s); their durations count as "+
			"times on %s. If these are other names of the same types, use the names of the trace in cluster.types.",
			words.Plural(other, "job"), words.Some(slices.Sorted(maps.Keys(names)), 4), o.Types[0].Name)
	}
	return text
}

// onOtherType reports whether a job ran on a type that the cluster does not have. Jobs that require such a type are
// left out anyway.
func (o *Options) onOtherType(j *trace.Job) bool {
	if j.GPUType == "" || j.NeedsType {
		return false
	}
	for name := range strings.SplitSeq(j.GPUType, "|") {
		if slices.ContainsFunc(o.Types, func(t GPUType) bool { return strings.EqualFold(t.Name, name) }) {
			return false
		}
	}
	return true
}

// typeParts computes the metrics of jobs by the type of their last GPUs.
func typeParts(o *cluster.Outcome, z *cluster.Summarizer, memory []*cluster.Job) (parts []study.Part) {
	for _, t := range o.Types {
		keep := func(j *cluster.Job) bool { return o.TypeOf(j) == t.Name }
		if v := groupValues(o, z, memory, keep); v != nil {
			parts = append(parts, study.Part{Group: "GPU type", Name: t.Name, Values: v})
		}
	}
	return parts
}
