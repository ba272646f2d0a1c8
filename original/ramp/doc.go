// Package ramp plays episodes of the simulator of RAMP and PAC-ML (Parsonson et al., 2023,
// arXiv:2301.13799; github.com/cwfparsonson/ddls) as it recorded them: its configuration, its
// agents, what its policies saw and were rewarded with, and its policy network. The world itself is
// [graft/cluster/fabric], with every quirk kept.
package ramp
