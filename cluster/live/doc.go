// Package live describes live jobs: jobs of a cluster trace for which graft trains a network on the devices that a
// scheduler gives them. The package holds their options, their timelines and their results. Package runner/live trains
// them.
package live
