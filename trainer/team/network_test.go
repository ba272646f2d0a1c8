package team_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/trainer/team"
)

const (
	testToken   = "0123456789abcdef"
	testVersion = "graft test"
)

// means holds a clock that is five minutes fast, so no connection of a busy machine reaches its deadline.
var means = team.Means{Now: func() time.Time { return time.Now().Add(5 * time.Minute) }, Random: rand.Reader}

func dialing(address string) func() (net.Conn, error) {
	return func() (net.Conn, error) { return net.DialTimeout("tcp", address, 5*time.Minute) }
}

// Strangers, other versions and public addresses are refused.
func TestStrangersAreRefused(t *testing.T) {
	n, err := team.ListenFor("127.0.0.1:0", testToken, team.Invitation{Version: testVersion}, means)
	require.NoError(t, err)
	defer n.Close()
	_, err = team.Join(context.Background(), dialing(n.Addr()), "another token, as long", testVersion, means)
	require.ErrorIs(t, err, team.ErrRefused)
	require.ErrorContains(t, err, "wrong token")
	_, err = team.Join(context.Background(), dialing(n.Addr()), testToken, "graft of yesterday", means)
	require.ErrorContains(t, err, "the leader has version graft test, the follower graft of yesterday")

	conn, err := net.Dial("tcp", n.Addr())
	require.NoError(t, err)
	defer conn.Close()
	r := bufio.NewReader(conn)
	_, err = r.ReadString('\n')
	require.NoError(t, err)
	_, err = conn.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
	require.NoError(t, err)
	text, _ := r.ReadString('\n')
	require.Contains(t, text, "does not speak graft's protocol")
	_, err = team.Join(context.Background(), func() (net.Conn, error) { return nil, errors.New("no way") },
		testToken, testVersion, means)
	require.ErrorContains(t, err, "no way")

	for address, want := range map[string]string{"8.8.8.8:1": "not a private address", "0.0.0.0:1": "not a " +
		"private address",
		"localhost:1": "not an IP address", "10.0.0.1": "missing port"} {
		_, err := team.ListenFor(address, testToken, team.Invitation{}, means)
		require.ErrorContains(t, err, want)
	}
	_, err = team.ListenFor("127.0.0.1:0", "short", team.Invitation{}, means)
	require.ErrorContains(t, err, "shorter than 16")
}

// Silent connections do not keep followers out.
func TestSlowStrangersKeepNobodyOut(t *testing.T) {
	n, err := team.ListenFor("127.0.0.1:0", testToken, team.Invitation{Version: testVersion}, means)
	require.NoError(t, err)
	defer n.Close()
	for k := range 500 {
		conn, err := net.Dial("tcp", n.Addr())
		require.NoError(t, err)
		defer conn.Close()
		if k%2 == 0 {
			_, _ = conn.Write([]byte(`{"nonce":"`))
		}
	}
	p, err := n.Start(1)
	require.NoError(t, err)
	l, err := team.Join(context.Background(), dialing(n.Addr()), testToken, testVersion, means)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.NoError(t, p.Kill())
}
