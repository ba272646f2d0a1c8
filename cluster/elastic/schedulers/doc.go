// Package schedulers has the baselines for clusters of elastic jobs: one file per baseline, and one list, [Kinds].
//
// Each baseline assigns tasks to jobs from scratch in every slot, from estimated epochs and the speed model. With the
// quirks of package elastic, it decides like the same baseline of DL2's simulator.
package schedulers
