// Package simulation holds what a policy learns from: the outcome of every action
// sequence of a scenario, which is a network, a dataset, a budget and the time at
// which devices come. A table is a tree: each sequence is a path from its root, and
// sequences that begin alike share what happened until they part.
package simulation
