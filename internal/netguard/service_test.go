package netguard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestService(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.com/mcp":        "",
		"https://10.0.0.1:8443/mcp?a=b":  "",
		"http://localhost:3000/mcp":      "",
		"http://127.0.0.1/mcp":           "",
		"http://[::1]:1/mcp":             "",
		"http://example.com/mcp":         "the address must use https",
		"http://localhost.example.com/":  "the address must use https",
		"http://10.0.0.1/mcp":            "the address must use https",
		"ftp://example.com/":             "the address must use https",
		"example.com/mcp":                "the address is not complete",
		"https:///mcp":                   "the address is not complete",
		"https://a:b@example.com/":       "contains a login",
		"https://example.com/#x":         "after #",
		"https://169.254.169.254/latest": "metadata",
		"https://[fd00:ec2::254]/":       "metadata",
	} {
		_, err := Service(address)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// The client reaches the person's own services and no metadata, checks certificates and
// follows no redirect.
func TestClient(t *testing.T) {
	plain := httptest.NewServer(http.RedirectHandler("https://example.com/", http.StatusFound))
	defer plain.Close()
	encrypted := httptest.NewTLSServer(http.NotFoundHandler())
	defer encrypted.Close()
	at := map[string]string{"meta.example.com": "169.254.169.254", "home.example.com": "10.0.0.1", "localhost": "203.0.113.7"}
	d := Dialer{Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr(at[host])}, nil
	}}
	c := d.Client(func(host string) bool { return host != "home.example.com" })
	defer c.CloseIdleConnections()
	for address, want := range map[string]string{
		plain.URL:                  "",
		encrypted.URL:              "certificate",
		"https://meta.example.com": "metadata",
		"https://home.example.com": "a private address",
		"http://localhost":         "not",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.Do(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && answer.StatusCode != http.StatusFound {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}
