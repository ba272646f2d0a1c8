// Package pollux compares package adaptive with recorded runs of the published simulator of Pollux (Qiao et al.,
// OSDI 2021, branch osdi21-artifact of petuum/adaptdl).
package pollux
