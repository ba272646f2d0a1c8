package control

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"
)

const (
	mostKnown   = 32                     // connections kept open for clients that sent the token; others close after their answer
	mostUnknown = 16                     // connections that have not sent the token yet
	placeKept   = 250 * time.Millisecond // for which a new connection keeps its place
)

// gate is a listener that keeps clients without the token from blocking those with it.
// Unknown connections share a few places: where all are taken, a new connection replaces
// the oldest one, after its placeKept period.
type gate struct {
	net.Listener
	now       func() time.Time
	placeKept time.Duration
	freed     chan struct{} // holds a value when a place has become free
	closed    chan struct{}
	once      sync.Once

	mu      sync.Mutex
	unknown []*client // oldest first
	known   int
}

func newGate(l net.Listener, now func() time.Time, placeKept time.Duration) *gate {
	return &gate{Listener: l, now: now, placeKept: placeKept, freed: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Accept waits for a connection, then for its place.
func (g *gate) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &client{Conn: conn, gate: g}
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

// admit gives a connection a place, or says for how long the oldest one keeps its.
func (g *gate) admit(c *client) (wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.since = g.now()
	if len(g.unknown) >= mostUnknown {
		oldest := g.unknown[0]
		if age := c.since.Sub(oldest.since); age < g.placeKept {
			return g.placeKept - age
		}
		g.unknown = g.unknown[1:]
		_ = oldest.Conn.Close()
	}
	g.unknown = append(g.unknown, c)
	return 0
}

// rest waits for a free place, for at most so long. It returns false once the gate is closed.
func (g *gate) rest(wait time.Duration) bool {
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

// leave takes a connection from the unknown ones, if it is one.
func (g *gate) leave(c *client) bool {
	k := slices.Index(g.unknown, c)
	if k < 0 {
		return false
	}
	g.unknown = slices.Delete(g.unknown, k, k+1)
	select {
	case g.freed <- struct{}{}:
	default:
	}
	return true
}

// Close stops accepting connections.
func (g *gate) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.Listener.Close()
}

// client is a connection that has come through a gate.
type client struct {
	net.Conn
	gate  *gate
	since time.Time // when it got its place
	known bool
}

type clientKey struct{}

// withClient makes the connection of a request known to its handler.
func withClient(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// authorise counts the connection of a request among the known ones. It returns whether
// the connection may stay open after the answer.
func authorise(ctx context.Context) (keep bool) {
	c, ok := ctx.Value(clientKey{}).(*client)
	if !ok { // no gate
		return true
	}
	g := c.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leave(c) {
		c.known = true
		g.known++
	}
	return g.known <= mostKnown
}

// Close ends the connection and gives its place back.
func (c *client) Close() error {
	g := c.gate
	g.mu.Lock()
	g.leave(c)
	if c.known {
		c.known = false
		g.known--
	}
	g.mu.Unlock()
	return c.Conn.Close()
}
