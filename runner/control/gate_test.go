package control

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/listen"
)

// serveGate serves the handler of an idle job behind a gate without timeouts, so a client that blocks others blocks
// them forever.
func serveGate(t *testing.T) (address string) {
	h, _ := idleHandler(t)
	h.hosts, h.token = func(host string) bool { return host == "127.0.0.1" }, sha256.Sum256([]byte("secret"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: h, ConnContext: listen.WithClient}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listen.NewGate(l, time.Now)) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
	})
	return l.Addr().String()
}

func get(t *testing.T, client *http.Client, address, token, host string) *http.Response {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/status", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Host = host
	response, err := client.Do(r)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body) // otherwise the client does not keep the connection
	require.NoError(t, errors.Join(err, response.Body.Close()))
	return response
}

// keeping returns a client that keeps its own connection open.
func keeping(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Silent clients, and clients with a wrong token, never block a client with the token.
func TestGateKeepsPlacesForTheToken(t *testing.T) {
	address := serveGate(t)
	known := keeping(t)
	require.Equal(t, http.StatusOK, get(t, known, address, "secret", "127.0.0.1").StatusCode)
	for range 2 * listen.MaxStrangers {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
	}
	for k := range 64 {
		refused := get(t, keeping(t), address, fmt.Sprint("wrong-", k), "127.0.0.1")
		require.Equal(t, http.StatusUnauthorized, refused.StatusCode)
		require.True(t, refused.Close, "the connection is closed")
	}
	require.True(t, get(t, keeping(t), address, "secret", "example.com").Close, "closed after 403 as well")
	for range 2 {
		require.Equal(t, http.StatusOK, get(t, known, address, "secret", "127.0.0.1").StatusCode)
	}
	require.Equal(t, http.StatusOK, get(t, keeping(t), address, "secret", "127.0.0.1").StatusCode)
}

// Clients with the token keep their connections up to a limit, and get answers beyond it.
func TestGateAnswersManyWithTheToken(t *testing.T) {
	address := serveGate(t)
	for k := range mostKnown + 5 {
		answer := get(t, keeping(t), address, "secret", "127.0.0.1")
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.Equal(t, k >= mostKnown, answer.Close, k)
	}
}
