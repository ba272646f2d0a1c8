// Package clock measures the time of a job. Virtual charges work according to a Profile, which holds the times of
// measured networks on a device and rates for all other networks. Wall is the wall clock.
//
// # Design
//
// Time is charged. The virtual clock adds the cost of each piece of work by a profile, in whole nanoseconds for each
// step, so grouping steps into calls changes nothing. The wall clock estimates the time of work from earlier work and
// its variation, scales it up for a network that grew, and does not count stalls between pieces of work.
//
// Rates are fitted. Rates for networks that were not measured are a sum of seven non-negative parts; least squares on
// relative errors give small and large networks equal weight. Graphs of operators and trees of fused layers are
// fitted separately. Measurements of networks of the same class correct the rates, so a network that grows never
// becomes cheaper. The cost depends only on the profile and the network, so a replay, a resumed job, a simulation and
// an arm that begins with the grown network are charged equally. Across classes, correcting by the most similar
// network did not improve predictions in cross-validation. A clock that does not know the cost of some work rejects
// the work in advance.
package clock
