package coprocess

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

// Files in the folder of a command.
const (
	meetingSocket = "socket"
	aliveFile     = "alive"
)

// connection is the socket to a program. It is the socket that the program inherits, unless one of the processes that
// the program started connects first: launchers such as torchrun close inherited descriptors.
type connection struct {
	inherited *os.File
	listener  *net.UnixListener // nil means that only the inherited socket counts
	joined    atomic.Pointer[net.UnixConn]
	met       chan struct{} // closed when joined is set
	ended     chan struct{} // closed when the program has ended
	chosen    atomic.Bool   // one of the two sockets is in use
	closed    atomic.Bool
	own       bool // the inherited socket is; only Read uses the field
}

// meet listens in a private folder for one connection of a process of the same user.
func (c *connection) meet(folder string) error {
	// Names below a descriptor are short, whatever the length of the folder's name.
	dir, err := syscall.Open(folder, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: folder, Err: err}
	}
	defer func() { _ = syscall.Close(dir) }() // it was only read
	name := fmt.Sprintf("/proc/self/fd/%d/%s", dir, meetingSocket)
	if c.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"}); err != nil {
		return err
	}
	c.listener.SetUnlinkOnClose(false) // the name is not valid later; the folder's owner removes it
	go c.accept(filepath.Join(folder, meetingSocket))
	return nil
}

// accept waits for a process of the same user, and refuses all later ones.
func (c *connection) accept(path string) {
	for {
		conn, err := c.listener.AcceptUnix()
		if err != nil {
			return // closed
		}
		if !sameUser(conn) || !c.chosen.CompareAndSwap(false, true) {
			_ = conn.Close()
			continue
		}
		_, _ = syscall.Unlink(path), c.listener.Close()
		c.joined.Store(conn)
		close(c.met)
		_ = c.inherited.SetReadDeadline(time.Unix(1, 0)) // interrupts Read
		return
	}
}

// sameUser reports whether the peer of a socket runs as the user of this process.
func sameUser(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	same := false
	err = raw.Control(func(fd uintptr) {
		peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		same = err == nil && int(peer.Uid) == os.Geteuid()
	})
	return err == nil && same
}

// Read reads from the socket of a child process that connected, if there is one. Otherwise it reads from the socket
// that the program inherited.
func (c *connection) Read(b []byte) (int, error) {
	if conn := c.joined.Load(); conn != nil {
		return conn.Read(b)
	}
	n, err := c.inherited.Read(b)
	c.own = c.own || n > 0 && c.chosen.CompareAndSwap(false, true)
	if c.own || c.listener == nil {
		return n, err
	}
	select { // a connection has interrupted, or all processes have closed the inherited socket
	case <-c.met:
		return c.joined.Load().Read(b)
	case <-c.ended:
		return 0, io.EOF
	}
}

// Write writes to the same socket that Read uses.
func (c *connection) Write(b []byte) (int, error) {
	if conn := c.joined.Load(); conn != nil {
		return conn.Write(b)
	}
	return c.inherited.Write(b)
}

// Close closes the sockets. Further calls do nothing.
func (c *connection) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	err := c.inherited.Close()
	if c.listener != nil {
		if other := c.listener.Close(); !errors.Is(other, net.ErrClosed) {
			err = errors.Join(err, other)
		}
	}
	if conn := c.joined.Load(); conn != nil {
		err = errors.Join(err, conn.Close())
	}
	return err
}

// pulse makes a pipe in a folder whose reader notices the end of this process, however it ends. It stays open until it
// is closed.
func pulse(folder string) (*os.File, error) {
	path := filepath.Join(folder, aliveFile)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, &os.PathError{Op: "mkfifo", Path: path, Err: err}
	}
	pipe, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(pipe), path), nil
}
