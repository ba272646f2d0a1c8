package trainer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"graft/dataset"
	"graft/internal/words"
	"graft/model"
	"graft/torch"
	"graft/torch/weights"
	"graft/trainer/program"
)

// programSection holds the state of an external program in a checkpoint.
const programSection = "program"

// Program is an external program that trains the network of a job in its own loop. SetOptions sets the job options that
// the program determines.
type Program struct {
	Session *program.Session
	Facts   program.Facts // size of an epoch
	// Validation is the number of validation examples for which the virtual clock charges time. Zero means that
	// validation takes no time.
	Validation int
	// Restart closes the session, starts the program again for a number of devices, and replaces Session. Nil means
	// that a change of the devices does not restart the program.
	Restart func(devices int) error
	// Pushed is called after each change of the network, with a description of how the program runs the changed
	// network. Nil means no calls.
	Pushed func(program.Pushed)
}

// Begin reads the size of an epoch from the program's first epoch or, if saved is not nil, from a checkpoint. For a new
// job it returns the program's network with its weights, which the scope owns. For a saved job it returns nil.
func (p *Program) Begin(ctx context.Context, s *torch.Scope, saved *SavedJob) (n *model.Network, err error) {
	if saved != nil {
		p.Facts, err = saved.SavedFacts()
		return nil, err
	}
	if p.Facts, err = p.Session.Fresh(ctx); err != nil {
		return nil, err
	}
	return p.Session.Network(s)
}

// SetOptions sets the job options that the program determines: the batch sizes and the optimizer. The program must have
// reached its first epoch.
func (p *Program) SetOptions(o *Options) {
	o.Batch, o.EvalBatch, o.Optimizer = p.Facts.Batch, p.Facts.Batch, p.Session.Begun.Optimizer
}

// Data returns a dataset that states the number of examples but contains none. graft never reads the program's
// examples.
func (p *Program) Data(n *model.Network) (*dataset.Set, error) {
	out, err := n.Output()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "program %d %d %d", p.Facts.Steps, p.Facts.Batch, p.Validation))
	set := &dataset.Set{Name: "program", Shape: n.Input, Digest: hex.EncodeToString(sum[:]),
		Classes: make([]string, max(1, out[len(out)-1]))}
	set.Train.Count, set.Validation.Count = p.Facts.Steps*p.Facts.Batch, p.Validation
	return set, nil
}

// remote is the program of a replica, whose network and optimizer mirror the program's.
type remote struct {
	*Program
	behind   bool             // the program has trained since the mirror was updated
	revision int              // revision of the replica that the program has
	teacher  *program.Content // larger network that the next push offers as a teacher
	rate     float64          // learning rate of the program's last step
	missing  int              // examples that the steps of the last call lack to be full batches
	devices  int              // number of devices
}

// trainRemote lets the program take the steps of an order.
func (r *replica) trainRemote(o trainOrder, t torch.Teacher) (torch.Figures, error) {
	if err := r.push(); err != nil {
		return torch.Figures{}, err
	}
	var shares []float64
	for k := range o.Rates {
		if t.Share > 0 {
			shares = append(shares, t.Share*(1-float64(t.Past+k)/float64(t.Length)))
		}
	}
	r.remote.behind = true
	got, err := r.remote.Session.Train(o.Rates, shares, r.remote.devices)
	r.remote.rate, r.remote.missing = got.Rate, 0
	for _, n := range got.Examples {
		if n > 0 {
			r.remote.missing += o.Batch - n
		}
	}
	return torch.Figures{Losses: got.Losses, Correct: got.Correct}, err
}

// evaluateRemote lets the program validate its network.
func (r *replica) evaluateRemote() (Score, error) {
	if err := r.push(); err != nil {
		return Score{}, err
	}
	loss, accuracy, err := r.remote.Session.Evaluate()
	if err != nil {
		return Score{}, fmt.Errorf("evaluate: %w", err)
	}
	return Score{Loss: loss, Accuracy: accuracy}, nil
}

// pull updates the mirror after the program has trained. Without a program it does nothing.
func (r *replica) pull() error {
	if r.remote == nil || !r.remote.behind {
		return nil
	}
	set, counts, err := r.remote.Session.Pull()
	if err == nil {
		err = r.mirror(set, counts)
	}
	if err != nil {
		return fmt.Errorf("update graft's copy of the program's network: %w", err)
	}
	r.remote.behind = false
	return nil
}

// mirror copies the program's tensors into the network and the optimizer.
func (r *replica) mirror(set *weights.Set, counts map[string]int64) error {
	pulled := map[string]weights.Tensor{}
	for _, t := range set.Tensors {
		pulled[t.Name] = t
	}
	own := &weights.Set{}
	for _, e := range r.Network.State() {
		if t, ok := pulled[e.Name]; ok { // constants of the graph are not tensors of a module
			own.Tensors = append(own.Tensors, t)
		}
	}
	if err := r.Network.Load(own); err != nil {
		return err
	}
	r.freeOptimizer()
	var steps []int64
	for _, e := range r.Network.Trained() {
		steps = append(steps, counts[e.Name])
	}
	if err := r.resumeOptimizer(steps, func(name string) *torch.Tensor {
		if t, ok := pulled[name]; ok {
			return torch.FromWeights(r.scope, torch.CPU, t)
		}
		return nil
	}); err != nil {
		return err
	}
	return r.scope.Err()
}

// freeOptimizer closes the optimizer and frees its state.
func (r *replica) freeOptimizer() {
	r.optimizer.Close()
	for _, t := range r.optimizerTensors() {
		r.scope.Free(t)
	}
	r.scope.Free(r.optimizer.Steps)
}

// push gives the program the replica's network and optimizer if surgery changed them. Without a program it does
// nothing.
func (r *replica) push() error {
	if r.remote == nil || r.remote.revision == r.revision {
		return nil
	}
	c, err := r.content()
	if err != nil {
		return err
	}
	pushed, err := r.remote.Session.Push(c, r.remote.teacher)
	if err != nil {
		return fmt.Errorf("send the changed network to the program: %w", err)
	}
	r.remote.revision, r.remote.teacher = r.revision, nil
	if r.remote.Pushed != nil {
		r.remote.Pushed(pushed)
	}
	return nil
}

// content returns the network with its weights and moments, for the program.
func (r *replica) content() (program.Content, error) {
	set, err := r.Network.Save()
	if err != nil {
		return program.Content{}, err
	}
	moments, err := r.momentSet()
	if err != nil {
		return program.Content{}, err
	}
	set.Tensors = append(set.Tensors, moments.Tensors...)
	steps, err := torch.Values[int64](r.optimizer.Steps)
	if err != nil {
		return program.Content{}, err
	}
	c := program.Content{Network: r.Network.Sketch(), Tensors: set, Counts: map[string]int64{}}
	for k, name := range r.optimizer.Names {
		c.Counts[name] = steps[k]
	}
	return c, nil
}

// offerTeacher keeps the network, which is about to shrink, as a teacher for the program.
func (r *replica) offerTeacher() error {
	set, err := r.Network.Save()
	r.remote.teacher = &program.Content{Network: r.Network.Sketch(), Tensors: set}
	return err
}

// restoreProgram continues a program from a checkpoint.
func (st *SavedJob) restoreProgram(r *replica) error {
	if r.remote == nil {
		return nil
	}
	at, err := r.restoreRemote(st.sections[programSection])
	if err == nil && at.Facts != r.remote.Facts {
		saved := r.remote.Facts
		err = fmt.Errorf("the program has %d batches of %d examples per epoch, but had %d of %d when the job was "+
			"saved; use the same data, batch size and number of processes, or start a new run", at.Steps, at.Batch,
			saved.Steps, saved.Batch)
	}
	return err
}

// restoreRemote continues a program that has just started from a state.
func (r *replica) restoreRemote(state []byte) (program.Place, error) {
	c, err := r.content()
	if err != nil {
		return program.Place{}, err
	}
	r.remote.revision = r.revision
	return r.remote.Session.Restore(context.Background(), c, state)
}

// regroup starts the program again if its number of processes follows the devices. The new processes continue from the
// state of the earlier ones.
func (j *Job) regroup() error {
	if j.remote == nil || j.remote.Restart == nil || j.remote.devices == j.Devices {
		return nil
	}
	if err := errors.Join(j.pull(), j.push()); err != nil {
		return err
	}
	state, err := j.remote.Session.Save()
	if err != nil {
		return err
	}
	if err := j.remote.Restart(j.Devices); err != nil {
		return err
	}
	at, err := j.restoreRemote(state)
	if err != nil {
		return fmt.Errorf("continue the program with %s: %w", words.Plural(j.Devices, "device"), err)
	}
	j.remote.devices = j.Devices
	return j.adopt(at)
}

// adopt continues with the size of an epoch, the batch and the learning rate of a restarted program.
func (j *Job) adopt(at program.Place) (err error) {
	j.remote.Facts = at.Facts
	if j.Data, err = j.remote.Data(j.Network); err != nil {
		return err
	}
	before := j.Clock.Cost(j.work(1))
	j.remote.SetOptions(&j.Options)
	j.Seen, j.pace = at.Position*at.Batch, pace{}
	j.distillation.stretch(before, j.Clock.Cost(j.work(1)))
	return nil
}

// SavedFacts returns the epoch size of an external program, from a saved job that trains with this program. It returns
// an error if the job was trained by graft, without an external program.
func (st *SavedJob) SavedFacts() (program.Facts, error) {
	var from origin
	if err := decodePosition(st.sections[positionSection], &from); err != nil {
		return program.Facts{}, err
	}
	if from.Program == nil || st.sections[programSection] == nil {
		return program.Facts{}, errors.New("a program cannot continue this job, because graft trained the job " +
			"itself until the checkpoint; start a new run")
	}
	return *from.Program, nil
}
