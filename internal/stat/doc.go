// Package stat contains the program's statistics: means and spreads, quantiles, the bootstrap, permutation tests,
// Student's intervals and least squares.
//
// All functions are deterministic: random generators are arguments or have a seed, and sums add values in their order.
package stat
