package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// measurement is a function that measures and prints, with its name on the command line.
type measurement struct {
	name, about string
	run         func(b *bench) error
	beside      bool // compared with PyTorch, on the problem in bench.folder
	all         bool // part of "bench all"
	rounds      int  // maximum in "bench all"; zero means no limit
}

// measurements are in the order in which "bench all" runs them.
func measurements() []measurement {
	return []measurement{
		{name: "step", about: "training steps and a chain of operators", beside: true, all: true,
			run: (*bench).trainingSteps},
		{name: "algebra", about: "training steps with linear algebra on one thread, and on several", rounds: 15,
			run: func(b *bench) error { return b.studyAlgebra(os.Stdout) }},
		{name: "blocks", about: "training steps that keep large blocks of memory, and that map them", rounds: 15,
			run: func(b *bench) error { return b.studyBlocks(os.Stdout) }},
		{name: "start", about: "processes that open LibTorch, with and without unused libraries", rounds: 15,
			run: func(b *bench) error { return b.studyStart(os.Stdout) }},
		{name: "job", about: "epochs with data and evaluation; the twin uses a DataLoader", beside: true, all: true,
			run: (*bench).job},
		{name: "epoch", about: "epochs with images on the device, on both sides", beside: true,
			run: (*bench).resident},
		{name: "gpt", about: "training steps of a GPT", beside: true, all: true, run: (*bench).gpts},
		{name: "stream", about: "images read from their files", beside: true, all: true, run: (*bench).streams},
		{name: "machines", about: "processes that train together over TCP", beside: true, all: true, rounds: 5,
			run: func(b *bench) error { return b.machines(b.graft, b.rounds) }},
		{name: "jobs", about: "whole jobs: choice of threads, with other load, and PyTorch", beside: true, all: true,
			run: func(b *bench) error { return b.jobs(b.graft) }},
		{name: "surgery", about: "surgery operations", beside: true, all: true, run: (*bench).surgery},
		{name: "learn", about: "learning steps of policies, and speed and quality of learning tables (-table)",
			beside: true, all: true, run: func(b *bench) error {
				return errors.Join(b.learning(), studyQuality(os.Stdout, b.tables, b.seeds))
			}},
		{name: "policy", about: "regret of policies on training tables and on other tables (-table)",
			run: func(b *bench) error { return studyPolicies(os.Stdout, b.tables, b.seeds) }},
		{name: "ppo", about: "PPO, compared with Stable-Baselines3", all: true, run: (*bench).ppo},
		{name: "grid", about: "a grid of sequences, and concurrent training by workers", beside: true, all: true,
			run: func(b *bench) error { return b.grid(b.graft) }},
		{name: "cluster", about: "events of a simulated cluster", all: true, rounds: 5,
			run: func(b *bench) error { return studyCluster(os.Stdout, b.rounds) }},
		{name: "traces", about: "processor time and memory of simulations of up to a million jobs",
			run: func(b *bench) error { return studyLarge(os.Stdout, b.graft, b.rounds) }},
		{name: "programs", about: "decisions of users' programs", all: true, rounds: 5,
			run: func(b *bench) error { return studyPrograms(os.Stdout, b.rounds) }},
		{name: "attached", about: "a PyTorch program that graft drives, compared with the program alone", all: true,
			rounds: 5, run: func(b *bench) error { return b.studyAttached(os.Stdout) }},
		{name: "elastic", about: "simulations of elastic jobs, and their learner", all: true, rounds: 5,
			run: func(b *bench) error { return studyElastic(os.Stdout, b.rounds) }},
		{name: "fabric", about: "episodes of training steps on a network", all: true, rounds: 3,
			run: func(b *bench) error { return studyFabric(os.Stdout, b.rounds) }},
		{name: "degrees", about: "shares of blocked jobs by learned and constant degrees",
			run: func(*bench) error { return learnFabric(os.Stdout) }},
		{name: "batch", about: "cost of jobs with adaptive and fixed batches to reach an accuracy",
			run: func(b *bench) error { return studyBatches(os.Stdout, b.trials, b.rounds) }},
		{name: "growth", about: "measured cost of growth over the cost charged by profiles", run: func(b *bench) error {
			return studyGrowth(context.Background(), os.Stdout, "bench/growth", b.rounds)
		}},
		{name: "together", about: "steps of several processes, predicted from operators and exchanges",
			run: func(b *bench) error { return b.studyTogether(os.Stdout) }},
		{name: "links", about: "steps of jobs on a common link, and steps predicted from each job alone (root, tc)",
			rounds: 3, run: func(b *bench) error { return b.studyLinks(os.Stdout) }},
		{name: "operators", about: "steps of networks, and steps predicted from operators of other networks",
			run: func(b *bench) error { return b.studyOperators(os.Stdout) }},
		{name: "kineto", about: "steps of grown networks in PyTorch, and steps predicted from traces",
			run: func(b *bench) error {
				if b.samples != "" {
					return b.recordSamples(b.samples)
				}
				return b.studyKineto(os.Stdout)
			}},
	}
}

// list prints the measurements, one per line.
func list(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, m := range measurements() {
		fmt.Fprintf(w, "%s\t%s\n", m.name, m.about)
	}
	return w.Flush()
}

// help prints the usage of bench.
func help(out io.Writer) error {
	_, err := fmt.Fprintln(out, "bench NAME... [flags]  runs measurements\n"+
		"bench all [flags]      runs the measurements of make bench\n"+
		"bench list             lists the measurements\n"+
		"bench all -help        prints the flags")
	return err
}

// errUsage marks a command line that bench cannot read.
var errUsage = errors.New("'bench list' lists the measurements, and 'bench all -help' prints the flags")

func usagef(format string, args ...any) error {
	return fmt.Errorf(format+"; %w", append(args, errUsage)...)
}

// choose finds measurements by name; "all" means the default ones.
func choose(names []string) (chosen []measurement, err error) {
	known := measurements()
	if slices.Equal(names, []string{"all"}) {
		return slices.DeleteFunc(known, func(m measurement) bool { return !m.all }), nil
	}
	if len(names) == 0 {
		return nil, usagef("no measurement given; expected one or more names, or all")
	}
	for _, name := range names {
		k := slices.IndexFunc(known, func(m measurement) bool { return m.name == name })
		if k < 0 {
			return nil, usagef("unknown measurement %q", name)
		}
		chosen = append(chosen, known[k])
	}
	return chosen, nil
}

// splitArguments splits a command line into the names before the first flag, and the rest.
func splitArguments(args []string) (names, flags []string) {
	k := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") })
	if k < 0 {
		return args, nil
	}
	return args[:k], args[k:]
}
