package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"graft/dataset"
	"graft/torch"
	"graft/trainer/team"
)

// Follow runs a follower: a process that trains together with a job's leader, on the same images. It writes no files.
// See [team.Follow].
func Follow(ctx context.Context, load func() (*dataset.Set, error), address string, orders io.Reader,
	answers io.Writer) error {
	return team.Follow(ctx, &follower{load: load}, address, orders, answers)
}

// follower is the replica of a process that follows.
type follower struct {
	load    func() (*dataset.Set, error)
	data    *dataset.Set
	replica *replica // nil before the first copy
}

// Load reads the dataset. It returns the dataset's digest and the device that holds the dataset.
func (f *follower) Load() (digest string, d torch.Device, err error) {
	if f.data, err = f.load(); err != nil {
		return "", d, err
	}
	labels, err := f.data.Train.Labels.Info()
	return f.data.Digest, labels.Device, err
}

// Copy creates a replica of the leader's state.
func (f *follower) Copy(state json.RawMessage, d torch.Device) ([]*torch.Tensor, error) {
	f.Close()
	var c snapshot
	if err := json.Unmarshal(state, &c); err != nil {
		return nil, err
	}
	f.replica = &replica{Options: c.Options, Data: f.data, scope: torch.NewScope()}
	if err := f.replica.adopt(c, d); err != nil {
		return nil, err
	}
	return f.replica.tensors(), nil
}

// Work computes the follower's share of steps or of an evaluation.
func (f *follower) Work(line json.RawMessage, peers *torch.Peers) error {
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		return err
	}
	switch {
	case o.Train != nil:
		return f.train(*o.Train, peers)
	case o.Evaluate != nil:
		_, err := f.replica.measure(f.replica.split(o.Evaluate.Test), peers)
		return err
	}
	return errors.New("unknown command from the leader; run leader and follower with the same version of graft")
}

// train takes its share of some steps.
func (f *follower) train(o trainOrder, peers *torch.Peers) error {
	r := f.replica
	if r.seed != o.Seed {
		r.seed = o.Seed
		if err := r.reorder(); err != nil {
			return err
		}
	}
	if err := r.optimizer.Configure(0, o.Optimizer); err != nil {
		return err
	}
	var t torch.Teacher
	if o.Distill {
		t = torch.Teacher{Logits: r.logits, Temperature: o.Temperature, Share: o.Share, Past: o.Past, Length: o.Length}
	}
	_, err := r.train(o, t, peers)
	return err
}

// Close frees the replica.
func (f *follower) Close() {
	if f.replica != nil {
		f.replica.close()
		_ = f.replica.scope.Close()
		f.replica = nil
	}
}
