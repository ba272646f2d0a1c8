package trainer

import (
	"slices"

	"graft/model"
)

// Runs returns an error if the network cannot compute a batch of the job, because a graph was exported for batches or
// examples of another size. The numbers of training and validation examples are zero if they are unknown.
func (o Options) Runs(n *model.Network, training, validation int) error {
	if n.Graph == nil {
		return nil
	}
	o.EnsureDefaults()
	for _, rows := range o.rows(n, training, validation) {
		if err := n.Runs(rows); err != nil {
			return err
		}
	}
	return nil
}

// rows lists the sizes of the batches, and of the parts whose gradients are computed one after another.
func (o Options) rows(n *model.Network, training, validation int) (list []int) {
	add := func(rows int) {
		if rows > 0 && !slices.Contains(list, rows) {
			list = append(list, rows)
		}
	}
	steps := batchesOf(training, o.Batch)
	if o.AdaptiveBatch.On {
		steps = append(steps, batchesOf(training, o.AdaptiveBatch.Most)[0])
	}
	for _, batch := range steps {
		if part := o.microBatch(n, batch, 1); part > 0 {
			add(part)
			add(batch % part)
		} else {
			add(batch)
		}
	}
	for _, batch := range batchesOf(validation, o.EvalBatch) {
		add(batch)
	}
	return list
}

// batchesOf returns the sizes of the batches of a number of examples: full ones, and the last one. A number of zero is
// unknown.
func batchesOf(examples, batch int) (sizes []int) {
	if examples == 0 || examples >= batch {
		sizes = append(sizes, batch)
	}
	if last := examples % batch; last > 0 {
		sizes = append(sizes, last)
	}
	return sizes
}
