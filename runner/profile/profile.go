// Package profile measures training times on a device, so that virtual clocks can charge jobs for them.
package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/model"
	"graft/net2net"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/train"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
	"graft/trainer/probes"
)

// Options configures [Measure].
type Options struct {
	Device  string // device to measure: cpu or cuda:N; empty means cpu
	Threads int    // number of threads per operator on the CPU; zero means one per processor
	// vector instructions on the CPU: native or avx2; empty means the value of the first named job or, without jobs,
	// native
	Instructions string
	// numbers of examples per training step and per evaluation batch; empty means the values of the named jobs or,
	// without jobs, 64 and 128
	Batches []int
	Rounds  int // number of rounds over which the median is taken; zero means 7
	// update rule of the steps, such as adam; empty means the rule of the first named job or, without jobs, adam
	Optimizer string
	Exact     bool // keeps PyTorch's order of operations; false uses the fast path
	// uses the fast path; if neither Fast nor Exact is set, the first named job file determines this setting
	Fast   bool
	Steady bool // makes results bit-identical for any number of threads
	// number format of convolutions and linear layers, such as bfloat16; empty means the format of the first named job
	// or, without jobs, float32
	Precision string
	Input     string // shape of an example for networks from the zoo; empty means 3x32x32
	Classes   int    // number of classes for networks from the zoo; zero means their default
	Only      bool   // measures only the named networks; if false, also a set of small networks
	Plain     bool   // measures the named networks without deepening and widening them
	// number of small networks in which operators are measured, to predict the times of any network; 400 take several
	// minutes; zero measures no operators
	Operators int
	// numbers of processes to measure that train together on this machine, each with Threads threads; empty measures
	// none
	Processes []int
	// name of the profile; empty means the name of the file or, without a file, of the device
	Name  string
	Out   string // path of the output file, checked before measuring; empty means none
	Force bool   // replaces an existing file
	Graft string // version of graft to record in the profile; empty means the environment's version

	program *train.Attached // program of the job to measure; nil for networks that graft trains
	surgery net2net.Options // surgery of that job
}

// Measure measures the times of training steps, evaluation batches, decisions and surgery on a device, for the named
// networks, for the networks of the named jobs and, unless o.Only is set, for a default set of networks. It does not
// write the profile.
func Measure(ctx context.Context, env *app.Env, names []string, o Options) (*clock.Profile, error) {
	o.Device, o.Input = cmp.Or(o.Device, "cpu"), cmp.Or(o.Input, "3x32x32")
	if err := o.validateSizes(); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	if o.Instructions != "" {
		if err := torch.LimitTo(torch.Instructions(o.Instructions)); err != nil {
			return nil, failure.With(failure.Usage, err)
		}
	}
	subjects, err := o.subjects(ctx, env, names)
	defer func() { o.program.Close() }()
	if err != nil {
		return nil, err
	}
	o.Optimizer = cmp.Or(o.Optimizer, "adam")
	if err := o.validateSizes(); err != nil { // sizes from the jobs
		return nil, failure.With(failure.Configuration, err)
	}
	if o.Out != "" {
		if err := app.MayWriteFile(env.Files, o.Out, o.Force); err != nil {
			return nil, err
		}
	}
	if o.Operators > 0 && (o.program != nil || o.Device != "cpu") {
		return nil, failure.Usagef("option \"operators\" requires networks that graft trains on the CPU; " +
			"remove the option, or import a trace of the program with 'graft profile import'")
	}
	if err := o.processFaults(); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	if o.program != nil {
		return o.measureProgram(ctx, env, subjects)
	}
	return o.measure(ctx, env, subjects)
}

// Limits far above useful values. Beyond them the process would run out of memory.
const (
	mostThreads = 1024      // as in a job file
	mostRounds  = 1_000_000 // more take weeks
	mostClasses = 1 << 20
	mostProbes  = 10_000
	mostValues  = 1 << 28 // values in the examples of a batch
)

// validateSizes lists the sizes that are out of range.
func (o Options) validateSizes() error {
	var faults validate.Faults
	for _, size := range []struct {
		option      string
		value, most int
	}{{"threads", o.Threads, mostThreads}, {"rounds", o.Rounds, mostRounds}, {"classes", o.Classes, mostClasses},
		{"operators", o.Operators, mostProbes}} {
		faults.When(size.value < 0 || size.value > size.most,
			"option %s is %d; must be between 0 (the default) and %d", size.option, size.value, size.most)
	}
	input, err := model.ParseShape(o.Input)
	if err != nil {
		return errors.Join(append(faults, fmt.Errorf("option \"input\": %w", err))...)
	}
	values := float64(slices.Max(append([]int{1}, o.Batches...)))
	for _, n := range input {
		values *= float64(n)
	}
	faults.When(values > mostValues, "option \"input\" %s: a batch has %.0f values; the maximum is %d", o.Input, values,
		mostValues)
	return errors.Join(faults...)
}

// ways is the number of deepened, and of widened, variants of a named network.
const ways = 3

// subjects returns the networks to measure. Options of steps that are not set come from the named jobs.
func (o *Options) subjects(ctx context.Context, env *app.Env, names []string) ([]clock.Subject, error) {
	if o.Only && len(names) == 0 {
		return nil, failure.Usagef("option \"only\" requires a network; name a network of 'graft model list', " +
			"a network file, or the file of a job")
	}
	input, err := model.ParseShape(o.Input)
	if err != nil {
		return nil, err
	}
	given := *o
	var all []clock.Subject
	for _, name := range names {
		list, err := o.named(ctx, env, name, input, given)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	if o.Only {
		return all, nil
	}
	others, err := clock.Subjects(input, o.Classes)
	if err != nil {
		return nil, failure.With(failure.Usage,
			fmt.Errorf("create the networks that are measured by default: %w; omit them with option \"only\"", err))
	}
	return append(all, others...), nil
}

// named returns the networks of an argument: a network, or the network of a job file, with its grown variants.
func (o *Options) named(ctx context.Context, env *app.Env, name string, input model.Shape,
	given Options) ([]clock.Subject, error) {
	if app.IsNetworkFile(name) && !app.IsFolder(env.Files, name) && config.IsConfiguration(env.Files, name) {
		return o.ofJob(ctx, env, name, given)
	}
	n, err := o.load(env.Files, name, input)
	if err != nil {
		return nil, err
	}
	if err := app.Try(ctx, env.Files, n, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	first := clock.Subject{Name: networkLabel(name, n), Network: n}
	if o.Plain {
		return []clock.Subject{first}, nil
	}
	adapted, err := clock.Adapted(first, ways)
	return append([]clock.Subject{first}, adapted...), err
}

// ofJob returns the network of a job, a scenario or a comparison, with the networks that its actions produce.
func (o *Options) ofJob(ctx context.Context, env *app.Env, path string, given Options) ([]clock.Subject, error) {
	m, err := config.ReadMeasurable(env.Files, path, func(c *config.Job) (err error) {
		if o.program != nil {
			return failure.Usagef("two jobs have programs; measure each with a command of its own")
		}
		o.program, err = train.Start(ctx, env, c)
		return err
	})
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	if o.program != nil {
		return o.ofProgram(m, given)
	}
	if given.Instructions == "" {
		if err := m.Job.Run.Limit(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, batch := range m.Batches {
		if len(given.Batches) == 0 && !slices.Contains(o.Batches, batch) {
			o.Batches = append(o.Batches, batch)
		}
	}
	o.Optimizer, o.Exact = cmp.Or(o.Optimizer, m.Optimizer), o.Exact || m.Exact && !o.Fast
	o.Precision = cmp.Or(o.Precision, m.Job.Train.Precision.String())
	if err := app.Try(ctx, env.Files, m.Network, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	first := clock.Subject{Name: m.Network.Name(), Network: m.Network}
	if o.Plain {
		return []clock.Subject{first}, nil
	}
	if measured := len(m.Sequences); measured < m.All {
		env.Log.Info("measuring only some of the possible actions; predicting the costs of the other actions",
			zap.Int("actions", m.All), zap.Int("measured", measured))
	}
	all, err := clock.Grown(first, m.Sequences, m.Surgery)
	if err != nil || len(m.Sequences) > 0 {
		return all, err
	}
	adapted, err := clock.Adapted(first, ways)
	return append(all, adapted...), err
}

// load makes a network from the zoo for the input and classes, or a network of a file unchanged.
func (o Options) load(fsys files.FS, name string, input model.Shape) (*model.Network, error) {
	if app.IsNetworkFile(name) {
		return app.LoadNetwork(fsys, name, nil, 0)
	}
	return app.LoadNetwork(fsys, name, input, o.Classes)
}

// networkLabel returns the name of a network in a profile: its name in the zoo, or else its printed class.
func networkLabel(name string, n *model.Network) string {
	if app.IsNetworkFile(name) {
		return n.Name()
	}
	return name
}

// measure measures the subjects, and records the conditions in the profile. With operators, it measures the operators
// first, so that the slowdown of other programs is also removed from the times of the subjects.
func (o Options) measure(ctx context.Context, env *app.Env, subjects []clock.Subject) (*clock.Profile, error) {
	m, err := o.measureOptions(env)
	if err != nil {
		return nil, err
	}
	if o.Threads > 0 {
		if err := torch.SetThreads(o.Threads); err != nil {
			return nil, err
		}
	}
	made, err := o.conditions(env, &m)
	if err != nil {
		return nil, err
	}
	var found *trainer.MeasuredOperators
	if o.Operators > 0 {
		if found, err = measureOperators(ctx, m, o.Operators); err != nil {
			return nil, err
		}
		m.Quiet = found.Quiet
	}
	measured, err := trainer.Measure(ctx, subjects, m)
	if err != nil {
		return nil, err
	}
	p := measured.Profile(o.title(), deviceText(env.Files, m.Device), made)
	if found != nil {
		p.GraftOperators, p.Made.Disturbed = *found.Device, found.Disturbed
		p.EnsureDefaults()
		if err := p.PredictMeasured(clock.Networks(subjects)); err != nil {
			return nil, err
		}
	}
	return p, o.measureProcesses(ctx, env, p, m)
}

// measureOptions returns the options of the measurement.
func (o Options) measureOptions(env *app.Env) (m trainer.MeasureOptions, err error) {
	m = trainer.MeasureOptions{Batches: o.Batches, Rounds: o.Rounds, Exact: o.Exact, Steady: o.Steady, Now: env.Now,
		Tell: teller(env)}
	if err := m.Optimizer.Rule.UnmarshalText([]byte(o.Optimizer)); err != nil {
		return m, failure.Usagef("option \"optimizer\": %w", err)
	}
	if err := m.Precision.UnmarshalText([]byte(cmp.Or(o.Precision, torch.Single.String()))); err != nil {
		return m, failure.Usagef("option \"precision\": %w", err)
	}
	m.EnsureDefaults()
	if err := m.Validate(); err != nil {
		return m, failure.With(failure.Usage, err)
	}
	m.Device, err = torch.ParseDevice(o.Device)
	return m, err
}

// conditions returns the conditions of the measurement.
func (o Options) conditions(env *app.Env, m *trainer.MeasureOptions) (made clock.Provenance, err error) {
	runtime, err := torch.Describe()
	if err != nil {
		return made, err
	}
	made = clock.Provenance{Date: env.Now().UTC().Format(time.DateOnly), Graft: cmp.Or(o.Graft, env.Version),
		Torch: runtime.Version, Device: m.Device.String(), Threads: runtime.Threads, Rounds: m.Rounds,
		Optimizer: m.Optimizer.Rule.String(), Exact: m.Exact, Steady: m.Steady,
		Instructions: string(torch.ComputesWith())}
	if m.Precision != torch.Single {
		made.Precision = m.Precision.String()
	}
	return made, nil
}

// operatorRounds is the number of bursts in which the operators of a network are measured.
const operatorRounds = 3

// measureOperators measures the operators of the device in a number of small networks.
func measureOperators(ctx context.Context, m trainer.MeasureOptions, count int) (*trainer.MeasuredOperators, error) {
	networks, err := probes.Draw(probes.Options{Count: count})
	if err != nil {
		return nil, err
	}
	m.Rounds = operatorRounds
	return trainer.MeasureOperators(ctx, networks, m)
}

// teller logs the progress of a measurement.
func teller(env *app.Env) func(what string, done, of int) {
	return func(what string, done, of int) { env.Log.Info(what, zap.Int("done", done), zap.Int("of", of)) }
}

// title returns the name of the profile.
func (o Options) title() string {
	switch {
	case o.Name != "":
		return o.Name
	case o.Out != "":
		return strings.TrimSuffix(filepath.Base(o.Out), filepath.Ext(o.Out))
	}
	return o.Device
}

// mostInformation limits the size of a system file that describes a device.
const mostInformation = 16 << 20

// deviceText returns the system's name of a device, or else graft's.
func deviceText(fsys files.FS, d torch.Device) string {
	path, key := "/proc/cpuinfo", "model name"
	if d.CUDA {
		path, key = cardFile(fsys), "Model"
	}
	text, err := files.ReadAll(fsys, path, mostInformation)
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

// cardFile returns the file that describes the GPU of a machine with one GPU. It is empty for several: their order
// there differs from CUDA's.
func cardFile(fsys files.FS) string {
	const folder = "/proc/driver/nvidia/gpus"
	cards, err := fsys.ReadDir(folder)
	if err != nil || len(cards) != 1 {
		return ""
	}
	return filepath.Join(folder, cards[0].Name(), "information")
}
