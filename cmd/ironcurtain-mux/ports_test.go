package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/websocket"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/freeport"
)

// buildWebapp builds the web application of testdata.
func buildWebapp(t testing.TB, to string) {
	t.Helper()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", to, "./testdata/webapp")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Chmod(to, 0o755); err != nil { // the agent may be another user
		t.Fatal(err)
	}
}

// serveInTab opens a tab in which the web application serves port 3000, and opens that port
// as one of this machine.
func serveInTab(t testing.TB, d *driver) (port int) {
	t.Helper()
	d.see(patience, "$")
	program := filepath.Join(t.TempDir(), "webapp")
	buildWebapp(t, program)
	binary, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	workOf(t, d.onlySession()).add("webapp", string(binary))
	// What this process has written, another child of it may hold open for a moment: it cannot be run then.
	d.send("cp webapp web && ./web localhost:3000\r")
	d.see(patience, "serving on localhost:3000")
	for {
		port = freeport.Find(t)
		d.send(fmt.Sprintf("\x01/port 3000 %d\r", port))
		taken := false
		d.until("the open port", patience, func(screen string) bool {
			taken = strings.Contains(screen, "is used by another program")
			return taken || strings.Contains(screen, fmt.Sprintf("localhost:%d→3000", port))
		})
		if !taken {
			return port
		}
		d.send("\x1b")
	}
}

// talk has the page and its websocket from the web application at an address.
func talk(t testing.TB, address string) {
	t.Helper()
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || !strings.Contains(string(page), "new WebSocket") {
		t.Fatalf("%q, %v", page, err)
	}
	socket, err := websocket.Dial("ws://"+address+"/echo", "", "http://"+address)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	_ = socket.SetDeadline(time.Now().Add(patience))
	for _, text := range []string{"one", "two"} {
		var echo string
		if err := websocket.Message.Send(socket, text); err != nil {
			t.Fatal(err)
		}
		if err := websocket.Message.Receive(socket, &echo); err != nil || echo != text {
			t.Fatalf("%q, %v", echo, err)
		}
	}
}

// browse opens a page in a real browser, which shows it until the test ends.
func browse(t testing.TB, url string) {
	t.Helper()
	var browser string
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Fatal("there is no browser: install chromium-headless-shell, chromium or google-chrome")
	}
	ctx, cancel := context.WithCancel(t.Context())
	// The tests may be run by root, for whom Chromium has no sandbox. The page is ours.
	show := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-proxy-server", "--remote-debugging-port=0", "--user-data-dir="+t.TempDir(), url)
	show.Cancel = func() error { return syscall.Kill(-show.Process.Pid, syscall.SIGKILL) }
	show.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := show.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = show.Wait() })
}

// A web application in the container is opened from the host, websocket included. After the
// daemon was killed and another one has taken the agent back, the port is closed until
// the person opens it again. It closes with the tab.
func TestPort(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"agent":"shell"}`)
	d := drive(t, home, 120, 30)
	port := serveInTab(t, d)
	at := fmt.Sprintf("127.0.0.1:%d", port)
	talk(t, at)
	browse(t, "http://"+at)
	d.see(patience, "a browser shows: websocket works")
	session := d.onlySession()
	if record := d.audit(session.ID); !strings.Contains(record, fmt.Sprintf("the person opens port 3000 of the container on this machine, as localhost:%d", port)) {
		t.Errorf("it is not on record:\n%s", record)
	}

	d.murder(t, session.ID)
	if _, err := net.Dial("tcp", at); err == nil {
		t.Error("a killed multiplexer listens")
	}
	d.until("the agent taken back", patience, func(string) bool { return d.onlySession().State == broker.StateIdle })
	d.see(patience, "serving on localhost:3000")
	d.send(fmt.Sprintf("\x01/port 3000 %d\r", port))
	d.see(patience, fmt.Sprintf("localhost:%d→3000", port))
	talk(t, at)

	d.send("\x03\x01/port close 3000\r")
	d.see(patience, "port 3000 is closed")
	d.until("the port gone from the tab", patience, func(screen string) bool { return !strings.Contains(screen, "→3000") })
	if _, err := net.Dial("tcp", at); err == nil {
		t.Error("a closed port is open")
	}
	d.send(fmt.Sprintf("\x01/port 3000 %d\r", port))
	d.see(patience, fmt.Sprintf("localhost:%d→3000", port))
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if n, _ := io.Copy(io.Discard, conn); n != 0 {
		t.Errorf("%d bytes of nobody", n)
	}
	d.see(patience, "nothing listens on it")
	d.send("\x01/quit!\r")
	d.exit(patience)
	if _, err := net.Dial("tcp", at); err == nil {
		t.Error("the port of a tab that was closed is open")
	}
}

// Programs in the container reach the port of the host that the person names, and only
// while it is open.
func TestPortOfTheHost(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"agent":"shell"}`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "this is the host\n") }))
	defer server.Close()
	port := server.Listener.Addr().(*net.TCPAddr).Port
	d := drive(t, home, 120, 30)
	d.see(patience, "$")
	get := "clear; curl -s --noproxy '*' http://127.0.0.1:5432/ || echo gone-$((1))\r"
	d.send(get)
	d.see(patience, "gone-1")
	d.send(fmt.Sprintf("\x01/port --to localhost:%d 5432\r", port))
	d.see(patience, fmt.Sprintf("5432→localhost:%d", port))
	if record := d.audit(d.onlySession().ID); !strings.Contains(record, fmt.Sprintf("the person lets the container connect to port %d of this machine, through its own port 5432", port)) {
		t.Errorf("it is not on record:\n%s", record)
	}
	d.send(get)
	d.see(patience, "this is the host")
	d.send("\x01/port close 5432\r")
	d.see(patience, "port 5432 is closed")
	d.send(get)
	d.see(patience, "gone-1")
	d.quit()
}

// The ports that config.json names for a workspace are open with its tab, and the second tab
// there is told that they are taken.
func TestPortsOfConfig(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	workspace, port := filepath.Join(home, "project"), freeport.Find(t)
	if err := os.Mkdir(workspace, 0o777); err != nil {
		t.Fatal(err)
	}
	configure(t, home, fmt.Sprintf(`{"agent":"shell","ports":[{"workspace":%q,"port":3000,"host":%d}]}`, workspace, port))
	d := drive(t, home, 120, 30, "--workspace", workspace)
	d.see(patience, "$", fmt.Sprintf("localhost:%d→3000", port))
	d.send("\x01/new shell --workspace " + workspace + "\r")
	d.see(patience, fmt.Sprintf("open port 3000: port %d of this machine is used by another program", port))
	d.send("\x01/quit!\r")
	d.exit(patience)
}

// BenchmarkPort compares the download from the same program in a container, through an open
// port, and on this machine.
func BenchmarkPort(b *testing.B) {
	home := newHome(b)
	configure(b, home, `{"agent":"shell"}`)
	d := drive(b, home, 120, 30)
	carried := fmt.Sprintf("127.0.0.1:%d", serveInTab(b, d))
	program := filepath.Join(b.TempDir(), "webapp")
	buildWebapp(b, program)
	direct := fmt.Sprintf("127.0.0.1:%d", freeport.Find(b))
	ctx, cancel := context.WithCancel(b.Context())
	server := exec.CommandContext(ctx, program, direct)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { cancel(); _ = server.Wait() }()
	speed := map[string]float64{}
	for _, way := range []struct{ name, address string }{{"direct", direct}, {"carried", carried}} {
		b.Run(way.name, func(b *testing.B) {
			answer, err := http.Get("http://" + way.address + "/zeros")
			for begin := time.Now(); err != nil && time.Since(begin) < patience; <-time.After(10 * time.Millisecond) {
				answer, err = http.Get("http://" + way.address + "/zeros")
			}
			if err != nil {
				b.Fatal(err)
			}
			defer answer.Body.Close()
			const piece = 64 << 20
			b.SetBytes(piece)
			begin := time.Now()
			for b.Loop() {
				if _, err := io.CopyN(io.Discard, answer.Body, piece); err != nil {
					b.Fatal(err)
				}
			}
			speed[way.name] = float64(b.N) * piece / time.Since(begin).Seconds()
			if way.name == "carried" {
				b.ReportMetric(speed["carried"]/speed["direct"], "of-direct")
			}
		})
	}
}
