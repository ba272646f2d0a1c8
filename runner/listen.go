package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"graft/files"
	"graft/trainer"
)

// listenOptions are the flags about how a job is watched and steered over HTTP.
type listenOptions struct {
	address   string // empty is run.listen's; where that is empty too, nobody listens
	anywhere  bool   // other addresses than loopback are fine
	tokenFile string // empty takes the environment's token, or makes one
}

// Files in the run folder while somebody listens.
const (
	listenFile = "listen" // the address
	tokenFile  = "token"  // the token, if it was made
)

// Limits of the server, so that whoever talks to it slowly or too much takes nothing
// from the job.
const (
	mostConnections  = 32 // more wait
	mostHeader       = 16 << 10
	mostBody         = 64 << 10
	headerTimeout    = 5 * time.Second
	requestTimeout   = 10 * time.Second
	answerTimeout    = requestTimeout + answerWithin + 5*time.Second
	idleTimeout      = 30 * time.Second
	shutdownPatience = 2 * time.Second
)

// counter is where a job can be watched and steered while it runs. Its port is taken
// before the job is made, so that a port that is taken stops nothing half way.
type counter struct {
	listenOptions
	listener net.Listener
	token    string
	made     bool // the token is ours
	log      *zap.Logger
	server   *http.Server
	done     chan struct{} // closed when nothing is served any more
	files    []string      // in the run folder, that are true while it is open
}

// openCounter takes the port; without an address there is no counter: nil.
func openCounter(o listenOptions, logger *zap.Logger) (*counter, error) {
	if o.address == "" {
		if o.anywhere || o.tokenFile != "" {
			return nil, usageErrorf("--listen-anywhere and --token-file are for --listen; say at which address")
		}
		return nil, nil
	}
	c := &counter{listenOptions: o, log: logger, done: make(chan struct{})}
	var err error
	if err = mayListen(o.address, o.anywhere, "what they send, the token too, is not encrypted"); err != nil {
		return nil, err
	}
	if c.token, c.made, err = findToken(o.tokenFile, logger); err != nil {
		return nil, err
	}
	if c.listener, err = takePort(o.address, o.anywhere); err != nil {
		return nil, err
	}
	if o.anywhere {
		logger.Warn("whoever can read the network to this address can read the token", zap.String("address", o.address))
	}
	return c, nil
}

// mayListen says why an address must not be listened at, if it must not: others than
// this machine could come there. Danger is what that would mean.
func mayListen(address string, anywhere bool, danger string) error {
	if host, _, _ := net.SplitHostPort(address); !anywhere && !isLoopback(host) {
		return usageErrorf("listen at %s: others than this machine could come there, and %s; "+
			"name 127.0.0.1 and go there through ssh -L, or add --listen-anywhere", address, danger)
	}
	return nil
}

// takePort listens at an address, which is one of this machine alone unless any is fine.
func takePort(address string, anywhere bool) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w; name another port, or port 0 to take a free one", address, err)
	}
	if host, _, _ := net.SplitHostPort(l.Addr().String()); !anywhere && !isLoopback(host) {
		return nil, errors.Join(usageErrorf("listen at %s: this is %s here, which is no address of this machine alone; name 127.0.0.1", address, host), l.Close())
	}
	return l, nil
}

// isLoopback says whether only this machine can come to a host.
func isLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// serve answers from now on, and writes into the run folder where and with what token.
func (c *counter) serve(folder string, b *board, live *trainer.Live) error {
	if c == nil {
		return nil
	}
	address := c.listener.Addr().String()
	if c.made {
		path := filepath.Join(folder, tokenFile)
		if err := writeSecret(path, c.token+"\n"); err != nil {
			return fmt.Errorf("write the token: %w", err)
		}
		c.files = append(c.files, path)
	}
	path := filepath.Join(folder, listenFile)
	if err := files.WriteAtomic(files.OS{}, path, func(w io.Writer) error { _, err := io.WriteString(w, address+"\n"); return err }); err != nil {
		return err
	}
	c.files = append(c.files, path)
	if whole, err := filepath.Abs(folder); err == nil {
		folder = whole
	}
	desk := &desk{board: b, live: live, folder: folder, token: sha256.Sum256([]byte(c.token)), hosts: namesOf(c.address, c.listener, c.anywhere), log: c.log, patience: answerWithin}
	c.server = &http.Server{Handler: desk, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: answerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: mostHeader, ErrorLog: log.New(io.Discard, "", 0)} // what strangers send fills no log
	go func() {
		defer close(c.done)
		if err := c.server.Serve(limit(c.listener, mostConnections)); !errors.Is(err, http.ErrServerClosed) {
			c.log.Error("nobody listens any more", zap.Error(err))
		}
	}()
	fields := []zap.Field{zap.String("address", address), zap.String("in", path)}
	if c.made {
		fields = append(fields, zap.String("token", c.files[0]))
	}
	c.log.Info("listening", fields...)
	return nil
}

// close ends all conversations and gives the port back.
func (c *counter) close() {
	if c == nil {
		return
	}
	for _, path := range c.files {
		_ = os.Remove(path) // what it says is true no more
	}
	if c.server == nil {
		_ = c.listener.Close()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownPatience)
	defer cancel()
	if err := c.server.Shutdown(ctx); err != nil {
		_ = c.server.Close()
	}
	<-c.done
}

// namesOf are the names by which a server may be called that listens at an address. A
// page in a browser can have a name of its own lead here; it is refused.
func namesOf(address string, l net.Listener, anywhere bool) func(host string) bool {
	given, _, _ := net.SplitHostPort(address)
	bound, _, _ := net.SplitHostPort(l.Addr().String())
	name, _ := os.Hostname() // without one there is one less
	return func(host string) bool {
		ip := net.ParseIP(host)
		switch {
		case host == "":
			return false
		case isLoopback(host) || strings.EqualFold(host, given) || ip != nil && ip.Equal(net.ParseIP(bound)):
			return true
		case !anywhere:
			return false
		}
		short, _, _ := strings.Cut(name, ".")
		return ip != nil || strings.EqualFold(host, name) || strings.EqualFold(host, short)
	}
}

// limit lets so many connections be open at once; others wait until one is closed.
func limit(l net.Listener, most int) net.Listener {
	return &limited{Listener: l, places: make(chan struct{}, most), closed: make(chan struct{})}
}

type limited struct {
	net.Listener
	places chan struct{}
	once   sync.Once
	closed chan struct{}
}

// Accept waits for a place, then for a connection.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &placed{Conn: conn, leave: sync.OnceFunc(func() { <-l.places })}, nil
}

// Close lets nobody in any more.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// placed is a connection that gives its place back.
type placed struct {
	net.Conn
	leave func()
}

// Close ends the connection.
func (p *placed) Close() error {
	defer p.leave()
	return p.Conn.Close()
}
