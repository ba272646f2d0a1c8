package coprocess

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// childVariable makes the test binary act as an attaching program. Its value selects the role.
const childVariable = "COPROCESS_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childVariable); role != "" {
		if err := child(role); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child attaches over the inherited socket or a socket in the folder that graft names, and answers each line with its
// role.
func child(role string) error {
	var link *os.File
	if role == "inherits" {
		link = os.NewFile(socketNumber, "socket")
	} else {
		_ = syscall.Close(socketNumber)
		conn, err := net.Dial("unix", filepath.Join(os.Getenv("TEST_SOCKET_FOLDER"), meetingSocket))
		if err != nil {
			return err
		}
		if link, err = conn.(*net.UnixConn).File(); err != nil {
			return err
		}
		if again, err := net.Dial("unix", filepath.Join(os.Getenv("TEST_SOCKET_FOLDER"), meetingSocket)); err == nil {
			_ = again.SetDeadline(time.Now().Add(time.Minute))
			if n, _ := again.Read(make([]byte, 1)); n > 0 {
				role += " twice"
			}
		}
	}
	out := json.NewEncoder(link)
	if err := out.Encode(map[string]string{"role": role}); err != nil {
		return err
	}
	in := json.NewDecoder(link)
	for {
		var request struct{}
		if err := in.Decode(&request); err != nil {
			return nil
		}
		if err := out.Encode(map[string]string{"role": role}); err != nil {
			return err
		}
	}
}

// attached starts the test binary in a role.
func attached(t *testing.T, role string, limit time.Duration) (*Process, string) {
	t.Helper()
	folder := t.TempDir()
	if role == "deep" { // socket paths have at most 107 bytes
		folder = filepath.Join(folder, strings.Repeat("folder/", 20))
	}
	require.NoError(t, os.MkdirAll(folder, 0o700))
	p, err := Attach(Command{Args: []string{os.Args[0]}, Variable: "TEST_SOCKET", Meeting: folder, Limit: limit,
		Env: []string{childVariable + "=" + role}})
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p, folder
}

// A program attaches over an inherited socket, or over a connection to a socket in a folder.
func TestAttachments(t *testing.T) {
	for _, role := range []string{"inherits", "connects"} {
		t.Run(role, func(t *testing.T) {
			p, _ := attached(t, role, time.Minute)
			var answer struct{ Role string }
			require.NoError(t, p.Receive(t.Context(), &answer))
			require.Equal(t, role, answer.Role)
			for range 3 {
				answer.Role = ""
				require.NoError(t, p.Ask(t.Context(), struct{}{}, &answer))
				require.Equal(t, role, answer.Role)
			}
		})
	}
}

// A program that closes its inherited socket and exits is reported as ended. Its folder may have a long name.
func TestAttachmentsThatFail(t *testing.T) {
	p, _ := attached(t, "deep", time.Minute) // the path is too long for the child
	require.ErrorContains(t, p.Receive(t.Context(), &struct{}{}), "ended without an answer: exit status 1")
}

// The pipe in the folder closes at the end of the session.
func TestPulse(t *testing.T) {
	p, folder := attached(t, "connects", time.Minute)
	pipe, err := os.OpenFile(filepath.Join(folder, aliveFile), os.O_RDONLY, 0)
	require.NoError(t, err)
	defer pipe.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := pipe.Read(make([]byte, 1))
		ended <- err
	}()
	require.NoError(t, p.Receive(t.Context(), &struct{ Role string }{}))
	require.Empty(t, ended)
	p.Close()
	require.ErrorContains(t, <-ended, "EOF")
}

// Processes of other users are refused.
func TestOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("left out: only root can connect as another user; run the test as root")
	}
	folder, err := os.MkdirTemp("/tmp", "graft-test-")
	require.NoError(t, err)
	defer os.RemoveAll(folder)
	require.NoError(t, os.Chmod(folder, 0o755))
	listener, err := net.Listen("unix", filepath.Join(folder, "socket"))
	require.NoError(t, err)
	defer listener.Close()
	require.NoError(t, os.Chmod(listener.Addr().String(), 0o777))
	for _, user := range []int{0, 65534} {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		require.NoError(t, as(user, func() error {
			return syscall.Connect(fd, &syscall.SockaddrUnix{Name: listener.Addr().String()})
		}))
		conn, err := listener.Accept()
		require.NoError(t, err)
		require.Equal(t, user == 0, sameUser(conn.(*net.UnixConn)))
		require.NoError(t, errors.Join(conn.Close(), syscall.Close(fd)))
	}
}

// as calls a function on a thread that acts as another user.
func as(user int, call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	become := func(user int) error {
		const same = ^uintptr(0)
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, same, uintptr(user), same); errno != 0 {
			return errno
		}
		return nil
	}
	if err := become(user); err != nil {
		return err
	}
	return errors.Join(call(), become(0))
}
