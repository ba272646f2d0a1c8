package team

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// ErrLeft reports that a leader admitted a follower and left before it assigned work.
var ErrLeft = errors.New("the leader has left")

// Leader is a follower's connection to the leader of its job.
type Leader struct {
	Invitation
	Address string // address of this process as the leader's machine reaches it
	guest   *guest
}

// Join connects to a leader with the function dial and joins its job. It waits until the leader assigns work, or until
// ctx is cancelled.
func Join(ctx context.Context, dial func() (net.Conn, error), token, version string, m Means) (*Leader, error) {
	conn, err := dial()
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	g := &guest{Means: m, conn: conn, r: bufio.NewReader(conn)}
	l, err := g.join(token, version)
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("join the leader at %s: %w", conn.RemoteAddr(), err)
	}
	return l, nil
}

func (g *guest) join(token, version string) (*Leader, error) {
	host, _, _ := net.SplitHostPort(g.conn.RemoteAddr().String())
	if err := trusted(host); err != nil {
		return nil, err
	}
	_ = g.conn.SetDeadline(g.Now().Add(inviteTimeout))
	if err := g.enter([]byte(token), version); err != nil {
		return nil, err
	}
	_ = g.conn.SetDeadline(time.Time{})
	watch(g.conn)
	m, err := g.hear(jobLine)
	if err == nil {
		err = g.say(greeting{Taken: true})
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrLeft, err)
	}
	own, _, _ := net.SplitHostPort(g.conn.LocalAddr().String())
	return &Leader{Invitation: Invitation{Version: version, Job: m.Job, Set: m.Set}, Address: own, guest: g}, err
}

// Read reads orders from the leader.
func (l *Leader) Read(p []byte) (int, error) { return l.guest.r.Read(p) }

// Write sends answers to the leader.
func (l *Leader) Write(p []byte) (int, error) { return l.guest.conn.Write(p) }

// Close leaves the job.
func (l *Leader) Close() error { return l.guest.conn.Close() }
