package listen

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"graft/internal/failure"
)

// CheckAddress rejects addresses that other machines can reach, unless anywhere is set. Danger describes the
// consequence in the message.
func CheckAddress(address string, anywhere bool, danger string) error {
	if host, _, _ := net.SplitHostPort(address); !anywhere && !IsLoopback(host) {
		return failure.Usagef("listen at %s: other machines can reach this address, and %s; "+
			"use 127.0.0.1 and ssh -L, or add option listen-anywhere", address, danger)
	}
	return nil
}

// Listen listens at a loopback address, or at any address if anywhere is set.
func Listen(address string, anywhere bool) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w; name another port, or port 0 to take a free one", address, err)
	}
	if host, _, _ := net.SplitHostPort(l.Addr().String()); !anywhere && !IsLoopback(host) {
		return nil, errors.Join(failure.Usagef("listen at %s: the name resolves to %s, which other machines can "+
			"reach; "+
			"use 127.0.0.1", address, host), l.Close())
	}
	return l, nil
}

// IsLoopback reports whether only this machine can reach a host.
func IsLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// Hosts returns a check of the Host header for a server at an address. It rejects foreign names
// that resolve to this machine, which a page in a browser could use (DNS rebinding).
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

// HostOf strips the port from a Host header: a tunnel may have changed it.
func HostOf(header string) string {
	host, _, err := net.SplitHostPort(header)
	if err != nil {
		host = strings.Trim(header, "[]")
	}
	return strings.TrimSuffix(host, ".")
}

// Refusal is the error response to a request.
type Refusal struct {
	Status int    `json:"-"`      // HTTP status
	Wrong  string `json:"error"`  // the error
	Remedy string `json:"remedy"` // the remedy
}

// Error returns the text of Wrong.
func (r *Refusal) Error() string { return r.Wrong }

// Refuse makes a refusal with a formatted error text.
func Refuse(status int, remedy, format string, args ...any) *Refusal {
	return &Refusal{Status: status, Wrong: fmt.Sprintf(format, args...), Remedy: remedy}
}

// Timeouts of every HTTP server. They prevent slow clients from holding connections.
const (
	HeaderTimeout   = 5 * time.Second  // for the head of a request
	RequestTimeout  = 10 * time.Second // for a whole request
	IdleTimeout     = 30 * time.Second // between two requests
	ShutdownTimeout = 2 * time.Second  // for pending responses when the server ends
)
