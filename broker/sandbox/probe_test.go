package sandbox

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
)

// listed is a server that may reach one host.
var listed = servers.Sandbox{Network: servers.Network{AllowedDomains: []string{"example.com"}}}

func TestAListOfHostsIsTried(t *testing.T) {
	g := lay(t)
	h := host(t, g, Options{Runtime: installed(t)})
	_, p := shell(t, h, listed, "echo ran", nil)
	if len(p.Probes()) != 3 {
		t.Fatalf("probes %v", p.Probes())
	}
	for _, probe := range p.Probes() {
		if !probe.Blocked {
			t.Errorf("probe %q got through", probe.Name)
		}
	}
}

// A runtime whose proxy connects to any host does not enforce a list.
func TestAProxyThatIgnoresTheListIsRefused(t *testing.T) {
	g := lay(t)
	var asked, known atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		r.Header.Set("Authorization", r.Header.Get("Proxy-Authorization"))
		if name, secret, _ := r.BasicAuth(); name == "na me" && secret == "s%cret" {
			known.Add(1)
		}
		to, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer to.Close()
		w.WriteHeader(http.StatusOK)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.Copy(conn, to)
	}))
	defer proxy.Close()
	leaky := filepath.Join(t.TempDir(), "srt")
	address := strings.Replace(proxy.URL, "http://", "http://na%20me:s%25cret@", 1)
	// It lets nothing be written or dialed but by its proxy.
	script := "#!/bin/bash\nexec env HTTP_PROXY='" + address + "' bwrap --ro-bind / / --dev /dev --unshare-user bash -c \"${4//exec 3<>\\/dev\\/tcp\\/127.0.0.1/false}\"\n"
	if err := os.WriteFile(leaky, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	h := host(t, g, Options{Runtime: []string{leaky}})
	if p, err := h.Start(t.Context(), Spec{Name: "leaky", Argv: []string{"/bin/cat"}, Sandbox: listed}); err == nil {
		p.Stop()
		t.Fatal("it was started")
	} else if !strings.Contains(err.Error(), "failed its test") {
		t.Fatal(err)
	}
	if asked.Load() != 1 || known.Load() != 1 {
		t.Errorf("the proxy was asked %d times, %d times with the password", asked.Load(), known.Load())
	}
	p, err := h.Start(t.Context(), Spec{Name: "plain", Argv: []string{"/bin/cat"}})
	if err != nil {
		t.Fatalf("a server without a list: %v", err)
	}
	p.Stop()
}

// A server whose requests are judged has no network, whatever hosts are listed
// for the policy.
func TestAJudgedNetworkIsNone(t *testing.T) {
	g := lay(t)
	h := host(t, g, Options{Runtime: installed(t)})
	judged := servers.Sandbox{Network: servers.Network{Judged: true, AllowedDomains: []string{"example.com"}}}
	if s := h.settingsFor(judged, g.session); len(s.Network.AllowedDomains) != 0 {
		t.Errorf("the sandbox lets it reach %v", s.Network.AllowedDomains)
	}
	if _, p := shell(t, h, judged, "echo ran", nil); len(p.Probes()) != 2 || !p.Probes()[1].Blocked {
		t.Errorf("probes %v", p.Probes())
	}
}
