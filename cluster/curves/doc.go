// Package curves computes what the networks of cluster jobs learn, without training them. A learning curve is fitted to
// a table of simulated action sequences; a job draws a curve, follows it on the devices that its scheduler gives it,
// and grows its network where the curve promises the most.
package curves
