package team

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"graft/internal/listen"
)

// Invitation holds the data that a follower on another machine receives when it joins.
type Invitation struct {
	Version string   // versions of graft and LibTorch; a follower with different versions is refused
	Job     string   // text of the job's configuration
	Set     []string // assignments applied after the configuration
}

// Means holds the clock and the source of cryptographic random numbers for connections. All fields are required.
type Means struct {
	Now    func() time.Time
	Random io.Reader
}

// Network is a [Starter] whose followers join from other machines with [Join]. Followers must present a token.
// Messages and tensors are not encrypted, so it listens only at private addresses.
type Network struct {
	Invitation
	means    Means
	host     string
	token    []byte
	listener net.Listener
	idle     chan *guest
	mu       sync.Mutex
	begun    map[int]bool // devices that have waited for their first follower
}

// Limits for unauthenticated connections.
const (
	greetTimeout  = 5 * time.Second  // before a connection has proved the token; short, since more may arrive
	inviteTimeout = 10 * time.Second // after it has proved the token
	mostIdle      = 1024
)

// ListenFor listens for followers at an IP address and a port of this machine.
func ListenFor(address, token string, i Invitation, m Means) (*Network, error) {
	host, _, err := net.SplitHostPort(address)
	if err == nil {
		err = trusted(host)
	}
	if err == nil {
		err = CheckToken(token)
	}
	if err != nil {
		return nil, fmt.Errorf("listen for followers at %s: %w", address, err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for followers: %w", err)
	}
	n := &Network{Invitation: i, means: m, host: host, token: []byte(token), listener: listen.NewGate(l, m.Now),
		idle: make(chan *guest, mostIdle), begun: map[int]bool{}}
	go n.accept()
	return n, nil
}

// CheckToken returns an error for a token that is easy to guess.
func CheckToken(token string) error {
	if len(token) < 16 {
		return errors.New("the token is shorter than 16 characters; use a longer one, " +
			"such as the output of 'openssl rand -hex 16'")
	}
	return nil
}

// trusted returns an error for an address that is reachable from public networks.
func trusted(host string) error {
	ip := net.ParseIP(host)
	switch {
	case ip == nil:
		return fmt.Errorf("%q is not an IP address", host)
	case ip.IsLoopback(), ip.IsPrivate(), ip.IsLinkLocalUnicast():
		return nil
	}
	return fmt.Errorf("%s is not a private address, and messages are not encrypted; "+
		"use an address of a private network or of a tunnel", host)
}

// Addr returns the address of the listener.
func (n *Network) Addr() string { return n.listener.Addr().String() }

// Close stops listening and dismisses waiting followers.
func (n *Network) Close() error {
	err := n.listener.Close()
	for {
		select {
		case g := <-n.idle:
			_ = g.conn.Close()
		default:
			return err
		}
	}
}

func (n *Network) accept() {
	for {
		conn, err := n.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			pause(context.Background(), 100*time.Millisecond) // an error such as too many open files
			continue
		}
		go n.greet(conn.(*listen.Client))
	}
}

func pause(ctx context.Context, length time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	<-ctx.Done()
}

// greet admits connections that have the token and the same version.
func (n *Network) greet(conn *listen.Client) {
	g := &guest{Means: n.means, conn: conn, r: bufio.NewReader(conn)}
	_ = conn.SetDeadline(g.Now().Add(greetTimeout))
	if err := g.admit(n.token, n.Version); err != nil {
		_ = g.say(greeting{Error: err.Error()})
		_ = conn.Close()
		return
	}
	_ = conn.SetDeadline(time.Time{})
	g.conn = conn.Release()
	watch(g.conn)
	n.enqueue(g)
}

// Waiting returns the number of waiting followers, and drops followers that have disconnected.
func (n *Network) Waiting() (count int) {
	for range len(n.idle) {
		select {
		case g := <-n.idle:
			if g.alive() && n.enqueue(g) {
				count++
			}
		default:
			return count
		}
	}
	return count
}

// enqueue adds a follower to the queue. It rejects followers beyond the limit.
func (n *Network) enqueue(g *guest) bool {
	select {
	case n.idle <- g:
		return true
	default:
		_ = g.conn.Close()
		return false
	}
}

// Start gives a device to the next waiting follower. The first call for a device returns immediately, even if no
// follower is waiting; the returned process then waits until a follower joins. Later calls for the device return an
// error if no follower is waiting.
func (n *Network) Start(device int) (Process, error) {
	n.mu.Lock()
	first := !n.begun[device]
	n.begun[device] = true
	n.mu.Unlock()
	if first {
		s := newSeat()
		go s.wait(n)
		return s, nil
	}
	if p := n.next(); p != nil {
		return p, nil
	}
	return nil, errors.New("no followers are waiting; start one with 'graft follow --join'")
}

// next gives work to the next waiting follower; nil if there is none.
func (n *Network) next() Process {
	select {
	case g := <-n.idle:
		s := newSeat()
		go func() {
			defer close(s.came)
			s.take(g, n.Invitation)
		}()
		return s
	default:
		return nil
	}
}
