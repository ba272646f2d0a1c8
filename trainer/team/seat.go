package team

import (
	"io"
	"net"
	"sync"
)

func newSeat() *seat {
	return &seat{came: make(chan struct{}), left: make(chan struct{}), ended: make(chan struct{})}
}

// seat is the place of a follower on another machine.
type seat struct {
	came, left, ended chan struct{}
	leave, end        sync.Once
	guest             *guest // follower, once came is closed; nil if none came
}

// wait takes the first follower that arrives and starts to work.
func (s *seat) wait(n *Network) {
	defer close(s.came)
	for s.guest == nil {
		select {
		case g := <-n.idle:
			s.take(g, n.Invitation)
		case <-s.left:
			return
		}
	}
}

// take gives a follower the job, unless it left while it waited.
func (s *seat) take(g *guest, i Invitation) {
	if g.begin(i) == nil {
		s.guest = g
		return
	}
	_ = g.conn.Close()
}

// Read waits for the follower and reads its answers.
func (s *seat) Read(p []byte) (int, error) {
	<-s.came
	if s.guest == nil {
		s.over()
		return 0, io.EOF
	}
	n, err := s.guest.r.Read(p)
	if err != nil {
		s.over()
	}
	return n, err
}

func (s *seat) over() { s.end.Do(func() { close(s.ended) }) }

// Write waits for the follower and sends it orders.
func (s *seat) Write(p []byte) (int, error) {
	<-s.came
	if s.guest == nil {
		return 0, io.ErrClosedPipe
	}
	return s.guest.conn.Write(p)
}

// Close ends the stream of orders to the follower.
func (s *seat) Close() error {
	s.leave.Do(func() { close(s.left) })
	<-s.came
	if s.guest == nil {
		return nil
	}
	if c, ok := s.guest.conn.(*net.TCPConn); ok {
		return c.CloseWrite()
	}
	return s.guest.conn.Close()
}

// Kill closes the connection.
func (s *seat) Kill() error {
	s.leave.Do(func() { close(s.left) })
	<-s.came
	s.over()
	if s.guest == nil {
		return nil
	}
	return s.guest.conn.Close()
}

// Wait returns when the follower is gone.
func (s *seat) Wait() error {
	<-s.ended
	return nil
}
