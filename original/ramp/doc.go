// Package ramp reproduces recorded episodes of the published simulator of RAMP and PAC-ML (Parsonson et al., 2023,
// arXiv:2301.13799; github.com/cwfparsonson/ddls): its configuration, its agents, the observations and rewards of its
// policies, and its policy network. [graft/cluster/fabric] simulates the cluster, with all quirks of the published
// simulator.
package ramp
