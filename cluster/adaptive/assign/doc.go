// Package assign divides devices of equal nodes among jobs so that the sum of the jobs' values is as large as it
// can be. Without nodes this is a multiple-choice knapsack, which dynamic programming solves exactly; its
// value is an upper bound. Placing the devices on nodes costs some of it, and a local search gets most of that
// back: it takes the jobs of two nodes away and divides what they had anew (large neighbourhood search; Shaw,
// "Using Constraint Programming and Local Search Methods to Solve Vehicle Routing Problems", CP 1998).
package assign
