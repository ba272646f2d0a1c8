// Package listen holds common parts of graft's listeners: checks of addresses and hosts, connection limits, timeouts
// and error responses.
package listen
