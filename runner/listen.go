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
	"time"

	"go.uber.org/zap"

	"graft/files"
	"graft/results/failure"
	"graft/results/listen"
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
			return nil, failure.Usagef("--listen-anywhere and --token-file are for --listen; say at which address")
		}
		return nil, nil
	}
	c := &counter{listenOptions: o, log: logger, done: make(chan struct{})}
	var err error
	if err = listen.MayListen(o.address, o.anywhere, "what they send, the token too, is not encrypted"); err != nil {
		return nil, err
	}
	if c.token, c.made, err = findToken(o.tokenFile, logger); err != nil {
		return nil, err
	}
	if c.listener, err = listen.Listen(o.address, o.anywhere); err != nil {
		return nil, err
	}
	if o.anywhere {
		logger.Warn("whoever can read the network to this address can read the token", zap.String("address", o.address))
	}
	return c, nil
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
	desk := &desk{board: b, live: live, folder: folder, token: sha256.Sum256([]byte(c.token)), hosts: listen.Hosts(c.address, c.listener, c.anywhere), log: c.log, patience: answerWithin}
	c.server = &http.Server{Handler: desk, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: answerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: mostHeader, ErrorLog: log.New(io.Discard, "", 0)} // what strangers send fills no log
	go func() {
		defer close(c.done)
		if err := c.server.Serve(listen.Limit(c.listener, mostConnections)); !errors.Is(err, http.ErrServerClosed) {
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
