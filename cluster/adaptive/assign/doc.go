// Package assign divides the devices of equal nodes among jobs and maximises the sum of the jobs' values. If nodes are
// ignored, this is a multiple-choice knapsack problem, which dynamic programming solves exactly; its value is an upper
// bound. Placing the devices on nodes loses some value, and a local search recovers most of the loss: it removes the
// jobs of two nodes and redistributes their devices (large neighbourhood search; Shaw, "Using Constraint Programming
// and Local Search Methods to Solve Vehicle Routing Problems", CP 1998).
package assign
