package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// scripted is an engine that answers what connecting needs, and the rest by a script.
func scripted(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	path := filepath.Join(shortDir(t), "d.sock")
	return scriptedAt(t, listen(t, path), "unix://"+path, answer)
}

// scriptedAt is scripted for an engine at another address.
func scriptedAt(t *testing.T, l net.Listener, address string, answer http.HandlerFunc) *Client {
	t.Helper()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/_ping"):
			fmt.Fprint(w, "OK")
		case strings.HasSuffix(r.URL.Path, "/version"), strings.HasSuffix(r.URL.Path, "/info"):
			fmt.Fprint(w, `{"ApiVersion":"1.41","Version":"20.10"}`)
		default:
			answer(w, r)
		}
	})}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() { server.Close(); <-done })
	c, err := Connect(deadline(t, patience), Endpoint{Address: address, Source: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(deadline(t, patience)) })
	return c
}

// accepts answers the preparation of a program, and its start with raw bytes.
func accepts(bytes string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/exec") {
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"Id":"program"}`)
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, bytes)
		conn.Close()
	}
}

const switching = "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"

// An engine that does not start the program, in whatever way, is an error of Stream.
func TestStreamThatTheEngineRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   error // nil: any
		text   string
	}{
		{"at the preparation", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"message":"no\nroom"}`)
		}, nil, "500: no room"},
		{"while it is paused", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"message":"Container x is paused"}`)
		}, ErrNotRunning, "paused"},
		{"with a preparation that is no JSON", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `what`)
		}, nil, "invalid character"},
		{"at the start", accepts("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 26\r\n\r\n{\"message\":\"out of pids\"}\r\n"), nil, "500: out of pids"},
		{"since it has stopped", accepts("HTTP/1.1 409 Conflict\r\nContent-Length: 24\r\n\r\n{\"message\":\"is stopped\"}"), ErrNotRunning, "stopped"},
		{"since it is gone", accepts("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}"), ErrNoContainer, ""},
		{"with nothing", accepts(""), nil, "closed the connection"},
		{"with half a head", accepts(switching[:40]), nil, "closed the connection"},
		{"with an endless head", accepts("HTTP/1.1 101 UPGRADED\r\nX: " + strings.Repeat("x", 1<<20)), nil, "closed the connection"},
		{"with something else", accepts("SSH-2.0-OpenSSH_9.9\r\n"), nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := scripted(t, tt.answer).Stream(deadline(t, patience), "x", []string{"x"}, "1000:1000")
			if err == nil {
				conn.Close()
				t.Fatal("accepted")
			}
			if tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
		})
	}
}

// What is no output of a program ends the stream, for good.
func TestStreamOfSomethingElse(t *testing.T) {
	for _, tt := range []struct {
		name, bytes string
		want        error
	}{
		{"an unknown kind", frame(1, "out") + frame(7, "x") + frame(1, "more"), errFrames},
		{"a page", frame(1, "out") + "<html>" + frame(1, "more"), errFrames},
		{"a cut frame", (frame(1, "out") + frame(1, "more"))[:15], io.ErrUnexpectedEOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := scripted(t, accepts(switching+tt.bytes)).Stream(deadline(t, patience), "x", []string{"x"}, "1000:1000")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			got, err := io.ReadAll(conn)
			if string(got) != "out" || !errors.Is(err, tt.want) {
				t.Errorf("%q, %v", got, err)
			}
			if _, again := conn.Read(make([]byte, 1)); again == nil || again.Error() != err.Error() {
				t.Errorf("once more: %v", again)
			}
			if _, err := conn.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
				t.Errorf("a write: %v", err)
			}
		})
	}
}

// The caller gives up while the engine is silent, at each step.
func TestStreamIsCalledOff(t *testing.T) {
	for _, at := range []string{"/exec", "/start"} {
		t.Run(at, func(t *testing.T) {
			ctx, cancel := context.WithCancel(deadline(t, patience))
			c := scripted(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, at) {
					cancel()
					_, _ = io.Copy(io.Discard, r.Body)
					<-r.Context().Done()
					return
				}
				accepts("")(w, r)
			})
			if _, err := c.Stream(ctx, "x", []string{"x"}, "1000:1000"); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		})
	}
}

// While it is asked whether its words are its own, the stream can be closed.
func TestStreamIsClosedWhileTheEngineIsAsked(t *testing.T) {
	asked := make(chan struct{})
	begin := accepts(switching + frame(1, "OCI runtime exec failed\r\n"))
	c := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/json") {
			close(asked)
			<-r.Context().Done()
			return
		}
		begin(w, r)
	})
	conn, err := c.Stream(deadline(t, patience), "x", []string{"x"}, "1000:1000")
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		read <- err
	}()
	<-asked
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-read; !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// An agent that has taken all processes is named as the likely cause.
func TestStreamAtTheLimitSaysWhatToDo(t *testing.T) {
	for _, complaint := range []string{
		frame(2, "runtime: failed to create new OS thread (have 2 already; errno=11)\nfatal error: newosproc\n"),
		frame(2, "sh: 1: Cannot fork: Resource temporarily unavailable\n"),
	} {
		t.Run(complaint[frameHead:frameHead+3], func(t *testing.T) {
			conn, err := scripted(t, accepts(switching+complaint)).Stream(deadline(t, patience), "x", []string{"x"}, "1000:1000")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Read(make([]byte, 1)); err == nil || !strings.Contains(fault.Hint(err), "pids") {
				t.Errorf("%v: %s", err, fault.Hint(err))
			}
		})
	}
}
