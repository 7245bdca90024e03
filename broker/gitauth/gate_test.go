package gitauth

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// What comes to the gate's socket for another host, or is no request for a connection, is
// refused before anything is sent anywhere.
func TestTheGateIsForOneHost(t *testing.T) {
	w := newWorld(t)
	g, err := OpenHTTPS(t.Context(), w.callDir(t), Call{Remote: address(t, "https://example.com/team/repo.git")}, Credential{User: "u"})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	early, err := net.Dial("unix", g.Socket())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := early.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("before the approval: %d bytes, %v", n, err)
	}
	_ = early.Close()
	g.Permit(true)
	for request, want := range map[string]string{
		"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n":              "HTTP/1.1 200",
		"CONNECT example.com:22 HTTP/1.1\r\nHost: example.com:22\r\n\r\n":                "HTTP/1.1 403",
		"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n":              "HTTP/1.1 403",
		"GET http://example.com/team/repo.git HTTP/1.1\r\nHost: example.com:443\r\n\r\n": "HTTP/1.1 403",
		"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\nearly":         "",
		"rubbish\r\n\r\n": "",
		"CONNECT example.com:443 HTTP/1.1\r\nX: " + strings.Repeat("x", 1<<15): "",
	} {
		conn, err := net.Dial("unix", g.Socket())
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, request) // the gate may hang up earlier
		answer := make([]byte, 12)
		n, _ := io.ReadFull(conn, answer)
		if string(answer[:n]) != want {
			t.Errorf("%.60q: %q, want %q", request, answer[:n], want)
		}
		_ = conn.Close()
	}
}

// A gate that ends takes its connections with it.
func TestCloseEndsConnections(t *testing.T) {
	w := newWorld(t)
	g, err := OpenHTTPS(t.Context(), w.callDir(t), Call{Remote: address(t, "https://example.com/team/repo.git")}, Credential{})
	if err != nil {
		t.Fatal(err)
	}
	g.Permit(true)
	var conns []net.Conn
	for i := range maxConnections + 1 {
		conn, err := net.Dial("unix", g.Socket())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
		if i%2 == 0 {
			if _, err := io.WriteString(conn, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n"); err != nil && i < maxConnections {
				t.Fatal(err)
			}
		}
	}
	g.Close()
	for _, conn := range conns {
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, conn); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Error(err)
		}
	}
}

// When a permission ends, its connections do, and a later permission lets new ones through.
func TestTheEndOfAPermissionEndsConnections(t *testing.T) {
	w := newWorld(t)
	g, err := OpenHTTPS(t.Context(), w.callDir(t), Call{Remote: address(t, "https://example.com/team/repo.git")}, Credential{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	connect := func() net.Conn {
		conn, err := net.Dial("unix", g.Socket())
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
		return conn
	}
	const answer = "HTTP/1.1 200 Connection established\r\n\r\n"
	for range 2 {
		g.Permit(true)
		conn := connect()
		if _, err := io.ReadFull(conn, make([]byte, len(answer))); err != nil {
			t.Fatal(err)
		}
		g.Permit(false)
		if n, err := conn.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) || err == nil {
			t.Errorf("after the permission: %d bytes, %v", n, err)
		}
		_ = conn.Close()
	}
}
