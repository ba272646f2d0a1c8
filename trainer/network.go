package trainer

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"graft/internal/listen"
)

// Invitation holds the data that followers on other machines receive.
type Invitation struct {
	Version string   // of graft and LibTorch; followers of another one are refused
	Job     string   // text of the job's configuration
	Set     []string // assignments after it
}

// Means are the clock and the cryptographic randomness of connections. Both are needed.
type Means struct {
	Now    func() time.Time
	Random io.Reader
}

// Network is a [Starter] whose followers come by themselves from other machines, see [Join]. They must know a
// token. Messages and tensors are not encrypted, so that it listens at private addresses only.
type Network struct {
	Invitation
	means    Means
	host     string
	token    []byte
	listener net.Listener
	idle     chan *guest
	mu       sync.Mutex
	begun    map[int]bool // devices whose first follower was waited for
}

// Bounds of strangers.
const (
	greetTimeout  = 5 * time.Second  // for a stranger, of whom more and more may come
	inviteTimeout = 10 * time.Second // for those that know the token
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

// CheckToken returns an error for a token that could be guessed.
func CheckToken(token string) error {
	if len(token) < 16 {
		return errors.New("the token is shorter than 16 characters; write a longer one, " +
			"such as that of 'openssl rand -hex 16'")
	}
	return nil
}

// trusted is an error for an address that strangers reach.
func trusted(host string) error {
	ip := net.ParseIP(host)
	switch {
	case ip == nil:
		return fmt.Errorf("%q is no IP address", host)
	case ip.IsLoopback(), ip.IsPrivate(), ip.IsLinkLocalUnicast():
		return nil
	}
	return fmt.Errorf("%s is no private address, and messages are not encrypted; "+
		"use an address of a private network or of a tunnel", host)
}

// Addr returns the address of the listener.
func (n *Network) Addr() string { return n.listener.Addr().String() }

// Close sends away those that wait.
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
			pause(context.Background(), 100*time.Millisecond) // such as too many open files
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

// greet lets those in that know the token and are of the same version.
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

// watch finds out that the other side is gone, also where no message says so.
func watch(conn net.Conn) {
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second,
			Count: 6})
	}
}

// greeting is a line of either side before the orders.
type greeting struct {
	Nonce   string   `json:"nonce,omitempty"`
	Proof   string   `json:"proof,omitempty"` // that it knows the token, over both nonces
	Version string   `json:"version,omitempty"`
	Error   string   `json:"error,omitempty"` // why the other one is sent away
	Job     string   `json:"job,omitempty"`
	Set     []string `json:"set,omitempty"`
	Taken   bool     `json:"taken,omitempty"` // the follower has the job
}

// ErrRefused says that a leader does not want a follower.
var ErrRefused = errors.New("the leader refuses this follower")

// ErrLeft says that a leader had let a follower in and is gone before it gave it work.
var ErrLeft = errors.New("the leader has left")

// guest is a connection of lines, then of orders and answers.
type guest struct {
	Means
	conn net.Conn
	r    *bufio.Reader
}

func (g *guest) say(m greeting) error { return json.NewEncoder(g.conn).Encode(m) }

// hear reads a line; an error of the other side is one.
func (g *guest) hear(most int) (m greeting, err error) {
	line, err := readLine(g.r, most)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return m, errors.New("it is no program of graft")
	}
	if m.Error != "" {
		err = fmt.Errorf("%w: %s", ErrRefused, m.Error)
	}
	return m, err
}

// admit is the leader's part: each side proves that it knows the token, so that neither tells it.
func (g *guest) admit(token []byte, version string) error {
	own, err := g.nonce()
	if err != nil {
		return err
	}
	if err := g.say(greeting{Nonce: own}); err != nil {
		return err
	}
	m, err := g.hear(greetLine)
	if err != nil {
		return err
	}
	if !hmac.Equal([]byte(m.Proof), []byte(proof(token, "follow", own, m.Nonce))) {
		return errors.New("the token is another one")
	}
	if m.Version != version {
		return fmt.Errorf("the leader is %s, the follower %s; run the same version with the same LibTorch", version,
			m.Version)
	}
	return g.say(greeting{Proof: proof(token, "lead", own, m.Nonce)})
}

// enter is the follower's part.
func (g *guest) enter(token []byte, version string) error {
	m, err := g.hear(greetLine)
	if err != nil {
		return err
	}
	own, err := g.nonce()
	if err != nil {
		return err
	}
	if err := g.say(greeting{Nonce: own, Proof: proof(token, "follow", m.Nonce, own), Version: version}); err != nil {
		return err
	}
	answer, err := g.hear(greetLine)
	if err == nil && !hmac.Equal([]byte(answer.Proof), []byte(proof(token, "lead", m.Nonce, own))) {
		err = fmt.Errorf("%w: it does not know the token itself", ErrRefused)
	}
	return err
}

func (g *guest) nonce() (string, error) {
	var b [32]byte
	_, err := io.ReadFull(g.Random, b[:])
	return hex.EncodeToString(b[:]), err
}

func proof(token []byte, role, leaders, followers string) string {
	h := hmac.New(sha256.New, token)
	fmt.Fprintf(h, "graft %s %s %s", role, leaders, followers)
	return hex.EncodeToString(h.Sum(nil))
}

// waiting counts the followers that wait for work, and drops those that are gone.
func (n *Network) waiting() (count int) {
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

// enqueue lets a follower wait; beyond the limit it is sent away.
func (n *Network) enqueue(g *guest) bool {
	select {
	case n.idle <- g:
		return true
	default:
		_ = g.conn.Close()
		return false
	}
}

// alive reports whether a follower that waits and is silent still holds its connection; otherwise this side
// closes it too.
func (g *guest) alive() bool {
	alive := g.peek()
	if !alive {
		_ = g.conn.Close()
	}
	return alive
}

// peek looks for the end of the connection without waiting.
func (g *guest) peek() bool {
	c, ok := g.conn.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	var found error
	err = raw.Control(func(fd uintptr) {
		_, _, found = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	return err == nil && errors.Is(found, syscall.EAGAIN)
}

// Start gives a device to the next follower that waits. The first one of a device may come later.
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
	return nil, errors.New("no follower waits; start one with 'graft follow --join'")
}

// next gives work to the next follower that waits; nil without any.
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

func newSeat() *seat {
	return &seat{came: make(chan struct{}), left: make(chan struct{}), ended: make(chan struct{})}
}

// seat is the place of a follower of another machine.
type seat struct {
	came, left, ended chan struct{}
	leave, end        sync.Once
	guest             *guest // after came; nil if nobody did
}

// wait takes the first follower that comes and works.
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

// take gives a follower the job, unless it went away while it waited.
func (s *seat) take(g *guest, i Invitation) {
	if g.begin(i) == nil {
		s.guest = g
		return
	}
	_ = g.conn.Close()
}

// begin gives a follower the job.
func (g *guest) begin(i Invitation) error {
	_ = g.conn.SetDeadline(g.Now().Add(inviteTimeout))
	if err := g.say(greeting{Job: i.Job, Set: i.Set}); err != nil {
		return err
	}
	if m, err := g.hear(greetLine); err != nil || !m.Taken {
		return errors.Join(errors.New("it does not take the job"), err)
	}
	return g.conn.SetDeadline(time.Time{})
}

// Read reads answers.
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

// Write writes orders.
func (s *seat) Write(p []byte) (int, error) {
	<-s.came
	if s.guest == nil {
		return 0, io.ErrClosedPipe
	}
	return s.guest.conn.Write(p)
}

// Close ends the orders.
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

// Kill cuts the connection.
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

// Leader is the connection of a follower to the leader of its job.
type Leader struct {
	Invitation
	Address string // of this process, as the leader's machine reaches it
	guest   *guest
}

// Join joins the leader that listens at an address, and waits until it is given work, or ctx is cancelled.
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

// Read reads orders.
func (l *Leader) Read(p []byte) (int, error) { return l.guest.r.Read(p) }

// Write writes answers.
func (l *Leader) Write(p []byte) (int, error) { return l.guest.conn.Write(p) }

// Close leaves the job.
func (l *Leader) Close() error { return l.guest.conn.Close() }
