// Package genetic searches allocations of devices to jobs, on equal nodes, with NSGA-II (Deb et al., "A Fast and
// Elitist Multiobjective Genetic Algorithm: NSGA-II", IEEE Transactions on Evolutionary Computation 6, 2002) and the
// operators of the Pollux policy (Qiao et al., OSDI 2021). It maximises the fairness of the jobs' speedups and the
// utilisation of the nodes.
package genetic
