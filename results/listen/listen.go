package listen

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"graft/results/failure"
)

// MayListen says why an address must not be listened at, if it must not: others than
// this machine could come there. Danger is what that would mean.
func MayListen(address string, anywhere bool, danger string) error {
	if host, _, _ := net.SplitHostPort(address); !anywhere && !IsLoopback(host) {
		return failure.Usagef("listen at %s: others than this machine could come there, and %s; "+
			"name 127.0.0.1 and go there through ssh -L, or add --listen-anywhere", address, danger)
	}
	return nil
}

// Listen listens at an address, which is one of this machine alone unless any is fine.
func Listen(address string, anywhere bool) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w; name another port, or port 0 to take a free one", address, err)
	}
	if host, _, _ := net.SplitHostPort(l.Addr().String()); !anywhere && !IsLoopback(host) {
		return nil, errors.Join(failure.Usagef("listen at %s: this is %s here, which is no address of this machine alone; name 127.0.0.1", address, host), l.Close())
	}
	return l, nil
}

// IsLoopback says whether only this machine can come to a host.
func IsLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// Hosts are the names by which a server may be called that listens at an address. A
// page in a browser can have a name of its own lead here; it is refused.
func Hosts(address string, l net.Listener, anywhere bool) func(host string) bool {
	given, _, _ := net.SplitHostPort(address)
	bound, _, _ := net.SplitHostPort(l.Addr().String())
	name, _ := os.Hostname() // without one there is one less
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

// HostOf is a Host header without the port, which a tunnel may have changed.
func HostOf(header string) string {
	host, _, err := net.SplitHostPort(header)
	if err != nil {
		host = strings.Trim(header, "[]")
	}
	return strings.TrimSuffix(host, ".")
}
