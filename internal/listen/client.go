package listen

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Client is a connection accepted by a [Gate].
type Client struct {
	net.Conn
	gate    *Gate
	from    netip.Prefix
	since   time.Time // time of admission
	trusted bool
}

// Trust marks the connection as trusted, and returns the number of trusted connections.
func (c *Client) Trust() int {
	g := c.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leave(c) {
		c.trusted = true
		g.trusted++
	}
	return g.trusted
}

// distrust returns a connection to the strangers, as the newest.
func (c *Client) distrust() {
	g := c.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if !c.trusted {
		return
	}
	c.trusted = false
	g.trusted--
	if len(g.strangers) >= g.most {
		g.evict(g.strangers[0])
	}
	c.since = g.now()
	g.strangers = append(g.strangers, c)
}

// Release frees the connection's slot in the gate, and returns the underlying connection.
func (c *Client) Release() net.Conn {
	c.forget()
	return c.Conn
}

func (c *Client) forget() {
	g := c.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leave(c)
	if c.trusted {
		c.trusted = false
		g.trusted--
	}
}

// Close closes the connection and frees its slot in the gate.
func (c *Client) Close() error {
	c.forget()
	return c.Conn.Close()
}

type clientKey struct{}

// WithClient stores the connection of a request in its context, for [ClientOf]. An http.Server calls it as its
// ConnContext.
func WithClient(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// ClientOf returns the connection of a request, or nil if the listener has no gate.
func ClientOf(ctx context.Context) *Client {
	c, _ := ctx.Value(clientKey{}).(*Client)
	return c
}

// Bounded limits the number of concurrent requests to a handler whose clients send no token. It rejects requests above
// this limit. A connection is trusted while its request is answered.
func Bounded(handler http.Handler, most int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := ClientOf(r.Context())
		if c == nil {
			handler.ServeHTTP(w, r)
			return
		}
		defer c.distrust()
		if c.Trust() > most {
			w.Header().Set("Connection", "close")
			http.Error(w, "too many requests at once; try again later", http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	})
}
