// Package fabric describes graphs of training steps, simulates single steps, and reproduces the episodes and
// experiments of the simulator of RAMP and PAC-ML. Package cluster/fabric/world simulates the episodes of files.
package fabric
