package world

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"graft/cluster/node"
	"graft/internal/validate"
)

// Machine describes the GPUs. Paths use the operating system's syntax. Relative paths are looked up in the working
// directory first, then in the folder of the file.
type Machine struct {
	GPUs   int     `config:"gpus"`      // Number of identical GPUs. Default 4. Cannot be combined with memories_mb.
	Memory float64 `config:"memory_mb"` // Memory per GPU in MiB. Default 16384. Cannot be combined with memories_mb.
	// Memory of each GPU in MiB, for a machine whose GPUs differ. Cannot be combined with gpus or memory_mb. Empty
	// means identical GPUs, set by gpus and memory_mb.
	Memories []float64 `config:"memories_mb"`
	// Relative speed of each GPU that memories_mb lists; task durations are divided by it. Empty means 1 for each GPU.
	Speeds []float64
	// Maximum number of tasks that run on a GPU at the same time. Zero means no limit.
	Together int `config:"max_tasks_per_gpu,was=together"`
	// Rule for learned schedulers: "shared" lets them start tasks that together request up to 150% of a GPU's cores,
	// and that then run more slowly; "whole" makes a task wait until enough cores are free. Built-in schedulers always
	// wait for free cores. Default "shared".
	Cores string `config:",one=shared|whole"`
	// Slowdown coefficient of tasks on the same GPU, from 0 to 10: the speed of a task is divided by 1 + contention ×
	// (cores that other tasks use / cores of the GPU). Default 0.
	Contention float64
	// Path of colocate_info.csv, which 'graft node profile' writes. For each pair of task kinds, the file holds the
	// measured slowdowns of two tasks that share a GPU. Under built-in schedulers, tasks share a GPU only if they
	// together request at most 100% of its cores. Empty means no measured slowdowns.
	Profiles string `config:",path" result:"contents"`
	// Method of preempting a task: "signal" pauses its processes, which keep their memory and their GPU; "checkpoint"
	// ends them and restarts them later on any GPU. Default "signal".
	Stop   string        `config:",one=signal|checkpoint"`
	Switch time.Duration // Time that a preempted task loses when it resumes. Default 0.
	Empty  float64       `config:"empty_watts"`  // Power of a GPU without tasks, in watts. Default 25.
	Active float64       `config:"active_watts"` // Power of a GPU with tasks but no busy cores, in watts. Default 60.
	Full   float64       `config:"full_watts"`   // Power of a GPU with all cores in use, in watts. Default 250.
	// Reference simulator: "tasks" reproduces the packing environment of a published study of GPU schedulers, including
	// its workload generator, rewards and bugs; "none" is graft's own simulator. Default "none".
	Compat string `config:",one=none|tasks"`
}

// Values of [Machine] keys.
const (
	coresShared = "shared"
	coresWhole  = "whole"
	stopSignal  = "signal"
	compatNone  = "none"
	// CompatTasks reproduces the packing environment of a published study; see [RegisterStudy].
	CompatTasks = "tasks"
)

// EnsureDefaults fills in defaults.
func (m *Machine) EnsureDefaults() {
	m.Cores, m.Stop, m.Compat = cmp.Or(m.Cores, coresShared), cmp.Or(m.Stop, stopSignal), cmp.Or(m.Compat, compatNone)
	if len(m.Memories) == 0 {
		m.GPUs, m.Memory = cmp.Or(m.GPUs, 4), cmp.Or(m.Memory, 16384)
	}
	power := node.Power{Empty: m.Empty, Active: m.Active, Full: m.Full}
	power.EnsureDefaults()
	m.Empty, m.Active, m.Full = power.Empty, power.Active, power.Full
}

// Validate returns an error that lists every invalid option.
func (m Machine) Validate() error {
	var faults validate.Faults
	faults.When(len(m.Memories) > 0 && (m.GPUs != 0 || m.Memory != 0),
		"memories_mb is set together with gpus or memory_mb; remove one of them")
	faults.When(len(m.Speeds) > 0 && len(m.Speeds) != len(m.Memories),
		"speeds has %d values, but memories_mb has %d; expected one of each per GPU", len(m.Speeds), len(m.Memories))
	faults.When(!(m.Contention >= 0 && m.Contention <= 10), "contention is %v; must be from 0 to 10", m.Contention)
	o := m.options()
	if err := o.Validate(); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// options returns the options of the simulation.
func (m *Machine) options() node.Options {
	o := node.Options{GPUs: m.GPUs, Memory: m.Memory, Together: m.Together, Whole: m.Cores == coresWhole,
		Keep: m.Stop == stopSignal, Switch: m.Switch, Power: node.Power{Empty: m.Empty, Active: m.Active, Full: m.Full}}
	for k, memory := range m.Memories {
		d := node.Device{Memory: memory, Speed: 1}
		if k < len(m.Speeds) {
			d.Speed = m.Speeds[k]
		}
		o.Devices = append(o.Devices, d)
	}
	o.EnsureDefaults()
	return o
}

// smallest is the memory of the smallest GPU, MiB.
func (m *Machine) smallest() float64 {
	if len(m.Memories) > 0 {
		return slices.Min(m.Memories)
	}
	return m.Memory
}

// largest is the memory of the largest GPU, MiB.
func (m *Machine) largest() float64 {
	if len(m.Memories) > 0 {
		return slices.Max(m.Memories)
	}
	return m.Memory
}

// alike reports whether all GPUs are equal and no task slows another, as the search of best schedules requires.
func (m *Machine) alike() bool {
	return m.Cores == coresWhole && m.Contention == 0 && m.Profiles == "" && len(m.Memories) == 0
}
