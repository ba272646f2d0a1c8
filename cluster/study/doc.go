// Package study runs cluster simulations of every world. A world (package world of a simulator) provides the options of
// its file, its workloads and schedulers, and runs one cell: a workload under a scheduler, with a seed and some quirks.
// This package enumerates the cells, saves each finished cell, resumes after a kill, measures the effect of each quirk,
// ranks the schedulers with paired intervals, and writes the tables and the outcome for reports, figures and other
// programs.
//
// Each world has its own engine. Slots that are emptied every round, one-minute rounds with adaptive batches,
// admission control, and devices that tasks share do not fit into a common engine. All worlds share one input format
// and one output format.
package study
