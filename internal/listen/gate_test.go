package listen

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// from is a connection from a given address.
type from struct {
	net.Conn
	address string
}

func (f from) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", f.address)
	return a
}

// admitter admits connections to a gate without a listener.
type admitter struct {
	*Gate
	t   *testing.T
	all []*Client
	at  time.Time
}

func newAdmitter(t *testing.T, most int) *admitter {
	a := &admitter{t: t, at: time.Unix(0, 0)}
	a.Gate = &Gate{now: func() time.Time { return a.at }, most: most, kept: time.Second, freed: make(chan struct{}, 1)}
	return a
}

func (a *admitter) comes(address string) time.Duration {
	inside, outside := net.Pipe()
	a.t.Cleanup(func() { _ = outside.Close() })
	conn := from{inside, address}
	c := &Client{Conn: conn, gate: a.Gate, from: origin(conn)}
	a.all = append(a.all, c)
	return a.admit(c)
}

// evicted reports whether the gate ended a connection.
func (a *admitter) evicted(k int) bool {
	_ = a.all[k].SetReadDeadline(time.Unix(1, 0))
	_, err := a.all[k].Read(make([]byte, 1))
	return err == io.ErrClosedPipe
}

// After a grace period, a new connection replaces the oldest one of its address. A closed connection frees its place at
// once.
func TestGateAdmits(t *testing.T) {
	a := newAdmitter(t, 16)
	for range 16 {
		require.Zero(t, a.comes("10.0.0.1:1"))
	}
	a.at = a.at.Add(400 * time.Millisecond)
	require.Equal(t, 600*time.Millisecond, a.comes("10.0.0.1:2"))
	require.Equal(t, 1, a.all[3].Trust())
	require.Zero(t, a.comes("10.0.0.1:3"), "a trusted client needs no place")
	require.NotZero(t, a.comes("10.0.0.1:4"))
	require.NoError(t, a.all[5].Close())
	require.Zero(t, a.comes("10.0.0.1:5"))
	a.at = a.at.Add(600 * time.Millisecond)
	require.Zero(t, a.comes("10.0.0.1:6"))
	require.True(t, a.evicted(0), "the oldest")
	require.False(t, a.evicted(1))
	require.Len(t, a.strangers, 16)
	a.all[3].distrust()
	require.Len(t, a.strangers, 16, "it replaces the oldest one")
	require.True(t, a.evicted(1))
	require.Zero(t, a.trusted)
	require.Equal(t, 1, a.all[3].Trust())
	require.NoError(t, a.all[3].Close())
	require.Zero(t, a.trusted)
}

// An address with many connections loses one to each new address, but never displaces connections of others.
func TestGateLimitsAddresses(t *testing.T) {
	a := newAdmitter(t, 8)
	for range 8 {
		require.Zero(t, a.comes("10.0.0.1:1"))
	}
	for k, other := range []string{"10.0.0.2:1", "10.0.0.3:1", "[fe80::1%eth0]:1", "[2001:db8::1]:1"} {
		require.Zero(t, a.comes(other), other)
		require.True(t, a.evicted(k))
	}
	require.NotZero(t, a.comes("10.0.0.1:9"))
	require.Zero(t, a.comes("[2001:db8::2]:1"), "one network of IPv6 is one address")
	require.NotZero(t, a.comes("10.0.0.1:10"))
	for k := 8; k < 12; k++ {
		require.False(t, a.evicted(k), "the others keep their places")
	}
	require.Same(t, a.all[11], a.strangers[6])
}

// Closing a gate ends an Accept that waits for a place.
func TestGateCloses(t *testing.T) {
	inner := httptest.NewUnstartedServer(nil).Listener
	g := NewGate(inner, time.Now)
	g.kept = time.Hour
	c, err := net.Dial("tcp", inner.Addr().String())
	require.NoError(t, err)
	defer c.Close()
	local := from{nil, "127.0.0.1:1"}
	for range MaxStrangers {
		g.strangers = append(g.strangers, &Client{gate: g, from: origin(local), since: time.Now()})
	}
	ended := make(chan error, 1)
	go func() { _, err := g.Accept(); ended <- err }()
	require.NoError(t, g.Close())
	require.ErrorIs(t, <-ended, net.ErrClosed)
}

// bounded serves a handler behind a gate without timeouts, so a client that blocks others blocks them forever.
func bounded(t *testing.T, h http.HandlerFunc, most int) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: Bounded(h, most), ConnContext: WithClient}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(NewGate(l, time.Now)) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
	})
	return "http://" + l.Addr().String()
}

// Neither silent clients, half-sent requests nor idle connections keep other clients from an answer.
func TestSlowClientsBlockNobody(t *testing.T) {
	address := bounded(t, func(http.ResponseWriter, *http.Request) {}, 4)
	for k := range 2 * MaxStrangers {
		c, err := net.Dial("tcp", address[len("http://"):])
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		_, err = c.Write([]byte([]string{"", "G", "GET / HTTP/1.1\r\nHost: a\r\nX: "}[k%3]))
		require.NoError(t, err)
	}
	for range 20 {
		transport := &http.Transport{} // each keeps its connection open
		t.Cleanup(transport.CloseIdleConnections)
		for range 2 {
			answer, err := (&http.Client{Transport: transport}).Get(address)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			require.Equal(t, http.StatusOK, answer.StatusCode)
		}
	}
}

// The number of concurrent requests is bounded, and a further request is refused at once.
func TestManyRequestsAreRefused(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	address := bounded(t, func(http.ResponseWriter, *http.Request) { begun <- struct{}{}; <-end }, 2)
	answered := make(chan int)
	for range 2 {
		go func() {
			answer, err := http.Get(address)
			if err != nil {
				answered <- 0
				return
			}
			_ = answer.Body.Close()
			answered <- answer.StatusCode
		}()
		<-begun
	}
	refused, err := http.Get(address)
	require.NoError(t, err)
	require.NoError(t, refused.Body.Close())
	require.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	close(end)
	require.Equal(t, http.StatusOK, <-answered)
	require.Equal(t, http.StatusOK, <-answered)
}
