package team

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"
)

// watch detects the loss of the other side, even if no message reports it.
func watch(conn net.Conn) {
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second,
			Count: 6})
	}
}

// greeting is a line that either side sends before the orders.
type greeting struct {
	Nonce   string   `json:"nonce,omitempty"`
	Proof   string   `json:"proof,omitempty"` // proof that the sender has the token, over both nonces
	Version string   `json:"version,omitempty"`
	Error   string   `json:"error,omitempty"` // reason why the sender rejects the other side
	Job     string   `json:"job,omitempty"`
	Set     []string `json:"set,omitempty"`
	Taken   bool     `json:"taken,omitempty"` // the follower has the job
}

// ErrRefused reports that a leader refused a follower.
var ErrRefused = errors.New("the leader rejected this follower")

// guest is a connection that carries lines first, then orders and answers.
type guest struct {
	Means
	conn net.Conn
	r    *bufio.Reader
}

func (g *guest) say(m greeting) error { return json.NewEncoder(g.conn).Encode(m) }

// hear reads a line. It returns an error that the other side reports.
func (g *guest) hear(most int) (m greeting, err error) {
	line, err := readLine(g.r, most)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return m, errors.New("the peer does not speak graft's protocol")
	}
	if m.Error != "" {
		err = fmt.Errorf("%w: %s", ErrRefused, m.Error)
	}
	return m, err
}

// admit is the leader's part: each side proves that it has the token, so neither reveals it.
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
		return errors.New("wrong token; use the token file of the leader")
	}
	if m.Version != version {
		return fmt.Errorf("the leader has version %s, the follower %s; use the same version with the same LibTorch",
			version, m.Version)
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
		err = fmt.Errorf("%w: the leader does not have the token", ErrRefused)
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

// alive reports whether a waiting, silent follower still holds its connection; otherwise it closes this side too.
func (g *guest) alive() bool {
	alive := g.peek()
	if !alive {
		_ = g.conn.Close()
	}
	return alive
}

// peek checks for the end of the connection without waiting.
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

// begin gives a follower the job.
func (g *guest) begin(i Invitation) error {
	_ = g.conn.SetDeadline(g.Now().Add(inviteTimeout))
	if err := g.say(greeting{Job: i.Job, Set: i.Set}); err != nil {
		return err
	}
	if m, err := g.hear(greetLine); err != nil || !m.Taken {
		return errors.Join(errors.New("the follower did not accept the job"), err)
	}
	return g.conn.SetDeadline(time.Time{})
}
