// Package schedulers holds the baselines for clusters of elastic jobs: one file per baseline, and the list [Kinds] of
// all baselines.
//
// Each baseline assigns tasks to jobs from scratch in every slot, from estimated epochs and the speed model. With the
// quirks of package elastic, it makes the same decisions as the baseline in DL2's simulator.
package schedulers
