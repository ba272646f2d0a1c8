package listen

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Limits of a Gate.
const (
	MaxStrangers = 256                   // maximum number of connections that are not yet trusted
	placeKept    = 50 * time.Millisecond // time that a new connection keeps its place
)

// Gate is a listener that prevents slow and untrusted clients from blocking others. Untrusted connections share a
// limited number of slots. A connection becomes trusted when it has sent a token or a complete request. If all slots
// are in use, a new connection replaces the oldest connection of the address with the most slots. If the new connection
// is from that address itself, it waits until the oldest connection has had its slot for 50 ms.
type Gate struct {
	net.Listener
	now    func() time.Time
	most   int
	kept   time.Duration
	freed  chan struct{} // holds a value when a place is free
	closed chan struct{}
	once   sync.Once

	mu        sync.Mutex
	strangers []*Client // oldest first
	trusted   int
}

// NewGate returns a gate for the connections of a listener. The gate reads the time from the given clock.
func NewGate(l net.Listener, now func() time.Time) *Gate {
	return &Gate{Listener: l, now: now, most: MaxStrangers, kept: placeKept, freed: make(chan struct{}, 1),
		closed: make(chan struct{})}
}

// Accept waits for a connection and for a free slot in the gate. The returned connection is a [Client].
func (g *Gate) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &Client{Conn: conn, gate: g, from: origin(conn)}
	for {
		wait := g.admit(c)
		if wait <= 0 {
			return c, nil
		}
		if !g.rest(wait) {
			_ = conn.Close()
			return nil, net.ErrClosed
		}
	}
}

// origin returns the remote address: of one machine, or the IPv6 network of one machine.
func origin(conn net.Conn) netip.Prefix {
	address, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	host := address.Addr().Unmap().WithZone("")
	bits := host.BitLen()
	if host.Is6() {
		bits = 64
	}
	prefix, _ := host.Prefix(bits) // the zero prefix for a connection without addresses
	return prefix
}

// admit gives a connection a place, or returns the time that the oldest connection of its address keeps its place.
func (g *Gate) admit(c *Client) (wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.since = g.now()
	if len(g.strangers) >= g.most {
		crowd, own := g.crowd(c.from)
		oldest := g.strangers[slices.IndexFunc(g.strangers, func(s *Client) bool { return s.from == crowd })]
		if age := c.since.Sub(oldest.since); own && age < g.kept {
			return g.kept - age
		}
		g.evict(oldest)
	}
	g.strangers = append(g.strangers, c)
	return 0
}

// crowd returns the origin with the most places, and whether the newcomer's origin has as many places.
func (g *Gate) crowd(newcomer netip.Prefix) (crowd netip.Prefix, own bool) {
	count := map[netip.Prefix]int{}
	for _, s := range g.strangers { // the oldest wins a tie
		count[s.from]++
	}
	for _, s := range g.strangers {
		if count[s.from] > count[crowd] {
			crowd = s.from
		}
	}
	return crowd, count[newcomer] == count[crowd]
}

// evict closes a stranger's connection.
func (g *Gate) evict(c *Client) {
	g.leave(c)
	_ = c.Conn.Close()
}

// rest waits for a free place, up to a time. It returns false once the gate is closed.
func (g *Gate) rest(wait time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	select {
	case <-g.freed:
	case <-ctx.Done():
	case <-g.closed:
		return false
	}
	return true
}

// leave removes a connection from the strangers, if it is one.
func (g *Gate) leave(c *Client) bool {
	k := slices.Index(g.strangers, c)
	if k < 0 {
		return false
	}
	g.strangers = slices.Delete(g.strangers, k, k+1)
	select {
	case g.freed <- struct{}{}:
	default:
	}
	return true
}

// Close stops accepting connections.
func (g *Gate) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.Listener.Close()
}
