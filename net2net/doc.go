// Package net2net operates on living networks: it deepens a block, widens a
// channel space, enlarges a kernel, adds a residual branch, and takes each of
// these back, without changing what the network computes (Chen, Goodfellow and
// Shlens, Net2Net, 2016). Every operation leaves a change record that says for
// each tensor whether it is kept, copied, split or new; the optimizer's state
// follows it, and a record can be saved, replayed and undone.
//
// An operation works on a sketch of the network's tree. Only when all of it has
// succeeded does the network take the sketch over, so a refusal or a failure
// leaves everything as it was.
//
// A new operation is one file and one line in the list of operations; the
// conformance suite in surgerytest runs on it unasked.
package net2net
