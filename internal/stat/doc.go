// Package stat holds the statistics of the program, each once: means and spreads,
// quantiles, the bootstrap, permutation tests, Student's intervals and least squares.
//
// Everything is deterministic: random streams are handed in or seeded, and sums run
// in the order of the values.
package stat
