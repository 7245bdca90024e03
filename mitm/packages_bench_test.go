package mitm

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/npm"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/store"
)

// BenchmarkEventBesidePackages gives the delay of a model's events while four clients of the same
// session fetch packages of 20 kB as fast as they can, which the plane gets from the registry once
// and from its store from then on.
func BenchmarkEventBesidePackages(b *testing.B) {
	const registryHost, packages = "npm.example:4873", 200
	upstream := forged.NewNPM(b)
	upstream.Public = "http://" + registryHost + "/"
	for i := range packages {
		upstream.Add(fmt.Sprintf("p%d", i), forged.NPMVersion{Version: "1.0.0", Published: time.Now().Add(-1000 * time.Hour), Files: map[string]string{"data": strings.Repeat(fmt.Sprint(i), 10<<10)}})
	}
	kept, err := store.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	base := &url.URL{Scheme: "http", Host: registryHost, Path: "/"}
	plane, err := registry.New(registry.Config{
		Store: kept, Ecosystems: []registry.Ecosystem{npm.Ecosystem{}}, Origins: []*registry.Origin{{Ecosystem: "npm", URL: base}},
		Upstreams: map[string]*url.URL{"npm.example": upstream.URL},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(plane.Close)
	way := plane.NewSession(registry.SessionConfig{
		Judge:  func(registry.Package) registry.Verdict { return registry.Verdict{Then: registry.Allow} },
		Record: func(registry.Record) error { return nil },
		Note:   func(registry.Record) {},
	})
	b.Cleanup(way.Close)
	s := newHarness(b, func(c *Config) {
		c.Audit = func(Record) error { return nil }
		c.Packages, c.Registries = way, []string{"http://" + registryHost}
	})
	s.upstream.Config.Handler = http.HandlerFunc(timedEvents)
	ctx, stop := context.WithCancel(b.Context())
	var clients sync.WaitGroup
	b.Cleanup(clients.Wait)
	b.Cleanup(stop)
	for first := range 4 {
		fetcher := &http.Client{Transport: &http.Transport{
			Proxy:       http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.invalid"}),
			DialContext: func(context.Context, string, string) (net.Conn, error) { return s.dial(), nil },
		}}
		clients.Go(func() {
			defer fetcher.CloseIdleConnections()
			for i := first; ctx.Err() == nil; i++ {
				if err := fetchPackage(ctx, fetcher, fmt.Sprintf("%sp%d/-/p%[2]d-1.0.0.tgz", base, i%packages)); err != nil && ctx.Err() == nil {
					b.Error(err)
					return
				}
			}
		})
	}
	client := s.routes()["proxy"]()
	defer client.CloseIdleConnections()
	var delays []time.Duration
	for b.Loop() {
		delays = append(delays, s.events(client)...)
	}
	slices.Sort(delays)
	b.ReportMetric(float64(delays[len(delays)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(delays[len(delays)*99/100].Microseconds()), "p99-µs")
}

func fetchPackage(ctx context.Context, client *http.Client, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, res.Status)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err
}
