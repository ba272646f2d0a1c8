// Package runs reads run folders of every kind: manifest, settings, outcome and time series. It
// also holds the types of outcome.json.
package runs
