// Package listen contains what graft's network listeners have in common: checks of addresses and hosts, connection
// limits, timeouts and error responses.
package listen
