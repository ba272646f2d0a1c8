// Package fabric describes graphs of training steps, simulates single steps, and makes the episodes and experiments
// of the simulator of RAMP and PAC-ML again. Episodes of files are simulated by package cluster/fabric/world.
package fabric
