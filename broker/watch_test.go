package broker

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// hangingEngine is an engine that answers only what connecting needs, and not at
// all while it hangs.
func hangingEngine(t *testing.T) (client *docker.Client, hangs *atomic.Bool) {
	t.Helper()
	hangs = &atomic.Bool{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "_ping") {
			_, _ = w.Write([]byte("OK"))
			return
		}
		_, _ = w.Write([]byte(`{"ApiVersion":"1.41","Version":"20.10"}`))
	}))
	socket := filepath.Join(shortTemp(t), "d.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	client, err = docker.Connect(t.Context(), docker.Endpoint{Address: "unix://" + socket, Source: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return client, hangs
}

// An engine that hangs breaks no connection. The tabs still say within two seconds that
// it does not answer, and later that it answers again.
func TestTabsTellThatTheEngineHangs(t *testing.T) {
	if watchEvery+watchLimit > 2*time.Second {
		t.Errorf("asked every %v, given %v", watchEvery, watchLimit)
	}
	client, hangs := hangingEngine(t)
	b, err := New(Config{Home: shortTemp(t), Agents: agent.Builtin(), DefaultAgent: "shell", MaxSessions: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	b.engine.mu.Lock()
	b.engine.client = client
	b.engine.mu.Unlock()
	s, err := session.New(b.deps(), OpenRequest{Agent: "shell"})
	if err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	b.sessions = append(b.sessions, s)
	b.mu.Unlock()
	events, err := b.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, away := range []bool{true, false} {
		hangs.Store(away)
		limit := time.After(time.Minute)
		for told := false; !told; {
			select {
			case ev := <-events:
				told = ev.Session != nil && (ev.Session.Trouble != "") == away
			case <-limit:
				t.Fatalf("away %v: nobody was told", away)
			}
		}
	}
	ended(s)
	if err := b.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
