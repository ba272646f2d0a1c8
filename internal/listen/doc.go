// Package listen holds what graft's listeners share: checks of addresses and hosts,
// connection limits, timeouts and error responses.
package listen
