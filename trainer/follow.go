package trainer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"graft/dataset"
	"graft/model"
	"graft/net2net"
	"graft/torch"
)

// Follow is the whole of a process that trains with a job's leader: it loads the
// same images onto its device, does what it is told, and answers, until there are no
// more orders, which is also how it learns that the leader is gone. It writes no
// files. Call it in a scope of [torch.With], which keeps it on one thread.
func Follow(load func() (*dataset.Set, error), orders io.Reader, answers io.Writer) error {
	f := &following{out: json.NewEncoder(answers)}
	defer f.close()
	err := f.begin(load)
	in := json.NewDecoder(orders)
	for err == nil {
		var o order
		if err = in.Decode(&o); err == nil {
			err = f.obey(o)
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return fmt.Errorf("follow the job's leader: %w", err)
}

// following is what a follower has.
type following struct {
	out    *json.Encoder
	data   *dataset.Set
	device torch.Device
	job    *Job         // a copy of the leader's, without its clock and its book
	peers  *torch.Peers // nil while it is in no group
	scope  *torch.Scope // of peers
}

// begin loads the images and says so, or why it cannot.
func (f *following) begin(load func() (*dataset.Set, error)) error {
	var err error
	var a answer
	if f.data, err = load(); err == nil {
		a.Data = f.data.Digest
		var images torch.Info
		images, err = f.data.Train.Images.Info()
		f.device = images.Device
	}
	if err != nil {
		a.Error = err.Error()
	}
	return errors.Join(err, f.out.Encode(a))
}

// obey does what an order says and answers. The error is one that ends the process.
func (f *following) obey(o order) error {
	err := f.do(o)
	a := answer{Lost: errors.Is(err, torch.ErrPeer)}
	if err != nil {
		f.part() // so that all others see it
		a.Error = err.Error()
	}
	if a.Lost {
		err = nil // the leader will make another group
	}
	return errors.Join(f.out.Encode(a), err)
}

func (f *following) do(o order) error {
	switch {
	case o.Meet != nil:
		return f.meet(*o.Meet)
	case f.peers == nil:
		return fmt.Errorf("it is in no group: %w", torch.ErrPeer)
	case o.Copy != nil:
		return f.copy(*o.Copy)
	case f.job == nil:
		return errors.New("it has no network yet")
	case o.Train != nil:
		return f.train(*o.Train)
	case o.Evaluate != nil:
		_, err := f.job.figures(o.Evaluate.Test, f.peers)
		return err
	}
	return errors.New("it does not know the order; leader and follower are different programs")
}

func (f *following) meet(m meeting) error {
	f.part()
	if err := torch.SetThreads(m.Threads); err != nil {
		return err
	}
	f.scope = torch.NewScope()
	f.peers = f.scope.NewPeers(torch.PeersOptions{Rank: m.Rank, Size: m.Size, Store: m.Store, Device: f.device, Timeout: m.Timeout})
	return f.scope.Err()
}

// copy takes over what the leader has.
func (f *following) copy(l likeness) error {
	f.drop()
	j := &Job{Options: l.Options, s: torch.NewScope()}
	f.job, j.Data = j, f.data
	var err error
	if j.Network, err = sketched(j.s, l.Network, l.DType, f.device); err != nil {
		return err
	}
	if err = j.furnish(); err != nil {
		return err
	}
	if err := j.random.Restore(l.Generator); err != nil {
		return err
	}
	if err := j.countedOptimizer(l.Counts); err != nil {
		return err
	}
	if l.Lessons != nil {
		j.lessons = j.s.Zeros(torch.Float32, f.device, l.Lessons...)
	}
	return f.peers.Broadcast(0, j.tensors()...)
}

// sketched is a network of a form, whose tensors wait to be broadcast.
func sketched(s *torch.Scope, form map[string]any, dtype torch.DType, device torch.Device) (*model.Network, error) {
	n, err := model.FromForm(form)
	if err != nil {
		return nil, err
	}
	return n, n.Materialize(s, model.Placement{Device: device, DType: dtype, Random: s.NewGenerator(torch.CPU, 0)})
}

// countedOptimizer is an optimizer that has taken so many steps of each parameter.
func (j *Job) countedOptimizer(counts []int64) error {
	trained := j.Network.Trained()
	if len(counts) != len(trained) {
		return fmt.Errorf("%d counts of steps for %d parameters", len(counts), len(trained))
	}
	group := torch.Group{OptimizerOptions: j.optimizerOptions()}
	j.optimizer = &net2net.Optimizer{}
	for k, e := range trained {
		group.Params = append(group.Params, e.Tensor)
		group.State = append(group.State, torch.State{Steps: counts[k]})
		j.optimizer.Names = append(j.optimizer.Names, e.Name)
	}
	j.optimizer.Optimizer = j.s.NewOptimizer(group)
	return j.s.Err()
}

func (f *following) train(o trainOrder) error {
	j := f.job
	if j.Epoch != o.Epoch {
		j.Epoch = o.Epoch
		if err := j.stale(); err != nil {
			return err
		}
	}
	if err := j.optimizer.Configure(0, o.Optimizer); err != nil {
		return err
	}
	var t torch.Teacher
	if o.Taught {
		t = torch.Teacher{Logits: j.lessons, Temperature: o.Temperature, Share: o.Share, Fall: o.Fall}
	}
	_, err := j.steps(o.From, o.Rows, t, f.peers)
	return err
}

// part leaves the group.
func (f *following) part() {
	if f.scope != nil {
		_ = f.scope.Close()
	}
	f.scope, f.peers = nil, nil
}

// drop forgets the copy.
func (f *following) drop() {
	if f.job != nil {
		f.job.close()
		_ = f.job.s.Close()
		f.job = nil
	}
}

func (f *following) close() {
	f.part()
	f.drop()
}
