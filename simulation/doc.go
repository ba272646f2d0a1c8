// Package simulation evaluates adaptation policies without training. A job with few decisions has a limited number of
// action sequences, so graft trains each of them once and stores the accuracies in a table. A policy is then a path
// through the table: its accuracy is a lookup, and its regret against the best sequence is known.
//
// # Types
//
// A [tables.Table] holds one record for each sequence of a scenario: actions, remaining budget at each decision, and
// the final accuracy of each seed. A scenario is a network, a dataset, a budget and the times of new devices.
//
// A [Tree] groups the records of a table by their common beginnings. [NewTree] applies the actions to the network
// without weights, so that every decision has the network that a policy would see there. [TreeOptions] supplies what
// old tables lack: the initial network, the options of surgery, and a device profile for step times.
//
// A [Node] is one decision: a decider.Situation with the choices, the actions before it, and the index of the next
// node for each choice. At the last decision that index is a record. [Tree.Follow] returns the record that a
// deterministic policy reaches. [Tree.Spread] returns the probability of each record for a policy that samples
// actions.
//
// [MeanAccuracies] returns the accuracy of each record, averaged over its seeds. [Smoothed] returns the accuracies of a
// simple model that is fitted to the table: it averages out the noise of single runs, and loses effects that the model
// cannot express. Differences of accuracy are in points, hundredths of accuracy; see [Points].
//
// [Tree.Digest] covers everything that learning and evaluation read. [Tree.Content] is the digest without the name of
// the table; it finds copies of a table.
//
// # Packages
//
//	tables      the on-disk cache of records: format, writing, reading, merging, checking
//	grid        runs the sequences of a scenario, each segment of training once
//	learning    a structural policy learns from trees whose sequences are all known
//	evaluation  policies and baselines on trees: regret, noise, comparisons
//
// "graft simulate" fills tables, "graft learn" trains policies on them, and "graft evaluate" compares policies. "graft
// pipeline" does all three.
package simulation
