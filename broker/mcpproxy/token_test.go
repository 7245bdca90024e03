package mcpproxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

const testToken = "0123456789abcdef0123456789abcdef"

// overTCP serves the proxy under test on a port of the loopback as well.
func (r *harness) overTCP() string {
	r.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- r.proxy.ServeToken(l, testToken) }()
	r.t.Cleanup(func() {
		r.close()
		if err := <-served; err != nil {
			r.t.Error(err)
		}
	})
	return l.Addr().String()
}

// dialed connects, says something and returns what can be read then.
func dialed(t *testing.T, address, say string) *bufio.Reader {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, say); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(conn)
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}` + "\n"

func TestTCPNeedsTheToken(t *testing.T) {
	r := newHarness(t, nil)
	at := r.overTCP()
	for _, end := range []string{"\n", "\r\n"} { // all in one write: nothing behind the line is lost
		in := dialed(t, at, "Bearer "+testToken+end+hello+callLine("2", "filesystem__read_text_file", `{"path":"/workspace/a"}`)+"\n")
		for range 2 {
			if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
				t.Fatalf("with the token: %q, %v", line, err)
			}
		}
	}
	wrong := []string{
		hello, "Bearer \n" + hello, "Bearer " + testToken[:31] + "\n" + hello, "Bearer " + testToken + "0\n" + hello, "bearer " + testToken + "\n" + hello,
		testToken + "\n" + hello, "Bearer " + testToken + " \n" + hello, "Bearer  " + testToken + "\n" + hello, "\n" + hello, strings.Repeat("x", 4<<10) + hello,
	}
	for _, say := range wrong {
		if line, err := dialed(t, at, say).ReadString('\n'); err == nil || line != "" {
			t.Errorf("%.40q was answered with %q", say, line)
		}
	}
	if n := len(r.forwarded()); n != 2 {
		t.Errorf("%d calls reached the server", n)
	}
	refused := 0
	for _, d := range r.decisions() {
		if d.Rule == policy.RuleInvalidRequest {
			refused++
			if strings.Contains(string(d.Raw), testToken[:16]) {
				t.Errorf("the record tells the token: %s", d.Raw)
			}
		}
	}
	if refused != len(wrong) {
		t.Errorf("%d refusals are on record, want %d", refused, len(wrong))
	}
}

func TestTCPGuestsAreBounded(t *testing.T) {
	r := newHarness(t, nil)
	at := r.overTCP()
	for range tokenGuests { // they say nothing and keep their places
		dialed(t, at, "Bearer")
	}
	eventually(t, func() bool {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			return false
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		_, err = conn.Read(make([]byte, 1))
		var late net.Error
		return err != nil && (!errors.As(err, &late) || !late.Timeout())
	}, "the next one is turned away at once")
}

func TestTokensThatAreTooWeak(t *testing.T) {
	r := newHarness(t, nil)
	for _, token := range []string{"", "short", strings.Repeat("x", 31), testToken + " ", testToken + "\n"} {
		t.Run(token, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			if err := r.proxy.ServeToken(l, token); err == nil {
				t.Errorf("%q was accepted", token)
			}
			if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
				t.Error("the port stayed open")
			}
		})
	}
}
