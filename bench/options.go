package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

// options for the measurements.
type options struct {
	python  string
	twin    string
	rounds  int      // pairs of bursts in a comparison
	starts  int      // number of fresh processes for them
	steps   int      // steps in a burst of training
	ops     int      // iterations in a burst of operators
	graft   string   // program whose workers run concurrently
	seeds   int      // policies to learn from the same tables
	tables  []string // folders of training tables
	trials  int      // seeds of jobs with adaptive batches
	samples string   // folder of sample traces to write; empty means none
	keep    string   // file that keeps the measurements of operators; empty means none
	// file of the measurement "operators" whose operators predict the steps of several processes; empty measures them
	keptOperators string
	probes        int // number of networks that measure operators; zero means the default
	network       gptOptions
	setup
}

// parseOptions reads the flags of some measurements. A flag prefixed with a measurement's name and a dot applies to
// that one only.
func parseOptions(chosen []measurement, args []string) (o options, err error) {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	o.register(fs)
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		return o, errors.Join(err, errUsage)
	case fs.NArg() > 0:
		return o, usagef("%q follows the flags; measurement names must come before flags", fs.Arg(0))
	}
	var faults []error
	fs.Visit(func(f *flag.Flag) {
		owner, _, own := strings.Cut(f.Name, ".")
		if own && !slices.ContainsFunc(chosen, func(m measurement) bool { return m.name == owner }) {
			faults = append(faults, usagef("-%s is an option of %s, which is not selected", f.Name, owner))
		}
	})
	return o, errors.Join(faults...)
}

func (o *options) register(fs *flag.FlagSet) {
	fs.StringVar(&o.python, "python", defaultPython(), "Python interpreter whose PyTorch is measured")
	fs.StringVar(&o.twin, "twin", "bench/twin.py", "script of the PyTorch twin")
	fs.StringVar(&o.graft, "graft", "bin/graft", "graft program, for machines, jobs, grid and traces")
	fs.IntVar(&o.rounds, "rounds", 15, "pairs of bursts in a comparison")
	fs.IntVar(&o.starts, "starts", 3, "fresh pairs of processes in a comparison, to vary the heap layout")
	fs.IntVar(&o.steps, "steps", 20, "training steps in a burst, for step and gpt")
	fs.IntVar(&o.ops, "step.operators", 2000, "iterations of the operator chain in a burst")
	fs.IntVar(&o.trials, "batch.seeds", 10, "seeds of each job")
	fs.IntVar(&o.seeds, "seeds", 20,
		"policies trained on the same tables with different seeds, for learn and policy")
	fs.Func("table", "folder of a training table, for learn and policy; repeatable",
		func(folder string) error { o.tables = append(o.tables, folder); return nil })
	fs.StringVar(&o.samples, "kineto.samples", "", "write the traces for the tests of trainer/operators to this folder")
	fs.StringVar(&o.keep, "operators.keep", "", "file that keeps the measurements, to print them again")
	fs.StringVar(&o.keptOperators, "together.operators", "", "file that -operators.keep has written; empty measures "+
		"operators")
	fs.IntVar(&o.probes, "operators.networks", 0, "small networks in which operators are measured; 0 means 400")
	fs.IntVar(&o.threads, "operators.threads", 1, "threads")
	o.network.register(fs, "gpt.")
	o.setup.register(fs)
}

// register adds the flags shared with workers.
func (o *setup) register(fs *flag.FlagSet) {
	fs.IntVar(&o.images, "images", 0,
		"images per epoch, for job, epoch and stream; 0 means 3,200 (stream: 2,000); "+
			"an evaluation has a fifth of them")
	fs.StringVar(&o.device, "device", "cpu", "device, for epoch, gpt and grid: cpu or cuda:N")
	fs.Int64Var(&o.seed, "seed", 1, "seed of weights and images")
	fs.IntVar(&o.batches, "batches", 20, "number of different batches of images")
}

// runWorker is graft's side of a comparison.
func runWorker(args []string) error {
	fs, o := flag.NewFlagSet("bench worker", flag.ContinueOnError), setup{}
	o.register(fs)
	fs.IntVar(&o.threads, "threads", 1, "threads")
	fs.BoolVar(&o.fast, "fast", false, "use the fast path")
	fs.BoolVar(&o.graphs, "graphs", false, "record steps")
	if err := fs.Parse(args); err != nil {
		return err
	}
	return serve(o, os.Stdin, os.Stdout)
}

// runGPTWorker is graft's side of the comparison of a GPT.
func runGPTWorker(args []string) error {
	fs, o, network := flag.NewFlagSet("bench gpt-worker", flag.ContinueOnError), setup{}, gptOptions{}
	o.register(fs)
	network.register(fs, "")
	folder := fs.String("folder", "", "folder of the problem")
	fs.IntVar(&o.threads, "threads", 1, "threads")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *folder == "" {
		return fmt.Errorf("-folder is missing; set it to the folder of the comparison's files")
	}
	return serveGPT(*folder, o, network, os.Stdin, os.Stdout)
}

func defaultPython() string {
	if p := os.Getenv("GRAFT_PYTHON"); p != "" {
		return p
	}
	return "/usr/bin/python3"
}
