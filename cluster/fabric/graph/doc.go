// Package graph holds a training step as a graph of operations, and reads such graphs.
//
// A [Profile] has what was measured of a network: each operation's times forward and backward,
// the bytes it gives to others and those of its parameters. [Profile.Mirror] makes the [Graph] of
// one training step of it: the operations forward, their twins backward, and a dependency for each
// transfer between two of them.
package graph
