package profile

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"graft/config"
	"graft/internal/failure"
	"graft/model"
	"graft/net2net"
	"graft/runner/app"
	"graft/trainer"
	"graft/trainer/clock"
	"graft/trainer/costs/kineto"
	"graft/trainer/operators"
)

// ImportOptions configures [Import].
type ImportOptions struct {
	Batch   int           // number of examples per step; zero finds it in the trace
	Step    time.Duration // measured time of a step without the profiler; zero means unknown
	Input   string        // shape of an example for networks from the zoo; empty means 3x32x32
	Classes int           // number of classes for networks from the zoo; zero means their default
	Name    string        // name of the profile; empty uses the name of the output file or of the trace
	Out     string        // path of the profile; empty does not write a profile
	Force   bool          // replaces an existing file
}

// Imported describes a profile that was made from a trace.
type Imported struct {
	Trace     string             `json:"trace"`          // path of the trace
	Network   string             `json:"network"`        // class of the network
	Batch     int                `json:"batch"`          // number of examples per step
	Steps     int                `json:"steps"`          // number of steps in the trace
	Traced    float64            `json:"traced_seconds"` // median time of a step in the trace, with the profiler
	Rest      float64            `json:"rest_seconds"`   // time of a step outside of the network's operators
	Plain     *float64           `json:"plain_seconds"`  // time of a step without the profiler; null if unknown
	Operators []ImportedOperator `json:"operators"`      // operators of a step, the most expensive first
	LeftOut   *ImportedError     `json:"left_out"`       // error for new shapes; null if no operator has two shapes
	Predicted []ImportedStep     `json:"predicted"`      // predicted steps of the network and of grown versions
	File      string             `json:"file"`           // path of the profile; empty if it was not written
	Profile   *clock.Profile     `json:"-"`              // the profile
}

// ImportedOperator holds the times of all calls of an operator with the same input shapes.
type ImportedOperator struct {
	Name     string  `json:"name"`             // name in PyTorch; optimizer is the update of a parameter
	Shapes   string  `json:"shapes"`           // shapes of the tensors that it reads
	Calls    int     `json:"calls"`            // number of calls in a step
	Forward  float64 `json:"forward_seconds"`  // time of the host in a forward pass
	Backward float64 `json:"backward_seconds"` // time of the host in a backward pass
	Device   float64 `json:"device_seconds"`   // time of the device in both passes; 0 on the CPU
}

// ImportedError holds the leave-one-out errors of predicted operator times: each shape is predicted from the other
// shapes.
type ImportedError struct {
	Shapes int     `json:"shapes"`   // number of shapes
	Mean   float64 `json:"mean"`     // mean relative error, weighted by time
	Worst  float64 `json:"worst"`    // largest relative error
	Name   string  `json:"operator"` // operator with the largest error, with its shapes
}

// ImportedStep is the predicted step of a network.
type ImportedStep struct {
	Network  string  `json:"network"`         // name of the network with the actions that made it
	Step     float64 `json:"step_seconds"`    // time of a training step
	Forward  float64 `json:"forward_seconds"` // time of a forward pass
	Measured float64 `json:"measured"`        // share of the time in operators with measured shapes
	Outside  float64 `json:"outside"`         // share of the time in operators outside of the measured range
}

// Import makes a profile from a PyTorch trace. The profile holds the times of a network's operators, from which graft
// predicts the step times of the network after it grows.
func Import(env *app.Env, trace, network string, o ImportOptions) (*Imported, error) {
	if err := o.validate(); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	if o.Out != "" {
		if err := app.MayWriteFile(env.Files, o.Out, o.Force); err != nil {
			return nil, err
		}
	}
	n, err := o.network(env, network)
	if err != nil {
		return nil, err
	}
	t, err := kineto.Read(env.Files, trace)
	if err != nil {
		return nil, app.ReadFault(err)
	}
	table, err := operators.FromTrace(t, n, o.Batch)
	if err != nil {
		return nil, failure.With(failure.Damaged, fmt.Errorf("import trace %s: %w", trace, err))
	}
	if o.Step > 0 {
		if err := checkStep(o.Step.Seconds(), table.StepSeconds); err != nil {
			return nil, failure.With(failure.Usage, err)
		}
		table.Calibrate(o.Step.Seconds())
	}
	p, err := o.profile(trace, n, table)
	if err != nil {
		return nil, err
	}
	made, err := describeImport(p, n)
	if err != nil {
		return nil, err
	}
	if made.Trace = trace; o.Out != "" {
		made.File = o.Out
		err = config.WriteProfile(env.Files, o.Out, p)
	}
	return made, err
}

func (o *ImportOptions) validate() error {
	switch {
	case o.Batch < 0 || o.Batch > clock.MostRows:
		return fmt.Errorf("option \"batch\" is %d; must be from 1 to %d, or 0 to find it in the trace", o.Batch,
			clock.MostRows)
	case o.Step < 0 || o.Step > time.Hour:
		return fmt.Errorf("option \"step\" is %v; must be from 0 to 1h", o.Step)
	case o.Classes < 0 || o.Classes > mostClasses:
		return fmt.Errorf("option \"classes\" is %d; must be from 0 to %d", o.Classes, mostClasses)
	}
	return nil
}

// Limits on the time of a step without the profiler, relative to a step with it. They find wrong units of time. The
// largest leaves room for the noise of a busy machine. The smallest leaves room for slow profilers: small operators on
// a CPU took five times longer with the profiler (docs/howto/profile.md).
const (
	slowestPlain = 2
	fastestPlain = 1.0 / 20
)

// checkStep refuses a time of a step that the trace contradicts. Both times are in seconds.
func checkStep(plain, traced float64) error {
	if traced > 0 && (plain > slowestPlain*traced || plain < fastestPlain*traced) {
		return fmt.Errorf("option \"step\" is %.4g ms, but a step takes %.4g ms in the trace; expected %.4g to %.4g "+
			"ms; measure a step of the same program without the profiler, and check the unit", 1e3*plain, 1e3*traced,
			1e3*fastestPlain*traced, 1e3*slowestPlain*traced)
	}
	return nil
}

// network reads the network of a run folder, of a file, or of the zoo.
func (o *ImportOptions) network(env *app.Env, arg string) (*model.Network, error) {
	if app.IsFolder(env.Files, arg) {
		n, _, err := app.Trained(env.Files, arg, trainer.AtEnd)
		return n, err
	}
	if app.IsNetworkFile(arg) {
		return app.LoadNetwork(env.Files, arg, nil, 0)
	}
	input, err := model.ParseShape(cmp.Or(o.Input, "3x32x32"))
	if err != nil {
		return nil, failure.Usagef("option \"input\": %w", err)
	}
	return app.LoadNetwork(env.Files, arg, input, o.Classes)
}

// profile makes the profile of a table. The traced network has its predicted time, which is the measured time.
func (o *ImportOptions) profile(trace string, n *model.Network, table *operators.Table) (*clock.Profile, error) {
	file := cmp.Or(o.Out, strings.TrimSuffix(trace, ".gz"))
	p := &clock.Profile{Name: cmp.Or(o.Name, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))),
		Device: "operators in a trace of PyTorch on " + table.Device(), Operators: *table}
	p.EnsureDefaults()
	step, err := p.Predict(n, table.Rows)
	if err != nil {
		return nil, err
	}
	size, err := clock.SizeOf(n)
	if err != nil {
		return nil, err
	}
	p.Measured = []clock.Measurement{{Network: n.Name(), Fingerprint: net2net.Fingerprint(n), Batch: table.Rows,
		StepSeconds: step.Step, BatchSeconds: step.Forward, Class: n.Name(), Graph: n.Graph != nil, Size: size}}
	return p, p.Validate()
}

// describeImport describes a profile, with predictions for the network and its grown versions.
func describeImport(p *clock.Profile, n *model.Network) (*Imported, error) {
	t := &p.Operators
	made := &Imported{Network: t.Network, Batch: t.Rows, Steps: t.Steps, Traced: t.StepSeconds,
		Rest: max(t.RestHost, t.RestDevice), Profile: p}
	if t.Plain > 0 {
		made.Plain = &t.Plain
	}
	for _, m := range t.Costliest() {
		made.Operators = append(made.Operators, ImportedOperator{Name: m.Name, Shapes: m.Shapes, Calls: m.Calls,
			Forward: m.ForwardHost, Backward: m.BackwardHost, Device: m.ForwardDevice + m.BackwardDevice})
	}
	if e := t.LeaveOut(); e.Shapes > 0 {
		made.LeftOut = &ImportedError{e.Shapes, e.Mean, e.Worst, e.Name + " " + e.At}
	}
	first := clock.Subject{Name: n.Name(), Network: n}
	subjects := []clock.Subject{first}
	if adapted, err := clock.Adapted(first, 1); err == nil { // a network that cannot grow has none
		subjects = append(subjects, adapted...)
	}
	for _, s := range subjects {
		step, err := p.Predict(s.Network, t.Rows)
		if err != nil {
			return nil, err
		}
		made.Predicted = append(made.Predicted, ImportedStep{Network: s.String(), Step: step.Step,
			Forward:  step.Forward,
			Measured: step.Measured, Outside: step.Outside()})
	}
	return made, nil
}
