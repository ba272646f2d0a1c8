// Package graph holds a training step as a graph of operations, and reads such graphs.
//
// A [Profile] holds the measurements of a network: for each operation its forward and backward times, its output
// bytes and its parameter bytes. [Profile.Mirror] creates the [Graph] of one training step from a profile: the
// forward operations, their backward twins, and a dependency for each transfer between two operations.
package graph
