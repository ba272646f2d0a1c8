// Package simulation is the room of tables of simulated sequences of actions. It holds the parts shared by its
// packages: a [Tree] is a table arranged by decisions, and [Smoothed] fits a simple law to a table.
//
//	tables      the on-disk cache of records: format, writing, reading, merging, checking
//	grid        runs the sequences of a scenario, each segment of training once
//	learning    a structural policy learns from trees whose sequences are all known
//	evaluation  policies and baselines on trees: regret, noise, comparisons
package simulation
