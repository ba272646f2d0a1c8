package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"graft/cluster/node"
	"graft/cluster/node/agent"
	"graft/cluster/node/schedulers"
	"graft/config/decode"
	"graft/internal/files"
	"graft/learn"
	"graft/learn/candidates"
	"graft/report/document"
)

// NodeKind is the kind of files with the section machine.
var NodeKind = &Kind{
	Name: "node", Noun: "tasks of one machine", Command: "graft node", Files: "files of tasks of one machine",
	Title: "tasks of one machine", Sections: []string{"machine", "task", "tasks"},
	New: func() File { return NewNode() }, Summary: summaryOf((*Node).Summary),
	Page: Page{Title: "Keys of the file of a machine's tasks",
		Intro: "A file with the section `machine`, for `graft node`, " +
			"and for `graft learn` where its tasks are generated.\nSee [one machine's tasks](node.md).\n"},
}

// Node is the file of the tasks of one machine: the machine, its tasks and schedulers.
type Node struct {
	Machine  MachineOptions     // GPUs of the machine
	Task     []NodeTask         // tasks, each a table [[task]]; empty generates them
	Tasks    NodeTasks          // tasks that are generated
	Schedule NodeSchedule       // schedulers
	Executor ExecutorOptions    // how 'graft node run' runs tasks
	Learn    candidates.Options `config:",omit=slots"` // options of the learner of 'graft learn'
	Run      learn.RunOptions   // seeds of 'graft learn', and the run folder of all commands

	sources
	speed  node.Speed
	specs  []node.Spec
	rivals []NodeScheduler
	fsys   files.FS
}

// MachineOptions describe the GPUs. Paths are those of the operating system, from the working folder or,
// where nothing is there, from that of the file.
type MachineOptions struct {
	GPUs     int       `config:"gpus"`        // number of equal GPUs; zero means 4
	Memory   float64   `config:"memory_mb"`   // of each, MiB; zero means 16384
	Memories []float64 `config:"memories_mb"` // of unequal GPUs, MiB, in place of gpus and memory_mb
	Speeds   []float64 // of GPUs with memories_mb, by which the durations of tasks are divided; empty means 1 for each
	Together int       // tasks on a GPU at a time; zero means no limit
	// Cores is shared where tasks on a GPU may ask for more than all of its cores, which slows them, and
	// whole where they may not. Empty means shared.
	Cores string `config:",one=shared|whole"`
	// share of its speed that a task loses for each GPU's worth of cores that others use beside it; zero means none
	Contention float64
	// Profiles is a file of measured pairs, colocate_info.csv as 'graft node profile' writes it: tasks of
	// the kinds in it slow one another as measured. Empty means none.
	Profiles string `result:"contents"`
	// Stop is the way to stop a task: signal pauses its processes, which keep their memory and their GPU, checkpoint
	// ends them and starts them again later, anywhere. Empty means signal.
	Stop   string        `config:",one=signal|checkpoint"`
	Switch time.Duration // time that a stopped task loses when it goes on later; zero means none
	Empty  float64       `config:"empty_watts"`  // power of a GPU without tasks; zero means 25
	Active float64       `config:"active_watts"` // power of a GPU with an idle task; zero means 60
	Full   float64       `config:"full_watts"`   // power of a GPU with all cores in use; zero means 250
	// Compat reproduces another simulator: tasks is the packing environment of a published study of GPU
	// schedulers with its generator, rewards and faults, in which PPO learns as published; none is graft's.
	// Empty means none.
	Compat string `config:",one=none|tasks"`
}

// Words of [MachineOptions]. With CoresWhole tasks on a GPU have at most all of its cores together.
const (
	coresShared    = "shared"
	CoresWhole     = "whole"
	stopSignal     = "signal"
	stopCheckpoint = "checkpoint"
	// CompatTasks is the packing environment of a published study.
	CompatTasks = "tasks"
)

// EnsureDefaults fills in what zero stands for.
func (o *MachineOptions) EnsureDefaults() {
	o.Cores, o.Stop, o.Compat = cmp.Or(o.Cores, coresShared), cmp.Or(o.Stop, stopSignal), cmp.Or(o.Compat, CompatNone)
	if len(o.Memories) == 0 {
		o.GPUs, o.Memory = cmp.Or(o.GPUs, 4), cmp.Or(o.Memory, 16384)
	}
	power := node.Power{Empty: o.Empty, Active: o.Active, Full: o.Full}
	power.EnsureDefaults()
	o.Empty, o.Active, o.Full = power.Empty, power.Active, power.Full
}

// Validate joins all that is wrong.
func (o MachineOptions) Validate() error {
	var faults faultList
	faults.when(len(o.Memories) > 0 && (o.GPUs != 0 || o.Memory != 0),
		"memories_mb is set beside gpus or memory_mb; leave out one of them")
	faults.when(len(o.Speeds) > 0 && len(o.Speeds) != len(o.Memories),
		"speeds has %d values and memories_mb %d; give one for each GPU", len(o.Speeds), len(o.Memories))
	faults.when(!(o.Contention >= 0 && o.Contention <= 10), "contention is %v; must be from 0 to 10", o.Contention)
	options := o.options()
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// options returns the options of the simulation.
func (o *MachineOptions) options() node.Options {
	n := node.Options{GPUs: o.GPUs, Memory: o.Memory, Together: o.Together, Whole: o.Cores == CoresWhole,
		Keep: o.Stop == stopSignal, Switch: o.Switch, Power: node.Power{Empty: o.Empty, Active: o.Active, Full: o.Full}}
	for k, memory := range o.Memories {
		d := node.Device{Memory: memory, Speed: 1}
		if k < len(o.Speeds) {
			d.Speed = o.Speeds[k]
		}
		n.Devices = append(n.Devices, d)
	}
	return n
}

// NodeTasks say how tasks are generated where the file has none.
type NodeTasks struct {
	Least int           // tasks of a workload, at least; zero means 40
	Most  int           // tasks of a workload, at most; zero means 50
	Unit  time.Duration // of the durations of the types of tasks; zero means 1s
	// mean time between arrivals of a Poisson process; zero lets all tasks arrive at the beginning
	Interval time.Duration
	// From is the trace of a cluster, of any format that 'graft trace' reads. Its jobs with at most one GPU
	// arrive and last as they did there, and are divided in their order into workloads of most tasks; cores
	// and memory are drawn where the trace does not have them. Empty means none.
	From string `result:"contents"`
	// relative error of what schedulers know of durations, drawn evenly in ± of it, from 0 to below 1; zero
	// means none
	EstimateError   float64
	Seed            uint64 // of what is drawn; default 1
	TrainCount      int    // workloads to learn from; zero means 100
	ValidationCount int    // workloads that choose what is learned; zero means 20
	TestCount       int    // workloads on which schedulers are compared; zero means 20
}

// EnsureDefaults fills in what zero stands for.
func (o *NodeTasks) EnsureDefaults() {
	g := o.generator(0)
	o.Least, o.Most, o.Unit = g.Least, g.Most, g.Unit
	o.TrainCount, o.ValidationCount, o.TestCount = cmp.Or(o.TrainCount, 100), cmp.Or(o.ValidationCount, 20),
		cmp.Or(o.TestCount, 20)
}

// Validate joins all that is wrong.
func (o NodeTasks) Validate() error {
	var faults faultList
	g := o.generator(1)
	if err := g.Validate(); err != nil {
		faults = append(faults, err)
	}
	faults.when(o.Most > mostGenerated, "most is %d; must be at most %d", o.Most, mostGenerated)
	for name, v := range map[string]int{"train_count": o.TrainCount, "validation_count": o.ValidationCount,
		"test_count": o.TestCount} {
		faults.when(v < 1 || v > mostWorkloads, "%s is %d; must be from 1 to %d", name, v, mostWorkloads)
	}
	return errors.Join(faults...)
}

// mostGenerated bounds the tasks of a workload, of which there may be many.
const mostGenerated = 100_000

func (o *NodeTasks) generator(memory float64) node.Generator {
	g := node.Generator{Least: o.Least, Most: o.Most, Unit: o.Unit, Interval: o.Interval, Error: o.EstimateError,
		Memory: memory}
	g.EnsureDefaults()
	return g
}

// NodeSchedule names the schedulers.
type NodeSchedule struct {
	// Schedulers to compare: fcfs, sjf, priority, backfill, first-fit, best-fit, least-loaded, smallest, round-robin,
	// lottery, stride, wfq, or learned ones, each a run folder of 'graft learn' or a file of its policies.
	// The first one runs real tasks. Empty means all that need no learning, and backfill for real tasks.
	Schedulers []string
	Quantum    time.Duration // slice of the schedulers that share GPUs in time; zero means 10s
	Aging      time.Duration // waiting time that counts as one step of priority; zero means 1m
	Seed       uint64        // of lotteries; default 1
	// Objective is the cost that learning lowers: completion is the mean time from arrival to completion,
	// energy-delay that time the energy of all GPUs. Empty means completion.
	Objective string `config:",one=completion|energy-delay"`
	Against   string // scheduler that differences are from; empty means best-fit where it is compared, else the first
	Workers   int    `result:"none"` // simulations in parallel; zero means one for each processor
}

// EnsureDefaults fills in what zero stands for, but for the schedulers, whose default depends on the command.
func (o *NodeSchedule) EnsureDefaults() {
	s := node.SchedulerOptions{Quantum: o.Quantum, Aging: o.Aging}
	s.EnsureDefaults()
	o.Quantum, o.Aging, o.Objective = s.Quantum, s.Aging, cmp.Or(o.Objective, string(agent.Completion))
}

// Validate joins all that is wrong.
func (o NodeSchedule) Validate() error {
	var faults faultList
	for k, name := range o.Schedulers {
		if ofStudy(name) {
			continue // check refuses it unless machine.compat is tasks
		}
		if _, err := schedulers.Named(name); err != nil && !isPath(name) {
			faults = append(faults, fmt.Errorf("schedulers[%d]: %w; or the path of a learned one, such as ./%s", k,
				err, name))
		}
		faults.when(slices.Contains(o.Schedulers[:k], name), "schedulers[%d]: %s is given twice", k, name)
	}
	faults.when(o.Quantum < time.Millisecond, "quantum is %v; must be at least 1ms", o.Quantum)
	faults.when(o.Aging < 0, "aging is %v; must not be negative", o.Aging)
	faults.when(o.Workers < 0, "workers is %d; must not be negative", o.Workers)
	return errors.Join(faults...)
}

// Options returns the options of schedulers.
func (o *NodeSchedule) Options(stream uint64) node.SchedulerOptions {
	return node.SchedulerOptions{Quantum: o.Quantum, Aging: o.Aging, Random: seeded(o.Seed, stream)}
}

// NewNode returns an empty file, before EnsureDefaults. Learning has more lessons, rounds and patience than
// that of elastic jobs, since an episode takes milliseconds.
func NewNode() *Node {
	return &Node{Learn: candidates.Options{Lessons: 40, Rounds: 200, Patience: 8}, Tasks: NodeTasks{Seed: 1},
		Schedule: NodeSchedule{Seed: 1}, Run: learn.RunOptions{Seed: 1, Every: 1}}
}

// ReadNode is NodeKind.Read.
func ReadNode(fsys files.FS, path string, set []string) (*Node, error) {
	return readAs[*Node](NodeKind, fsys, path, set)
}

// EnsureDefaults fills in what zero stands for.
func (n *Node) EnsureDefaults() {
	n.Machine.EnsureDefaults()
	n.Tasks.EnsureDefaults()
	n.Schedule.EnsureDefaults()
	n.Executor.EnsureDefaults()
	n.Learn.EnsureDefaults()
	n.Run.EnsureDefaults()
	for k := range n.Task {
		n.Task[k].EnsureDefaults()
	}
}

// Validate joins all that is wrong.
func (n *Node) Validate() error {
	return errors.Join(n.Machine.Validate(), n.Tasks.Validate(), n.Schedule.Validate(), n.Executor.Validate(),
		n.Learn.Validate(), agent.CheckTeacher(n.Learn.Teacher), n.Run.Validate())
}

// check reads the profiles, the tasks and the learned schedulers, and runs nothing.
func (n *Node) check(fsys files.FS, r *decode.Reading) {
	n.fsys = fsys
	if n.Validate() == nil && n.Published() {
		n.checkPublished(r)
		return
	}
	if n.Validate() != nil || !n.readSpeed(fsys, r) || !n.readTasks(fsys, r) {
		return
	}
	n.rivals = readNodeSchedulers(fsys, r, n.Schedule.Schedulers)
	if against := n.Schedule.Against; against != "" && len(n.Schedule.Schedulers) > 0 &&
		!slices.ContainsFunc(n.rivals, func(s NodeScheduler) bool { return s.Name == against }) {
		r.Blame("schedule.against", fmt.Sprintf("against is %s, which is not among the schedulers", against))
	}
}

// Resolved is the text of the file with every value.
func (n *Node) Resolved() string { return Resolved(n) }

// Digest covers what results depend on, the contents of the files too.
func (n *Node) Digest() string {
	return digest(n, func(w io.Writer) {
		fmt.Fprintln(w, n.specs, n.speed)
		for _, s := range n.rivals {
			fmt.Fprintln(w, s.digest)
		}
	})
}

// Summary is the tasks of a machine in a line. It checks commands, which only real tasks need.
func (n *Node) Summary() (string, error) {
	if err := n.checkCommands(); err != nil {
		return "", err
	}
	tasks := fmt.Sprintf("%s of %d to %d generated tasks", document.Plural(n.Tasks.TestCount, "workload"),
		n.Tasks.Least, n.Tasks.Most)
	switch {
	case len(n.Task) > 0:
		tasks = document.Plural(len(n.specs), "task")
	case n.Tasks.From != "":
		tasks = fmt.Sprintf("%s of %s", document.Plural(len(n.specs), "task"), n.Tasks.From)
	}
	names := n.Schedule.Schedulers
	if len(names) == 0 {
		names = []string{"all schedulers"}
	}
	o := n.Options()
	if n.Published() {
		return fmt.Sprintf("%s of the published study on %s under %s; digest %.12s",
			document.Plural(n.Tasks.TestCount, "episode"), document.Plural(len(o.Devices), "GPU"),
			strings.Join(n.PublishedSchedulers(), ", "), n.Digest()), nil
	}
	return fmt.Sprintf("%s on %s under %s; digest %.12s", tasks, document.Plural(len(o.Devices), "GPU"),
		strings.Join(names, ", "), n.Digest()), nil
}
