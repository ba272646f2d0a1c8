// Package schedulers has the baselines for clusters of elastic jobs: one file each, and one list,
// [Kinds].
//
// Each gives tasks to jobs from scratch in every slot, from estimated epochs and the speed model.
// With the quirks of package elastic they decide as the baselines of DL2's simulator.
package schedulers
