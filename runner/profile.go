package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/config"
	"graft/files"
	"graft/model"
	"graft/results/failure"
	"graft/torch"
	"graft/trainer"
	"graft/work"
)

// profileOptions are the flags of `graft profile`.
type profileOptions struct {
	device    string // cpu or cuda:N; empty is cpu
	threads   int    // zero is all processors
	batches   []int  // examples in a step and in a batch of evaluation
	rounds    int    // that medians are of
	optimizer string // of the steps
	exact     bool   // PyTorch's order of operations
	fast      bool   // the other one, which is the default
	steady    bool   // as jobs on a virtual clock compute
	input     string // shape of an example, for networks of the zoo
	classes   int    // of networks of the zoo
	only      bool   // the networks that are named, and no others
	plain     bool   // do not deepen and widen them
	name      string // of the profile; empty is that of the file
	out       string // file; empty writes none
	force     bool   // replace it
	json      bool   // print one object
}

func newProfileCommand() *cobra.Command {
	var o profileOptions
	command := &cobra.Command{
		Use:   "profile [NETWORK]…",
		Short: "Measure what work takes on a device, for jobs on a virtual clock",
		Long: `profile measures what a step of training and a batch of evaluation take on a
device: of a set of small networks, and of those that are named, which are names of
'graft model list' or network files; of each as it is, and deepened and widened once.
All are warmed up and then take turns in rounds, on random images, as jobs do it; the
medians of the rounds and half the distances between their quartiles are kept. What
decisions and operations take is measured as well.

From these follow rates: a cost for each example, layer, operation, byte and
parameter. With them a job is charged for networks that were not measured, such as
those that a decider makes up. How far that is off is found by leaving networks out,
one by one, and printed.

'graft train --set time.profile=FILE' charges a job by it. It takes about a minute on
a machine that does nothing else, and is only as good as the machine is quiet: look
at the spreads.`,
		Example: `  graft profile --out laptop.toml
  graft profile mine.toml ConvNet2 --only --batch 32,128 --out mine.profile.toml
  graft profile show laptop.toml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			return runProfile(command.Context(), command.OutOrStdout(), args, o)
		},
	}
	o.flags(command)
	command.AddCommand(newProfileShowCommand(), newProfileCheckCommand())
	return command
}

func (o *profileOptions) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&o.device, "device", "cpu", "cpu or cuda:N")
	flags.IntVar(&o.threads, "threads", 0, "threads of an operator on the CPU; 0 is all processors")
	flags.IntSliceVar(&o.batches, "batch", []int{64, 128}, "examples in a step and in a batch of evaluation; several with commas")
	flags.IntVar(&o.rounds, "rounds", 7, "in each of which every network has its turn")
	flags.StringVar(&o.optimizer, "optimizer", "adam", "of the steps: "+strings.Join(torch.RuleNames(), ", "))
	flags.BoolVar(&o.exact, "exact", false, "keep PyTorch's order of operations, as jobs with train.exact do")
	flags.BoolVar(&o.fast, "fast", false, "take the fast path, as jobs do unless told otherwise; the default")
	flags.BoolVar(&o.steady, "steady", false, "compute the same bits whatever the number of threads, as jobs with train.steady do")
	flags.StringVar(&o.input, "input", "3x32x32", "shape of an example, for networks of the zoo")
	flags.IntVar(&o.classes, "classes", 10, "classes of networks of the zoo")
	flags.BoolVar(&o.only, "only", false, "measure the networks that are named and no others")
	flags.BoolVar(&o.plain, "plain", false, "do not deepen and widen the networks that are named")
	flags.StringVar(&o.name, "name", "", "what the profile is called; empty is the name of the file")
	flags.StringVarP(&o.out, "out", "o", "", "write the profile to `FILE`; empty prints it only")
	flags.BoolVar(&o.force, "force", false, "replace the file if there is one")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	command.MarkFlagsMutuallyExclusive("exact", "fast")
}

func runProfile(ctx context.Context, w io.Writer, names []string, o profileOptions) error {
	subjects, err := o.subjects(names)
	if err != nil {
		return err
	}
	if err := o.mayWrite(files.OS{}); err != nil {
		return err
	}
	p, err := o.measure(ctx, subjects)
	if err != nil {
		return err
	}
	// What took a minute is printed even if it cannot be written.
	printed := reportProfile(p, o.out).print(w, o.json)
	if o.out == "" {
		return printed
	}
	if err := errors.Join(printed, config.WriteProfile(files.OS{}, o.out, p)); err != nil || o.json {
		return err
	}
	_, err = fmt.Fprintf(w, "\nwrote %s; charge a job by it with --set time.profile=%s\n", o.out, pathText(o.out))
	return err
}

// pathText is a path that a job takes for one.
func pathText(path string) string {
	if strings.ContainsRune(path, filepath.Separator) || strings.EqualFold(filepath.Ext(path), ".toml") {
		return path
	}
	return "." + string(filepath.Separator) + path
}

// subjects are the networks to be measured.
func (o *profileOptions) subjects(names []string) ([]trainer.Subject, error) {
	if o.only && len(names) == 0 {
		return nil, failure.Usagef("--only is for networks that are named; name one of 'graft model list', or a network file")
	}
	input, err := model.ParseShape(o.input)
	if err != nil {
		return nil, failure.Usagef("--input: %w", err)
	}
	var all []trainer.Subject
	for _, name := range names {
		n, err := o.load(name, input)
		if err != nil {
			return nil, err
		}
		first := trainer.Subject{Name: networkLabel(name, n), Network: n}
		all = append(all, first)
		if o.plain {
			continue
		}
		adapted, err := trainer.Adapted(first)
		if err != nil {
			return nil, err
		}
		all = append(all, adapted...)
	}
	if o.only {
		return all, nil
	}
	others, err := trainer.Subjects(input, o.classes)
	if err != nil {
		return nil, failure.With(failure.Usage, fmt.Errorf("the networks that are measured by default: %w; --only leaves them out", err))
	}
	return append(all, others...), nil
}

// load makes a network of the zoo for the input and classes, and a file's as it is.
func (o *profileOptions) load(name string, input model.Shape) (*model.Network, error) {
	if work.IsNetworkFile(name) {
		return work.LoadNetwork(files.OS{}, name, nil, 0)
	}
	return work.LoadNetwork(files.OS{}, name, input, o.classes)
}

// networkLabel is what a network is called in a profile: its name in the zoo, or
// what it prints as.
func networkLabel(name string, n *model.Network) string {
	if work.IsNetworkFile(name) {
		return n.Name()
	}
	return name
}

// mayWrite finds out before the measuring whether the file can be written.
func (o *profileOptions) mayWrite(fsys files.FS) error {
	if o.out == "" {
		return nil
	}
	if info, err := fsys.Stat(o.out); err == nil && info.IsDir() {
		return failure.Usagef("--out %s is a folder; name a file in it", o.out)
	} else if err == nil && !o.force {
		return failure.Usagef("--out %s is there already; --force replaces it", o.out)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--out: %w", err)
	}
	if info, err := fsys.Stat(filepath.Dir(o.out)); err != nil {
		return fmt.Errorf("--out: %w", err)
	} else if !info.IsDir() {
		return failure.Usagef("--out %s: %s is no folder", o.out, filepath.Dir(o.out))
	}
	return nil
}

// measure measures the device and says how.
func (o *profileOptions) measure(ctx context.Context, subjects []trainer.Subject) (*trainer.Profile, error) {
	log := loggerFrom(ctx)
	m := trainer.MeasureOptions{Batches: o.batches, Rounds: o.rounds, Exact: o.exact, Steady: o.steady, Now: time.Now,
		Tell: func(what string, done, of int) { log.Info(what, zap.Int("done", done), zap.Int("of", of)) }}
	if err := m.Optimizer.Rule.UnmarshalText([]byte(o.optimizer)); err != nil {
		return nil, failure.Usagef("--optimizer: %w", err)
	}
	m.EnsureDefaults()
	if err := m.Validate(); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	if o.threads < 0 {
		return nil, failure.Usagef("--threads %d: 0 is all processors", o.threads)
	}
	if o.threads > 0 {
		if err := torch.SetThreads(o.threads); err != nil {
			return nil, err
		}
	}
	var err error
	if m.Device, err = torch.ParseDevice(o.device); err != nil {
		return nil, err
	}
	runtime, err := torch.Describe()
	if err != nil {
		return nil, err
	}
	measured, err := trainer.Measure(ctx, subjects, m)
	if err != nil {
		return nil, err
	}
	made := trainer.Made{Date: time.Now().UTC().Format(time.DateOnly), Graft: buildVersion(), Torch: runtime.Version, Device: m.Device.String(),
		Threads: runtime.Threads, Rounds: m.Rounds, Optimizer: m.Optimizer.Rule.String(), Exact: m.Exact, Steady: m.Steady}
	return measured.Profile(o.title(), deviceText(m.Device), made), nil
}

// title is what the profile is called.
func (o *profileOptions) title() string {
	switch {
	case o.name != "":
		return o.name
	case o.out != "":
		return strings.TrimSuffix(filepath.Base(o.out), filepath.Ext(o.out))
	}
	return o.device
}

// deviceText is what the system calls a device; its name here where it does not say.
func deviceText(d torch.Device) string {
	path, key := "/proc/cpuinfo", "model name"
	if d.CUDA {
		key = "Model"
		path = "" // without one of just one card it is not known which of them it is
		if cards, err := filepath.Glob("/proc/driver/nvidia/gpus/*/information"); err == nil && len(cards) == 1 {
			path = cards[0]
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return d.String()
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return d.String()
}
