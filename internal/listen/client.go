package listen

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Client is a connection that has come through a [Gate].
type Client struct {
	net.Conn
	gate    *Gate
	from    netip.Prefix
	since   time.Time // when it got its place
	trusted bool
}

// Trust takes a connection from the strangers, and returns the number of trusted ones.
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

// distrust puts a connection back among the strangers, as their newest.
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

// Release gives the place of a connection back, and returns the connection without its gate.
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

// Close ends the connection and gives its place back.
func (c *Client) Close() error {
	c.forget()
	return c.Conn.Close()
}

type clientKey struct{}

// WithClient makes the connection of a request known to [ClientOf]; it is an http.Server's ConnContext.
func WithClient(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// ClientOf returns the connection of a request; nil without a gate.
func ClientOf(ctx context.Context) *Client {
	c, _ := ctx.Value(clientKey{}).(*Client)
	return c
}

// Bounded serves requests of clients that have no token to show. A connection is trusted while its request is
// answered; at most so many requests are answered at once, and others are refused.
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
