package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"graft/config"
	"graft/files"
	"graft/model"
	"graft/net2net"
	"graft/results/document"
	"graft/results/failure"
	"graft/torch"
	"graft/torch/weights"
	"graft/work"
)

// verifyBatches is how many fresh batches --verify looks at.
const verifyBatches = 4

// theatre is where operations are done.
type theatre struct {
	surgeryOptions
	s       *torch.Scope
	net     *model.Network
	first   *model.Network // a copy from before, for --verify
	inputs  *torch.Tensor
	changes []*net2net.Change
	report  surgeryReport
	// calibrated says that a calibrated normalisation came or went.
	calibrated bool
}

// prepare loads or draws weights and inputs.
func (t *theatre) prepare() error {
	device, err := torch.ParseDevice(t.device)
	if err != nil {
		return failure.With(failure.Usage, err)
	}
	place := model.Placement{Device: device, DType: torch.Float32, Random: t.s.NewGenerator(torch.CPU, int64(t.seed))}
	if t.exact {
		place.DType = torch.Float64
	}
	if err := t.net.Materialize(t.s, place); err != nil {
		return err
	}
	if t.weights != "" {
		set, err := work.ReadWeights(files.OS{}, t.weights)
		if err != nil {
			return err
		}
		if err := t.net.Load(set); err != nil {
			return fmt.Errorf("%s: %w", t.weights, err)
		}
	}
	if t.inputs, err = t.readBatch(); err != nil {
		return err
	}
	t.Seed, t.Batch = t.seed, t.inputs
	if t.verify {
		t.first, err = t.net.Clone(t.s)
	}
	return err
}

// readBatch reads inputs, or draws them.
func (t *theatre) readBatch() (*torch.Tensor, error) {
	if t.batch == "" {
		return t.random(t.rows, 0), t.s.Err()
	}
	set, err := work.ReadWeights(files.OS{}, t.batch)
	if err != nil {
		return nil, err
	}
	for _, tensor := range set.Tensors {
		if tensor.Name == "x" || len(set.Tensors) == 1 {
			place := t.net.Placement()
			return t.s.To(torch.FromWeights(t.s, torch.CPU, tensor), place.DType, place.Device), t.s.Err()
		}
	}
	return nil, fmt.Errorf("%s: none of its %d tensors is called x", t.batch, len(set.Tensors))
}

// random draws inputs; each number stands for another batch.
func (t *theatre) random(rows int, number int64) *torch.Tensor {
	x := t.s.Zeros(torch.Float32, torch.CPU, append([]int{rows}, t.net.Input...)...)
	t.s.Normal(x, 0, 1, t.s.NewGenerator(torch.CPU, int64(t.seed)+1000+number))
	place := t.net.Placement()
	return t.s.To(x, place.DType, place.Device)
}

// operate replays or takes back the record, then does the actions.
func (t *theatre) operate(ctx context.Context, actions []net2net.Action, record []*net2net.Change) error {
	if t.keep >= 0 {
		back, err := net2net.Shrink(t.net, record, t.keep)
		if err != nil {
			return err
		}
		for k, c := range back {
			t.done("take back "+c.Action.String(), c)
			t.calibrated = t.calibrated || record[len(record)-1-k].Calibration != nil
		}
		record = nil
	}
	for _, c := range record {
		var o net2net.Options // the record has the figures of its own batch
		if t.batch != "" {
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
		c, err := net2net.Apply(t.net, a, t.Options)
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

func (t *theatre) done(what string, c *net2net.Change) {
	t.changes, t.calibrated = append(t.changes, c), t.calibrated || c.Calibration != nil
	summary := changeSummary{Action: what, Parameters: t.net.Parameters(), Tensors: map[net2net.Fate]int{}, Notes: c.Notes}
	for _, m := range c.Moves {
		summary.Tensors[m.Fate]++
	}
	t.report.Changes = append(t.report.Changes, summary)
	t.report.ParametersAfter = summary.Parameters
}

// finish verifies, writes and prints; what fails the verification is not written.
func (t *theatre) finish(w io.Writer) error {
	var failed error
	if t.verify {
		if failed = t.check(); failed == nil && t.s.Err() != nil {
			return t.s.Err()
		}
	}
	if failed == nil {
		if err := t.write(); err != nil {
			return err
		}
	}
	if t.json {
		return errors.Join(document.PrintJSON(w, t.report), failed)
	}
	return errors.Join(t.report.print(w), failed)
}

// check compares the network with its copy from before.
func (t *theatre) check() error {
	fresh := driftRow{Mode: "train", Batch: "other batches", Tolerance: 1e-4}
	if t.calibrated {
		fresh.Tolerance, fresh.ByL2 = 0.05, true
	}
	others := []*torch.Tensor{}
	for k := range int64(verifyBatches) {
		others = append(others, t.random(t.rows, 1+k))
	}
	rows := []driftRow{{Mode: "eval", Batch: "the given batch", Tolerance: 1e-5}, {Mode: "eval", Batch: "other batches", Tolerance: 1e-5},
		{Mode: "train", Batch: "the given batch", Tolerance: 1e-4}}
	if t.batch == "" {
		rows = append(rows, fresh) // random ones are of the same kind as the given
	}
	for _, row := range rows {
		inputs := []*torch.Tensor{t.inputs}
		if row.Batch == "other batches" {
			inputs = others
		}
		if t.tolerance > 0 {
			row.Tolerance = t.tolerance
		}
		if err := row.measure(t.first, t.net, inputs); err != nil {
			return err
		}
		t.report.Verified = append(t.report.Verified, row)
	}
	return t.report.failures()
}

// measure keeps the largest drift over some batches.
func (r *driftRow) measure(before, after *model.Network, inputs []*torch.Tensor) error {
	for _, x := range inputs {
		d, err := net2net.Compare(before, after, x, r.Mode == "train")
		if err != nil {
			return err
		}
		r.Largest, r.Relative, r.L2 = max(r.Largest, d.Largest), max(r.Relative, d.Relative), max(r.L2, d.L2)
	}
	return nil
}

// write saves all that was asked for.
func (t *theatre) write() error {
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
		save(t.out, func() error {
			set, err := t.net.Save()
			if err != nil {
				return err
			}
			return weights.Write(files.OS{}, t.out, set)
		}),
		save(t.modelOut, func() error { return config.WriteNetwork(files.OS{}, t.modelOut, t.net) }),
		save(t.recordOut, func() error { return net2net.WriteRecord(files.OS{}, t.recordOut, t.changes) }))
}
