// Package listen holds what graft's HTTP servers share: checks of addresses and hosts,
// connection limits, timeouts and error responses.
package listen

import (
	"net"
	"sync"
)

// LimitConnections lets at most so many connections be open at once; others wait until one closes.
func LimitConnections(l net.Listener, most int) net.Listener {
	return &limitedListener{Listener: l, slots: make(chan struct{}, most), closed: make(chan struct{})}
}

type limitedListener struct {
	net.Listener
	slots  chan struct{}
	once   sync.Once
	closed chan struct{}
}

// Accept waits for a free slot, then for a connection.
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: conn, release: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close stops listening and ends a waiting Accept.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// limitedConn releases its slot when it closes.
type limitedConn struct {
	net.Conn
	release func()
}

// Close ends the connection.
func (p *limitedConn) Close() error {
	defer p.release()
	return p.Conn.Close()
}
