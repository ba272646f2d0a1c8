package config

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"graft/cluster"
	"graft/cluster/node"
	"graft/cluster/node/agent"
	"graft/cluster/node/schedulers"
	"graft/config/decode"
	"graft/internal/files"
	"graft/learn/candidates"
	"graft/torch/weights"
)

// Streams of random numbers of a seed.
const (
	traceStream = 1 << 40
	taskStream  = 1 << 41
)

// seeded is a stream of random numbers.
func seeded(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// NodeScheduler is a scheduler of a machine's tasks, which may have been learned.
type NodeScheduler struct {
	node.Kind
	Seeds []node.Kind // of a run folder: what each seed learned; nil for others

	digest string // of what was learned; empty where nothing was
}

// Learned reports whether the scheduler was learned.
func (s *NodeScheduler) Learned() bool { return s.digest != "" }

// ReadNodeScheduler reads a learned scheduler: a file, or a run folder of 'graft learn'. Its name is the
// last part of the path.
func ReadNodeScheduler(fsys files.FS, path string) (s NodeScheduler, err error) {
	s.Kind, s.Seeds, s.digest, err = readScheduler(fsys, path, func(name string, set *weights.Set) (node.Kind, error) {
		p, err := agent.ReadPolicy(set)
		if err != nil {
			return node.Kind{}, err
		}
		return agent.SchedulerOf(name, p.Agent), nil
	})
	return s, err
}

// readNodeSchedulers finds schedulers by name, and reads learned ones.
func readNodeSchedulers(fsys files.FS, r *decode.Reading, names []string) (all []NodeScheduler) {
	for _, name := range names {
		kind, err := schedulers.Named(name)
		s := NodeScheduler{Kind: kind}
		if err != nil && ofStudy(name) {
			r.Blame("schedule.schedulers",
				name+" is a scheduler of the published study; set machine.compat = \"tasks\", or name another")
			return nil
		}
		if err != nil {
			s, err = ReadNodeScheduler(fsys, name)
		}
		if err == nil && slices.ContainsFunc(all, func(other NodeScheduler) bool { return other.Name == s.Name }) {
			err = fmt.Errorf("two schedulers have the name %s; rename the folder or the file of one", s.Name)
		}
		if err != nil {
			r.Blame("schedule.schedulers", r.Elsewhere("schedule.schedulers", err).Error())
			return nil
		}
		all = append(all, s)
	}
	return all
}

// Rivals are the schedulers to compare: those of the file, or all that need no learning.
func (n *Node) Rivals() []NodeScheduler {
	if len(n.Schedule.Schedulers) > 0 {
		return n.rivals
	}
	var all []NodeScheduler
	for _, k := range schedulers.Kinds() {
		all = append(all, NodeScheduler{Kind: k})
	}
	return all
}

// Options returns the options of the machine, with defaults.
func (n *Node) Options() node.Options {
	o := n.Machine.options()
	o.EnsureDefaults()
	return o
}

// readSpeed reads the measured pairs, and reports whether all is right.
func (n *Node) readSpeed(fsys files.FS, r *decode.Reading) bool {
	shares := node.Shares{Contention: n.Machine.Contention}
	n.speed = shares
	if n.Machine.Profiles == "" {
		return true
	}
	pairs, err := cluster.ReadPairs(fsys, n.Machine.Profiles)
	if err == nil && len(pairs) == 0 {
		err = fmt.Errorf("%s has no measured pair; leave out machine.profiles, or name a file with rows",
			n.Machine.Profiles)
	}
	if err != nil {
		r.Blame("machine.profiles", r.Elsewhere("machine.profiles", err).Error())
		return false
	}
	measured := map[node.Pair][2]float64{}
	for of, rates := range pairs {
		measured[node.Pair{of[0].String(), of[1].String()}] = rates
	}
	n.speed = node.Pairs{Measured: measured, Otherwise: shares}
	return true
}

func (n *Node) study(specs []node.Spec) node.Study {
	return node.Study{Tasks: specs, Speed: n.speed, Options: n.Options()}
}

// Purposes of workloads.
const (
	toLearn = iota
	toChoose
	toCompare
)

// Studies are the workloads to compare on: the tasks of the file, or generated ones.
func (n *Node) Studies() []node.Study {
	if len(n.Task) > 0 {
		return []node.Study{n.study(n.specs)}
	}
	return n.workloads(toCompare, n.Tasks.TestCount)
}

// workloads draws workloads, or divides the tasks of the trace: those to learn from come first.
func (n *Node) workloads(purpose, count int) (all []node.Study) {
	if n.Tasks.From != "" {
		return n.divided(purpose)
	}
	g := n.Tasks.generator(n.Machine.memory())
	for k := range count {
		all = append(all, n.study(g.Draw(seeded(n.Tasks.Seed, taskStream+uint64(purpose)<<32+uint64(k)))))
	}
	return all
}

// divided are the workloads of a trace for a purpose. Arrivals begin anew in each.
func (n *Node) divided(purpose int) (all []node.Study) {
	counts := [...]int{toLearn: n.Tasks.TrainCount, toChoose: n.Tasks.ValidationCount, toCompare: n.Tasks.TestCount}
	parts := slices.Collect(slices.Chunk(n.specs, n.Tasks.Most))
	for k := range purpose {
		parts = parts[min(len(parts), counts[k]):]
	}
	for _, part := range parts[:min(len(parts), counts[purpose])] {
		specs := slices.Clone(part)
		for k := range specs {
			specs[k].Arrival -= part[0].Arrival
		}
		all = append(all, n.study(specs))
	}
	return all
}

// Objective is the cost that learning lowers.
func (n *Node) Objective() agent.Objective { return agent.Objective(n.Schedule.Objective) }

// Figures are the names of the values of a learner's figures.
func (n *Node) Figures() []string { return candidates.FigureNames() }

// Steps is the number of a learner's steps, at most.
func (n *Node) Steps() int { return n.Learn.Steps() }

// TeacherAndMethod are the scheduler that is imitated first, and what comes then.
func (n *Node) TeacherAndMethod() (teacher, method string) { return n.Learn.Teacher, n.Learn.Method }

// Learning returns the workloads to learn from and to choose by.
func (n *Node) Learning() (train, validation []node.Study) {
	return n.workloads(toLearn, n.Tasks.TrainCount), n.workloads(toChoose, n.Tasks.ValidationCount)
}

// CheckLearning refuses a file whose schedulers cannot learn.
func (n *Node) CheckLearning() error {
	train, validation := n.Learning()
	switch {
	case len(n.Task) > 0:
		return errors.New("learn a scheduler: the file has tables [[task]], which are one workload; leave them out, " +
			"so that tasks are generated, or name a trace in tasks.from")
	case len(train) == 0 || len(validation) == 0:
		return fmt.Errorf("learn a scheduler: the trace gives %d workloads to learn from and %d of validation; "+
			"lower tasks.most, tasks.train_count or tasks.validation_count", len(train), len(validation))
	}
	return nil
}

// Learner makes the learner of a seed.
func (n *Node) Learner(seed uint64) (candidates.SchedulerLearner, error) {
	train, validation := n.Learning()
	return agent.NewLearner(train, validation, n.Objective(), n.Learn, seed)
}
