package surgery

import (
	"context"
	"errors"
	"fmt"

	"graft/config"
	"graft/internal/failure"
	"graft/model"
	"graft/net2net"
	"graft/report/runs"
	"graft/runner/app"
	"graft/torch"
	"graft/torch/weights"
)

// Run applies surgery to a network, verifies it on request, and writes the requested files. If verification fails, it
// returns a report and an error, and writes nothing.
func Run(ctx context.Context, env *app.Env, o Options) (report *Report, err error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := o.mayWrite(env.Files); err != nil {
		return nil, err
	}
	input, err := app.ParseInput(o.Input)
	if err != nil {
		return nil, err
	}
	n, err := app.LoadNetwork(env.Files, o.Model, input, o.Classes)
	if err != nil {
		return nil, err
	}
	actions, record, err := o.plan(env.Files)
	if err != nil {
		return nil, err
	}
	if err := app.Try(ctx, env.Files, n, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Model, err)
	}
	err = torch.With(func(s *torch.Scope) error {
		t := &session{Options: o, env: env, s: s, net: n,
			report: Report{Model: n.Name(), ParametersBefore: n.Parameters()}}
		if err := t.prepare(); err != nil {
			return err
		}
		if err := t.operate(ctx, actions, record); err != nil {
			return err
		}
		if err := t.verify(); err != nil {
			report = &t.report
			return err
		}
		if err := t.write(); err != nil {
			return err
		}
		report = &t.report
		return nil
	})
	return report, err
}

// verifyBatches is the number of fresh batches that --verify compares.
const verifyBatches = 4

// session holds the network and the inputs during surgery.
type session struct {
	Options
	env     *app.Env
	s       *torch.Scope
	net     *model.Network
	first   *model.Network // a copy of the initial network, for --verify
	inputs  *torch.Tensor
	changes []*net2net.Change
	report  Report
	// calibrated reports whether a calibrated normalisation was added or removed.
	calibrated bool
}

// prepare loads or draws weights and inputs.
func (t *session) prepare() error {
	device, err := torch.ParseDevice(t.Device)
	if err != nil {
		return failure.With(failure.Usage, err)
	}
	place := model.Placement{Device: device, DType: torch.Float32,
		Random: t.s.NewGenerator(torch.CPU, int64(t.RandomSeed))}
	if t.Exact {
		place.DType = torch.Float64
	}
	if err := t.net.Materialize(t.s, place); err != nil {
		return err
	}
	if t.Weights != "" {
		set, err := app.ReadWeights(t.env.Files, t.Weights)
		if err != nil {
			return err
		}
		if err := t.net.Load(set); err != nil {
			return fmt.Errorf("%s: %w", t.Weights, err)
		}
	}
	if t.inputs, err = t.readBatch(); err != nil {
		return err
	}
	t.Seed, t.Batch = t.RandomSeed, t.inputs
	if t.Verify {
		t.first, err = t.net.Clone(t.s)
	}
	return err
}

// readBatch reads inputs, or draws them.
func (t *session) readBatch() (*torch.Tensor, error) {
	if t.BatchFile == "" {
		return t.random(t.Rows, 0), t.s.Err()
	}
	set, err := runs.ReadWeights(t.env.Files, t.BatchFile)
	if err != nil {
		return nil, fmt.Errorf("read the batch: %w", err)
	}
	for _, tensor := range set.Tensors {
		if tensor.Name == "x" || len(set.Tensors) == 1 {
			place := t.net.Placement()
			if t.net.Tokens() {
				place.DType = torch.Int64
			}
			return t.s.To(torch.FromWeights(t.s, torch.CPU, tensor), place.DType, place.Device), t.s.Err()
		}
	}
	return nil, fmt.Errorf("%s: found %d tensors, but no tensor \"x\"; rename the input tensor to \"x\"", t.BatchFile,
		len(set.Tensors))
}

// random draws inputs; each number gives a different batch.
func (t *session) random(rows int, number int64) *torch.Tensor {
	x := t.s.Zeros(torch.Float32, torch.CPU, append([]int{rows}, t.net.Input...)...)
	place, random := t.net.Placement(), t.s.NewGenerator(torch.CPU, int64(t.RandomSeed)+1000+number)
	if t.net.Tokens() {
		t.s.Uniform(x, 0, float64(t.net.Vocabulary())-0.01, random) // rounded down to a token
		return t.s.To(x, torch.Int64, place.Device)
	}
	t.s.Normal(x, 0, 1, random)
	return t.s.To(x, place.DType, place.Device)
}

// operate replays or reverts the record, then applies the actions.
func (t *session) operate(ctx context.Context, actions []net2net.Action, record []*net2net.Change) error {
	if t.Keep >= 0 {
		for k := len(record) - 1; k >= t.Keep; k-- {
			back, err := net2net.Shrink(t.net, record[:k+1], k)
			if err != nil {
				return err
			}
			t.done("take back "+back[0].Action.String(), back[0])
			t.calibrated = t.calibrated || record[k].Calibration != nil
		}
		record = nil
	}
	for _, c := range record {
		var o net2net.Options // the record has the statistics of its own batch
		if t.BatchFile != "" {
			o.Batch = t.Batch
		}
		again, err := net2net.Replay(t.net, c, o)
		if err != nil {
			return err
		}
		t.done(c.Action.String(), again)
	}
	for _, a := range actions {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := net2net.Apply(t.net, a, t.Options.Options)
		if err != nil {
			return err
		}
		if err := c.Remember(t.net); err != nil {
			return err
		}
		t.done(a.String(), c)
	}
	return nil
}

func (t *session) done(what string, c *net2net.Change) {
	t.changes, t.calibrated = append(t.changes, c), t.calibrated || c.Calibration != nil
	summary := changeSummary{Action: what, Parameters: t.net.Parameters(), Tensors: map[net2net.Fate]int{},
		Notes: c.Notes}
	for _, m := range c.Moves {
		summary.Tensors[m.Fate]++
	}
	t.report.Changes = append(t.report.Changes, summary)
	t.report.ParametersAfter = summary.Parameters
}

// verify returns an error if verification is requested and the function changed.
func (t *session) verify() error {
	if !t.Verify {
		return nil
	}
	return errors.Join(t.check(), t.s.Err())
}

// check compares the network with the copy of the initial one.
func (t *session) check() error {
	fresh := driftReport{Mode: "train", Batch: "other batches", Tolerance: 1e-4}
	if t.calibrated {
		fresh.Tolerance, fresh.ByL2 = 0.05, true
	}
	others := []*torch.Tensor{}
	for k := range int64(verifyBatches) {
		others = append(others, t.random(t.Rows, 1+k))
	}
	rows := []driftReport{{Mode: "eval", Batch: "the given batch", Tolerance: 1e-5},
		{Mode: "eval", Batch: "other batches", Tolerance: 1e-5},
		{Mode: "train", Batch: "the given batch", Tolerance: 1e-4}}
	if t.BatchFile == "" {
		rows = append(rows, fresh) // random inputs of the same kind as the given
	}
	for _, row := range rows {
		inputs := []*torch.Tensor{t.inputs}
		if row.Batch == "other batches" {
			inputs = others
		}
		if t.Tolerance > 0 {
			row.Tolerance = t.Tolerance
		}
		if err := row.measure(t.first, t.net, inputs); err != nil {
			return err
		}
		t.report.Verified = append(t.report.Verified, row)
	}
	return t.report.failures(t.Out != "" || t.ModelOut != "" || t.RecordOut != "")
}

// measure keeps the largest drift over some batches.
func (r *driftReport) measure(before, after *model.Network, inputs []*torch.Tensor) error {
	for _, x := range inputs {
		d, err := net2net.Compare(before, after, x, r.Mode == "train")
		if err != nil {
			return err
		}
		r.Largest, r.Relative, r.L2 = max(r.Largest, d.Largest), max(r.Relative, d.Relative), max(r.L2, d.L2)
	}
	return nil
}

// write writes the requested files.
func (t *session) write() error {
	save := func(path string, write func() error) error {
		if path == "" {
			return nil
		}
		if err := write(); err != nil {
			return err
		}
		t.report.Written = append(t.report.Written, path)
		return nil
	}
	return errors.Join(
		save(t.Out, func() error {
			set, err := t.weights()
			if err != nil {
				return err
			}
			return app.WriteWeights(t.env.Files, t.Out, t.net, set)
		}),
		save(t.ModelOut, func() error { return config.WriteNetwork(t.env.Files, t.ModelOut, t.net) }),
		save(t.RecordOut, func() error { return net2net.WriteRecord(t.env.Files, t.RecordOut, t.changes) }))
}

// weights returns the network's weights. A network that runs as a graph states the type of each tensor, so its weights
// are returned in these types, also after computing in double precision.
func (t *session) weights() (set *weights.Set, err error) {
	if set, err = t.net.Save(); err != nil || t.net.Graph == nil || !t.Exact {
		return set, err
	}
	err = torch.With(func(s *torch.Scope) error {
		plain := t.net.Sketch()
		place := model.Placement{DType: torch.Float32, Random: s.NewGenerator(torch.CPU, 1)}
		if err := plain.Materialize(s, place); err != nil {
			return err
		}
		if err := plain.Load(set); err != nil {
			return err
		}
		set, err = plain.Save()
		return err
	})
	return set, err
}
