// Package stat holds the program's statistics: means and spreads, quantiles, the bootstrap, permutation tests,
// Student's intervals and least squares.
//
// Everything is deterministic: random streams are arguments or seeded, and sums run in the order of the values.
package stat
