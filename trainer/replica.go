package trainer

import (
	"cmp"
	"errors"
	"fmt"

	"graft/dataset"
	"graft/model"
	"graft/net2net"
	"graft/torch"
)

// replica holds one process's copy of the network in training, with its optimizer, its images and the compiled step.
// The leader of a job and each follower hold one.
type replica struct {
	Options
	Network *model.Network
	Data    *dataset.Set

	scope     *torch.Scope // owns all tensors except the ones in scratch
	optimizer *net2net.Optimizer
	random    *torch.Generator // generator of augmentation and dropout
	logits    *torch.Tensor    // logits of a larger network on the training images; nil means no distillation
	mean      *torch.Tensor
	deviation *torch.Tensor
	average   *model.Network // average of the network's weights; nil without Options.EMA
	remote    *remote        // external program that trains instead of this process; nil means none
	revision  int            // counts changes of the tensors, except by steps

	// receives the times of the steps, or of the evaluated batches, of each call; nil does not measure them
	timed func(training bool, t []torch.StepTimes)

	least int // minimum rows of a step and of its parts; see model.Network.LeastRows

	seed   int64         // seed of the order of this epoch's images
	order  *torch.Tensor // order of this epoch's images
	places []int64       // the same order, if images are streamed
	epoch  *torch.Scope  // owns order; nil until it is made

	program   *torch.Program // program of a step
	evaluator *torch.Program // program of an evaluation, with the average's weights if there is an average
	scratch   *torch.Scope   // owns the programs; nil until they are made
}

// setUp makes the generator and the normalization of images.
func (r *replica) setUp() error {
	r.random = r.scope.NewGenerator(r.Network.Placement().Device, r.Seed)
	if r.remote != nil {
		r.least = 1 // the program forms its batches
		return r.scope.Err()
	}
	var err error
	if r.least, _, err = r.Network.LeastRows(); err != nil {
		return err
	}
	return r.loadNormalization()
}

func (r *replica) loadNormalization() error {
	if r.Data.Tokens() {
		return nil
	}
	device, channels := r.Network.Placement().Device, len(r.Data.Mean)
	r.mean = r.scope.To(torch.From(r.scope, r.Data.Mean, channels, 1, 1), torch.Float32, device)
	r.deviation = r.scope.To(torch.From(r.scope, r.Data.Deviation, channels, 1, 1), torch.Float32, device)
	return r.scope.Err()
}

// compile makes a network's program on images that are stored as bytes.
func (r *replica) compile(s *torch.Scope, n *model.Network) (*torch.Program, error) {
	o := torch.ProgramOptions{Fast: !r.Exact, Steady: r.Steady, Precision: r.Precision, Graphs: r.CUDAGraphs}
	if r.Data.Tokens() {
		return n.Program(s, o)
	}
	return n.ProgramOn(s, o, model.Pixels{Factor: 1.0 / 255, Mean: r.mean, Deviation: r.deviation})
}

// compileStep makes the missing programs.
func (r *replica) compileStep() (err error) {
	if r.scratch != nil || r.remote != nil {
		return nil
	}
	r.scratch = torch.NewScope()
	if r.program, err = r.compile(r.scratch, r.Network); err != nil {
		return err
	}
	r.evaluator = r.program
	if r.average != nil {
		r.evaluator, err = r.compile(r.scratch, r.average)
	}
	return err
}

// arrange makes the order of the epoch's images if it is missing. It follows from the seed, so it is not saved.
func (r *replica) arrange() (err error) {
	if r.epoch != nil {
		return nil
	}
	r.epoch = torch.NewScope()
	order := r.epoch.Permutation(r.Data.Train.Count, r.epoch.NewGenerator(torch.CPU, r.seed))
	r.order = r.epoch.To(order, torch.Int64, r.Network.Placement().Device)
	if r.Data.Train.Stream != nil {
		r.places, err = torch.Values[int64](order)
	}
	return errors.Join(err, r.epoch.Err())
}

// stale drops the programs after a change of the network.
func (r *replica) stale() error {
	if r.scratch == nil {
		return nil
	}
	err := r.scratch.Close()
	r.scratch, r.program, r.evaluator = nil, nil, nil
	return err
}

// reorder drops the order of an epoch.
func (r *replica) reorder() error {
	if r.epoch == nil {
		return nil
	}
	err := r.epoch.Close()
	r.epoch, r.order, r.places = nil, nil, nil
	return err
}

// train takes steps on rows of the epoch's order in one call. It updates the order's scaler, if any, when the call
// succeeds.
func (r *replica) train(o trainOrder, t torch.Teacher, peers *torch.Peers) (f torch.Figures, err error) {
	if r.remote != nil {
		return r.trainRemote(o, t)
	}
	if err := errors.Join(r.compileStep(), r.arrange()); err != nil {
		return f, err
	}
	err = torch.With(func(s *torch.Scope) error {
		b := torch.Batches{Inputs: r.Data.Train.Images, Labels: r.Data.Train.Labels, Order: s.Narrow(r.order, 0, o.From,
			o.Rows), Size: o.Batch, Part: o.Part, Least: r.least, Squares: o.Measured,
			Rates: o.Rates, Random: r.random, Augment: r.Augment, Smoothing: r.LabelSmoothing,
			Ignores: r.Data.Train.Marked != nil, Timed: r.timed != nil,
			Teacher: t, Average: r.averaging(o.First), Scaler: o.Scaler,
			WarmUp: torch.WarmUp{Born: r.optimizer.Born, Length: o.WarmUp, Past: o.Taken},
			Peers:  peers}
		if err := errors.Join(r.stream(s, o, &b), s.Err()); err != nil {
			return err
		}
		f, err = torch.Train(r.program, r.optimizer.Optimizer, b)
		if err == nil && r.timed != nil {
			r.timed(true, f.Times)
		}
		return err
	})
	return f, err
}

// stream reads a call's images if they are streamed, and prefetches the images of the next call.
func (r *replica) stream(s *torch.Scope, o trainOrder, b *torch.Batches) (err error) {
	if r.Data.Train.Stream == nil {
		return nil
	}
	if b.Teacher.Logits != nil {
		b.Teacher.Logits = s.IndexSelect(b.Teacher.Logits, 0, b.Order)
	}
	b.Order = nil
	end := o.From + o.Rows
	rows := func(places []int64) dataset.Rows {
		return dataset.Rows{Places: places, Needed: r.needed(len(places), b)}
	}
	b.Inputs, b.Labels, err = r.Data.Train.Pick(s, rows(r.places[o.From:end]),
		rows(r.places[end:min(end+o.Rows, len(r.places))]))
	return err
}

// needed marks the rows of a call whose images this process reads: its share of each part of each batch, or the last
// row of a batch that is too short. Nil means all rows. Mixup also needs all, since a row's partner may be any row.
func (r *replica) needed(rows int, b *torch.Batches) []bool {
	if b.Peers == nil || b.Augment.Mixup > 0 {
		return nil
	}
	list := make([]bool, rows)
	for batch, size := 0, 0; batch < rows; batch += size {
		size = torch.Piece(rows-batch, b.Size, b.Least)
		for from, count := 0, 0; from < size; from += count {
			count = torch.Piece(size-from, cmp.Or(b.Part, size), b.Least)
			start, own := b.Peers.Share(count)
			if own == 0 {
				start, own = count-1, 1
			}
			for k := range own {
				list[batch+from+start+k] = true
			}
		}
	}
	return list
}

// split returns the test images or the validation images.
func (r *replica) split(test bool) dataset.Split {
	if test {
		return r.Data.Test
	}
	return r.Data.Validation
}

// measure evaluates the replica's own network on a split.
func (r *replica) measure(split dataset.Split, peers *torch.Peers) (torch.Figures, error) {
	if err := r.compileStep(); err != nil {
		return torch.Figures{}, err
	}
	return r.batches(r.evaluator, split, peers)
}

func (r *replica) batches(program *torch.Program, split dataset.Split,
	peers *torch.Peers) (all torch.Figures, err error) {
	needed := func(count int) (from, to int) { // whole batches
		start, own := peers.Share((count + r.EvalBatch - 1) / r.EvalBatch)
		return start * r.EvalBatch, min((start+own)*r.EvalBatch, count)
	}
	return all, split.Each(split.Most(r.EvalBatch), needed, func(_ *torch.Scope, images, labels *torch.Tensor) error {
		f, err := torch.Evaluate(program, torch.Batches{Inputs: images, Labels: labels, Size: r.EvalBatch,
			Timed: r.timed != nil, Peers: peers})
		if err == nil && r.timed != nil {
			r.timed(false, f.Times)
		}
		all.Losses, all.Correct = append(all.Losses, f.Losses...), append(all.Correct, f.Correct...)
		return err
	})
}

// appraise evaluates any network on a split, in this process only.
func (r *replica) appraise(n *model.Network, split dataset.Split) (score Score, err error) {
	err = torch.With(func(s *torch.Scope) error {
		program, err := r.compile(s, n)
		if err != nil {
			return err
		}
		f, err := r.batches(program, split, nil)
		score, err = r.score(f, split, err)
		return err
	})
	return score, err
}

// score combines the batches of a split.
func (r *replica) score(f torch.Figures, split dataset.Split, err error) (Score, error) {
	if err != nil {
		return Score{}, fmt.Errorf("evaluate: %w", err)
	}
	score, correct := Score{}, 0
	labels := r.Data.Labels(split, 0, split.Count)
	for k, loss := range f.Losses {
		first, last := k*r.EvalBatch, min((k+1)*r.EvalBatch, split.Count)
		share, of := last-first, split.Count
		if split.Marked != nil {
			share, of = r.Data.Labels(split, first, last), labels
		}
		if share > 0 { // the mean over no labels is undefined
			score.Loss += loss * float64(share) / float64(of)
		}
		correct += f.Correct[k]
	}
	score.Accuracy = float64(correct) / float64(labels)
	return score, nil
}

// dropLogits ends distillation.
func (r *replica) dropLogits() {
	if r.logits != nil {
		r.scope.Free(r.logits)
		r.logits = nil
	}
}

func (r *replica) close() {
	_, _ = r.stale(), r.reorder()
	r.dropLogits()
}
