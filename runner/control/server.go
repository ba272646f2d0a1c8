// Package control monitors and controls a running job over HTTP. [Server] answers GET /status and /metrics from the
// snapshots of a [Monitor], and queues the changes of POST /allocation for the job, which is never blocked.
package control

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/listen"
	"graft/internal/telemetry"
	"graft/runner/app"
	"graft/trainer"
)

// Options holds the options of the HTTP server of a job.
type Options struct {
	Address   string // address such as 127.0.0.1:0; empty disables the server
	Anywhere  bool   // allows addresses that other machines can reach; false allows loopback only
	TokenFile string // path of the file with the token; if empty, Token applies
	Token     string // token from TokenVariable; if empty, a token is generated
}

// Files in the run folder while the server listens.
const (
	AddressFile = "listen" // address of the server
	TokenFile   = "token"  // token of the server, if it was generated
)

// Limits of the server, which keep slow and greedy clients from slowing the job.
const (
	mostKnown     = 32 // connections kept open for clients that sent the token; others close after the response
	mostHeader    = 16 << 10
	mostBody      = 64 << 10
	answerTimeout = listen.RequestTimeout + answerWithin + 5*time.Second
)

// Server serves the status of a job and accepts requests that change the job. It opens its port before the job is
// created, so that a port in use fails early. A nil server does nothing.
type Server struct {
	Options
	env       *app.Env
	listener  net.Listener
	token     string
	tokenMade bool
	server    *http.Server
	done      chan struct{} // closed when the server has stopped
	files     []string      // files in the run folder, removed by Close
}

// Open starts to listen on the port of a server. Without an address it returns nil.
func Open(env *app.Env, o Options) (*Server, error) {
	if o.Address == "" {
		if o.Anywhere || o.TokenFile != "" {
			return nil, failure.Usagef("option \"listen-anywhere\" and option \"token-file\" require option " +
				"\"listen\"; " +
				"set an address")
		}
		return nil, nil
	}
	s := &Server{Options: o, env: env, done: make(chan struct{})}
	var err error
	if err = listen.CheckAddress(o.Address, o.Anywhere,
		"requests, including the token, are not encrypted"); err != nil {
		return nil, err
	}
	if s.token, s.tokenMade, err = findToken(env, o); err != nil {
		return nil, err
	}
	if s.listener, err = listen.Listen(o.Address, o.Anywhere); err != nil {
		return nil, err
	}
	if o.Anywhere {
		env.Log.Warn("serving without encryption; anyone who can read the network traffic can read the token",
			zap.String("address", o.Address))
	}
	return s, nil
}

// Serve starts answering requests, and writes the address and a generated token into the run folder.
func (s *Server) Serve(folder string, m *Monitor, live *trainer.Live, gpus func() []telemetry.State) error {
	if s == nil {
		return nil
	}
	fields, err := s.announce(folder)
	if err != nil {
		return err
	}
	if whole, err := filepath.Abs(folder); err == nil {
		folder = whole
	}
	h := &handler{monitor: m, live: live, gpus: gpus, version: s.env.Version, host: s.env.Host, folder: folder,
		token: sha256.Sum256([]byte(s.token)), hosts: listen.Hosts(s.Address, s.listener, s.Anywhere),
		log: s.env.Log, patience: answerWithin}
	s.server = &http.Server{Handler: h, ReadHeaderTimeout: listen.HeaderTimeout, ReadTimeout: listen.RequestTimeout,
		WriteTimeout: answerTimeout, ConnContext: listen.WithClient,
		// unknown clients must not fill the log
		IdleTimeout: listen.IdleTimeout, MaxHeaderBytes: mostHeader, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(s.done)
		if err := s.server.Serve(listen.NewGate(s.listener, s.env.Now)); !errors.Is(err, http.ErrServerClosed) {
			s.env.Log.Error("server stopped", zap.Error(err))
		}
	}()
	s.env.Log.Info("listening", fields...)
	return nil
}

// announce writes the token and the address, and returns them as fields of a log line.
func (s *Server) announce(folder string) ([]zap.Field, error) {
	address, path := s.listener.Addr().String(), filepath.Join(folder, AddressFile)
	fields := []zap.Field{zap.String("address", address), zap.String("in", path)}
	if s.tokenMade {
		secret := filepath.Join(folder, TokenFile)
		if err := files.WritePrivate(s.env.Files, secret, func(w io.Writer) error {
			_, err := io.WriteString(w, s.token+"\n")
			return err
		}); err != nil {
			return nil, fmt.Errorf("write the token: %w", err)
		}
		s.files = append(s.files, secret)
		fields = append(fields, zap.String("token", secret))
	}
	if err := s.env.WriteText(path, address+"\n"); err != nil {
		return nil, err
	}
	s.files = append(s.files, path)
	return fields, nil
}

// Close ends all connections, releases the port and removes the server's files from the run folder.
func (s *Server) Close() {
	if s == nil {
		return
	}
	for _, path := range s.files {
		_ = s.env.Files.Remove(path) // stale files are also removed on resume
	}
	if s.server == nil {
		_ = s.listener.Close()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), listen.ShutdownTimeout)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		_ = s.server.Close()
	}
	<-s.done
}

// RemoveStaleFiles removes the server's files that a killed process left in a run folder.
func RemoveStaleFiles(fsys files.FS, folder string) {
	for _, name := range []string{AddressFile, TokenFile} {
		_ = fsys.Remove(filepath.Join(folder, name)) // usually there are none
	}
}
