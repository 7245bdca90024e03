package packages

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

// BenchmarkPeers measures, beside a direct way, what a client waits for documents of 100 kB and
// archives of 20 kB, cold and warm, from a registry that takes 0 or 20 ms for each answer: npm's
// through this plane and verdaccio, which is left out where it cannot be had, and Debian's.
//
//	go test -run '^$' -bench Peers -benchtime 1x ./broker/packages
func BenchmarkPeers(b *testing.B) {
	for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
		b.Run(fmt.Sprintf("npm %v", delay), func(b *testing.B) { benchNPM(b, delay) })
		b.Run(fmt.Sprintf("apt %v", delay), func(b *testing.B) { benchApt(b, delay) })
	}
}

const peerRounds = 60

func benchNPM(b *testing.B, delay time.Duration) {
	b.Helper()
	npm := forged.NewNPM(b)
	upstream := slowed(b, npm, delay)
	npm.Public = upstream.String()
	var documents, archives []string
	for i := range peerRounds {
		name := fmt.Sprintf("package-%d", i)
		for version := range 300 {
			v := forged.NPMVersion{Version: fmt.Sprintf("1.0.%d", version), Published: old(), Manifest: map[string]any{"description": strings.Repeat("x", 50)}}
			if version == 299 {
				v.Files = map[string]string{"data": noise()}
			}
			npm.Add(name, v)
		}
		documents, archives = append(documents, "/"+name), append(archives, "/"+name+"/-/"+name+"-1.0.299.tgz")
	}
	w := benchPeers(b, &registry.Origin{Ecosystem: "npm", URL: upstream})
	targets := map[string]string{"direct": strings.TrimSuffix(upstream.String(), "/"), "ours": w.serve(upstream)}
	if address := verdaccio(b, upstream); address != "" {
		targets["verdaccio"] = address
	}
	measurePeers(b, targets, map[string][]string{"document": documents, "archive": archives})
}

func benchApt(b *testing.B, delay time.Duration) {
	b.Helper()
	repo := forged.NewApt(b)
	upstream := slowed(b, repo, delay)
	var index strings.Builder
	var archives []string
	for i := range peerRounds {
		name := fmt.Sprintf("package-%d", i)
		index.WriteString(repo.AddDeb(b, name, "1.0", "xz", map[string]string{"usr/share/" + name: noise()}))
		archives = append(archives, "/pool/main/p/"+name+"/"+name+"_1.0_amd64.deb")
	}
	repo.Put("dists/stable/main/binary-amd64/Packages", []byte(index.String()))
	repo.Publish(b, "stable")
	w := benchPeers(b, &registry.Origin{Ecosystem: "apt", URL: upstream, Keys: []string{repo.Keyring}})
	targets := map[string]string{"direct": strings.TrimSuffix(upstream.String(), "/"), "ours": w.serve(upstream)}
	for _, address := range targets { // the index, from which the digests of packages come
		fetch(b, address+"/dists/stable/InRelease")
		fetch(b, address+"/dists/stable/main/binary-amd64/Packages")
	}
	measurePeers(b, targets, map[string][]string{"archive": archives})
}

// measurePeers gets every path twice from every target, in turn, and reports medians.
func measurePeers(b *testing.B, targets map[string]string, paths map[string][]string) {
	b.Helper()
	for b.Loop() {
		for what, all := range paths {
			times := map[string][]time.Duration{}
			for _, state := range []string{"cold", "warm"} {
				for _, path := range all {
					for target, address := range targets {
						name := target + "-" + what + "-" + state
						times[name] = append(times[name], fetch(b, address+path))
					}
				}
			}
			for name, all := range times {
				slices.Sort(all)
				b.ReportMetric(float64(all[len(all)/2].Microseconds()), name+"-p50-us")
			}
		}
	}
}

func fetch(b *testing.B, address string) time.Duration {
	b.Helper()
	began := time.Now()
	res, err := http.Get(address)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != 200 {
		b.Fatalf("%s: %s, %v", address, res.Status, err)
	}
	return time.Since(began)
}

func noise() string {
	data := make([]byte, 20<<10)
	for i := range data {
		data[i] = byte(rand.IntN(256))
	}
	return string(data)
}

// benchPeers is a world with one registry on this machine.
func benchPeers(b *testing.B, o *registry.Origin) *world {
	b.Helper()
	o.Private = true
	w := newWorld(b, func(options *Options) {
		options.Origins, options.Limits, options.Upstreams = []*registry.Origin{o}, registry.Limits{}, nil
	})
	w.open()
	return w
}

// serve makes the way of the session a server, whose address it returns.
func (w *world) serve(o *url.URL) string {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		err := w.way.Way().Serve(r.Context(), &registry.HTTPRequest{Method: r.Method, Authority: o.Scheme + "://" + o.Host, Path: r.URL.EscapedPath(), Accept: r.Header.Get("Accept")}, httpAnswer{rw})
		if err != nil {
			w.t.Error(err)
		}
	}))
	w.t.Cleanup(server.Close)
	return server.URL
}

// httpAnswer is registry.Answer for a server of net/http.
type httpAnswer struct{ http.ResponseWriter }

func (a httpAnswer) Start(status int, _ string, fields []registry.Field, length int64) error {
	for _, f := range fields {
		a.Header().Set(f.Name, f.Value)
	}
	if length >= 0 {
		a.Header().Set("Content-Length", fmt.Sprint(length))
	}
	a.WriteHeader(status)
	return nil
}

// slowed serves what a handler answers, which is made once, after a delay.
func slowed(b *testing.B, h http.Handler, delay time.Duration) *url.URL {
	b.Helper()
	var mu sync.Mutex
	kept := map[string]*httptest.ResponseRecorder{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay) //nolint:forbidigo // how far away the registry is
		mu.Lock()
		answer := kept[r.URL.Path]
		if answer == nil {
			answer = httptest.NewRecorder()
			h.ServeHTTP(answer, r)
			kept[r.URL.Path] = answer
		}
		mu.Unlock()
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	b.Cleanup(server.Close)
	u, _ := url.Parse(server.URL + "/")
	return u
}

// verdaccio starts one before a registry, and returns its address or "".
func verdaccio(b *testing.B, upstream *url.URL) string {
	b.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(cache, "ironcurtain-mux", "verdaccio")
	program := filepath.Join(dir, "node_modules", ".bin", "verdaccio")
	if _, err := os.Stat(program); err != nil {
		manifest := `{"private":true,"dependencies":{"verdaccio":"6.1.0"},"overrides":{"node-fetch":"2.7.0"}}`
		if os.MkdirAll(dir, 0o755) != nil || os.WriteFile(filepath.Join(dir, "package.json"), []byte(manifest), 0o600) != nil {
			b.Fatal("no place for verdaccio")
		}
		install := exec.CommandContext(b.Context(), "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts")
		install.Dir = dir
		if out, err := install.CombinedOutput(); err != nil {
			b.Logf("without verdaccio: %v: %s", err, out)
			return ""
		}
	}
	state, listen := b.TempDir(), freeAddress(b)
	config := fmt.Sprintf("storage: %s/store\nauth: {}\nlog: {type: stdout, format: json, level: fatal}\nuplinks: {up: {url: %s, maxage: 60m, cache: true}}\npackages: {'**': {access: $all, proxy: up}}\n", state, upstream)
	if err := os.WriteFile(filepath.Join(state, "config.yaml"), []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
	return start(b, listen, program, "--config", filepath.Join(state, "config.yaml"), "--listen", listen)
}

func freeAddress(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start starts a server that ends with the benchmark, and returns its address, or "" when it does
// not listen within ten seconds.
func start(b *testing.B, listen, program string, arguments ...string) string {
	b.Helper()
	server := exec.Command(program, arguments...)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	for range 200 {
		if c, err := net.Dial("tcp", listen); err == nil {
			_ = c.Close()
			return "http://" + listen
		}
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // another program says in no other way that it listens
	}
	b.Logf("without %s, which does not listen", filepath.Base(program))
	return ""
}
