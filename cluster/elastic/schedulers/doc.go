// Package schedulers has the baselines for clusters of elastic jobs: one file each, and one list, [Kinds].
//
// Each assigns tasks to jobs from scratch in every slot, using estimated epochs and the speed model. With the quirks of
// package elastic they decide like the baselines of DL2's simulator.
package schedulers
