// Package study runs cluster simulations of every world. A world (package world of a simulator) provides the
// options of its file, its workloads and schedulers, and runs one cell: a workload under a scheduler, with a
// seed and some quirks. This package does the rest: it enumerates the cells, saves each one when it ends and
// resumes after a kill, measures what each quirk is worth, ranks the schedulers with paired intervals, and
// writes the tables and the outcome that reports, figures and other programs read.
//
// Worlds have their own physics: slots that are emptied every round, rounds of a minute with batches that move,
// admission control, and devices that tasks share do not fit into one engine. They have one way in and one way
// out.
package study
