package listen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"graft/internal/failure"
)

// CheckAddress returns an error if other machines can reach an address, unless anywhere is true. The error includes
// danger, a text that describes the risk.
func CheckAddress(address string, anywhere bool, danger string) error {
	if host, _, _ := net.SplitHostPort(address); !anywhere && !IsLoopback(host) {
		return failure.Usagef("listen on %s: other machines can reach this address, and %s; "+
			"use 127.0.0.1 and ssh -L, or add option listen-anywhere", address, danger)
	}
	return nil
}

// Listen opens a TCP listener. It rejects an address that other machines can reach, unless anywhere is true.
func Listen(address string, anywhere bool) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; choose another port, or use port 0 for a free one", address, err)
	}
	if host, _, _ := net.SplitHostPort(l.Addr().String()); !anywhere && !IsLoopback(host) {
		return nil, errors.Join(failure.Usagef("listen on %s: the name resolves to %s, which other machines can "+
			"reach; "+
			"use 127.0.0.1", address, host), l.Close())
	}
	return l, nil
}

// tryTimeout limits the resolution of a host name.
const tryTimeout = 2 * time.Second

// Try returns an error if this process cannot listen on an address now. It closes the port again.
func Try(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return l.Close()
}

// IsLoopback reports whether a host name or address refers to this machine and cannot be reached from other machines.
func IsLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// Hosts returns a function that reports whether a server may answer a request, given the host in its Host header. It
// rejects foreign names that resolve to this machine, which a web page could use for an attack (DNS rebinding).
func Hosts(address string, l net.Listener, anywhere bool) func(host string) bool {
	given, _, _ := net.SplitHostPort(address)
	bound, _, _ := net.SplitHostPort(l.Addr().String())
	name, _ := os.Hostname() // on an error no name matches
	return func(host string) bool {
		ip := net.ParseIP(host)
		switch {
		case host == "":
			return false
		case IsLoopback(host) || strings.EqualFold(host, given) || ip != nil && ip.Equal(net.ParseIP(bound)):
			return true
		case !anywhere:
			return false
		}
		short, _, _ := strings.Cut(name, ".")
		return ip != nil || strings.EqualFold(host, name) || strings.EqualFold(host, short)
	}
}

// HostOf returns the host in a Host header, without the port, since a tunnel can change the port.
func HostOf(header string) string {
	host, _, err := net.SplitHostPort(header)
	if err != nil {
		host = strings.Trim(header, "[]")
	}
	return strings.TrimSuffix(host, ".")
}

// Refusal is an error response to an HTTP request.
type Refusal struct {
	Status int    `json:"-"`      // HTTP status code
	Wrong  string `json:"error"`  // text of the error
	Remedy string `json:"remedy"` // text of the remedy
}

// Error returns the text of Wrong.
func (r *Refusal) Error() string { return r.Wrong }

// Refuse creates a refusal with a formatted error text.
func Refuse(status int, remedy, format string, args ...any) *Refusal {
	return &Refusal{Status: status, Wrong: fmt.Sprintf(format, args...), Remedy: remedy}
}

// Timeouts of every HTTP server. They prevent slow clients from occupying connections.
const (
	HeaderTimeout   = 5 * time.Second  // maximum time to receive the header of a request
	RequestTimeout  = 10 * time.Second // maximum time to receive a whole request
	IdleTimeout     = 30 * time.Second // maximum time between two requests of a connection
	ShutdownTimeout = 2 * time.Second  // maximum time for pending responses when the server stops
)
