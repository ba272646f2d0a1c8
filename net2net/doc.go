// Package net2net changes trained networks: it deepens a block, widens a channel space, enlarges a kernel, adds a
// residual branch, and reverts each of these changes, without changing the output of the network (Chen, Goodfellow and
// Shlens, Net2Net, 2016). Every operation returns a change record that states for each tensor whether it is kept,
// copied, split or new. The optimizer's state follows the record, and a record can be saved, replayed and undone.
//
// An operation works on a sketch of the network's tree. The network adopts the sketch only after the whole operation
// has succeeded, so a rejection or a failure changes nothing.
//
// A new operation is one file and one line in the list of operations; the conformance suite in surgerytest covers it
// automatically.
//
// # Design
//
// How the function is kept.
//
//   - A new layer is an identity (Dirac). After batch normalisation it gets its own batch normalisation, with the
//     running statistics of a batch and a scale and bias that undo them. Train mode therefore keeps the function on
//     that batch, and on similar ones. After an activation that is not idempotent, or after a normalisation over each
//     example, no such layer is exact. Surgery then adds a residual branch that starts at zero.
//   - A weight that reads a copied unit goes to one of the copies, and the others get zeros. With the rule "equal", a
//     share is rounded to a multiple of the weight's last place (Dekker 1971), and the first copy takes the rest.
//     Either way, copies add up exactly to the weight, so reverting restores the first weights exactly, in either
//     precision and for all counts.
//   - Nothing is changed in place. An operation works on a sketch of the tree that shares the tensors. The network
//     adopts the sketch when everything has succeeded.
//
// New units of a wider layer start as copies, or as package starts computes from the gradient of the loss on training
// data. In the second case, the units' mapping has -1 for a new unit, and the record holds the new weights: replaying
// the record needs no data, and reverting it drops the units. Every start except TINY keeps the function. A start needs
// one layer that makes the units and one that reads them; other layers are refused.
//
// The optimizer follows. A change record states the origin of each tensor. Moments follow their gradients: each of n
// copies of a channel gets an nth of the gradient, and the weights that multiply it keep theirs. The conformance
// suite checks this against gradients with the rule "equal"; with "partition", copies get an nth on average. A new
// tensor starts with first moment zero, and the mean second moment and step count of its donor layer, so Adam's first
// steps are not too large. Learning rates and schedules stay unchanged. Type Moments lists other rules, and Following
// records the births of new elements for a warm-up.
//
// The conformance suite is net2net/surgerytest. It draws networks with all kinds of layers and tests each registered
// operation in both modes and both precisions: function, exact reversal, replay of a saved record, gradients. A
// failure shrinks to a small network. Normalisation over each example is discontinuous at zero, so it is drawn only
// if its inputs are away from zero.
package net2net
