package outbound

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const publicAddr = "93.184.216.34"

// web is a small internet: names with addresses, and servers behind them.
type web struct {
	t       *testing.T
	client  *Client
	mu      sync.Mutex
	names   map[string][]string // what the next look-ups of a name yield; the last stays
	looked  []string
	dialed  []netip.AddrPort
	plain   *httptest.Server
	secure  *httptest.Server
	handler http.HandlerFunc
	seen    []*http.Request
}

func newWeb(t *testing.T, handler http.HandlerFunc) *web {
	t.Helper()
	w := &web{t: t, names: map[string][]string{"example.com": {publicAddr}}, handler: handler}
	serve := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.seen = append(w.seen, r)
		w.mu.Unlock()
		w.handler(rw, r)
	})
	w.plain, w.secure = httptest.NewServer(serve), httptest.NewTLSServer(serve)
	t.Cleanup(w.plain.Close)
	t.Cleanup(w.secure.Close)
	roots := x509.NewCertPool()
	roots.AddCert(w.secure.Certificate()) // made out to example.com
	w.client = &Client{Dialer: netguard.Dialer{Resolve: w.resolve, Connect: w.dial}, Roots: roots}
	return w
}

func (w *web) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked = append(w.looked, host)
	answers := w.names[host]
	if len(answers) == 0 {
		return nil, errors.New("no such host")
	}
	if len(answers) > 1 {
		w.names[host] = answers[1:]
	}
	var addrs []netip.Addr
	for _, a := range strings.Split(answers[0], ",") {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, nil
}

// dial connects to the server that stands for the port.
func (w *web) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, to)
	w.mu.Unlock()
	where := w.plain.Listener.Addr().String()
	if to.Port() == 443 {
		where = w.secure.Listener.Addr().String()
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", where)
}

// follow is a judge that lets everything through and remembers it.
func follow(judged *[]string) Judge {
	return func(_ context.Context, url string, _ int) error {
		*judged = append(*judged, url)
		return nil
	}
}

func TestTheAddressIsPinned(t *testing.T) {
	w := newWeb(t, func(rw http.ResponseWriter, r *http.Request) { fmt.Fprintf(rw, "hello %s", r.Host) })
	// The second look would find the host's own loopback.
	w.names["example.com"] = []string{publicAddr, "127.0.0.1"}
	a, err := w.client.Get(t.Context(), Request{URL: "https://example.com/a"}, nil)
	if err != nil || string(a.Body) != "hello example.com" || a.Status != 200 {
		t.Fatalf("%+v, %v", a, err)
	}
	if want := netip.MustParseAddrPort(publicAddr + ":443"); !slices.Equal(w.dialed, []netip.AddrPort{want}) || len(w.looked) != 1 {
		t.Errorf("connected to %v after looking up %v", w.dialed, w.looked)
	}
	var private *netguard.AddressError
	if _, err = w.client.Get(t.Context(), Request{URL: "https://example.com/a"}, nil); !errors.As(err, &private) || len(w.dialed) != 1 {
		t.Errorf("rebound: %v, connected to %v", err, w.dialed)
	}
}

func TestNoConnectionLeavesThePublicWeb(t *testing.T) {
	w := newWeb(t, func(http.ResponseWriter, *http.Request) {})
	w.names["half.example.com"] = []string{publicAddr + ",10.0.0.1"}
	w.names["inside.example.com"] = []string{"192.168.0.1"}
	w.names["meta.example.com"] = []string{"169.254.169.254"}
	w.client.Private = []string{"meta.example.com", "metadata.test"}
	for _, url := range []string{
		"http://half.example.com/", "http://inside.example.com/", "http://meta.example.com/", "http://gone.example.com/",
		"http://127.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest/meta-data", "ftp://example.com/", "http://u:p@example.com/",
	} {
		t.Run(url, func(t *testing.T) {
			if a, err := w.client.Get(t.Context(), Request{URL: url}, nil); err == nil {
				t.Errorf("%s: %+v", url, a)
			}
		})
	}
	if len(w.dialed) != 0 {
		t.Errorf("connected to %v", w.dialed)
	}
	w.client.Private = []string{"inside.example.com:80"}
	if _, err := w.client.Get(t.Context(), Request{URL: "http://inside.example.com/"}, nil); err != nil {
		t.Error(err)
	}
	if _, err := w.client.Get(t.Context(), Request{URL: "http://inside.example.com:8080/"}, nil); err == nil {
		t.Error("a private host was reached at a port that is not listed")
	}
}

func TestEveryRedirectIsJudged(t *testing.T) {
	w := newWeb(t, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/start":
			http.Redirect(rw, r, "../next?q=1#part", http.StatusFound)
		case "/next":
			http.Redirect(rw, r, "//OTHER.example.com:80/%2e/last", http.StatusMovedPermanently)
		case "/loop":
			http.Redirect(rw, r, "/loop", http.StatusTemporaryRedirect)
		case "/file":
			http.Redirect(rw, r, "file:///etc/passwd", http.StatusSeeOther)
		case "/inside":
			http.Redirect(rw, r, "http://inside.example.com/", http.StatusPermanentRedirect)
		case "/down":
			http.Redirect(rw, r, "http://example.com/start", http.StatusFound)
		default:
			fmt.Fprint(rw, "end")
		}
	})
	w.names["other.example.com"], w.names["inside.example.com"] = []string{publicAddr}, []string{"10.0.0.1"}
	var judged []string
	r := Request{URL: "http://example.com/start", Headers: map[string]string{"X-Key": "v"}}
	a, err := w.client.Get(t.Context(), r, follow(&judged))
	if err != nil || a.URL != "http://other.example.com/last" || a.Redirects != 2 || string(a.Body) != "end" {
		t.Fatalf("%+v, %v", a, err)
	}
	if want := []string{"http://example.com/next?q=1", "http://other.example.com/last"}; !slices.Equal(judged, want) {
		t.Errorf("judged %q, want %q", judged, want)
	}
	for i, want := range []string{"v", "v", ""} {
		t.Run(want, func(t *testing.T) {
			if got := w.seen[i].Header.Get("X-Key"); got != want {
				t.Errorf("request %d carried the header %q, want %q", i, got, want)
			}
		})
	}
	no := errors.New("rule x denies it")
	w.seen = nil
	_, err = w.client.Get(t.Context(), r, func(context.Context, string, int) error { return no })
	var stopped *RedirectError
	if !errors.As(err, &stopped) || !errors.Is(err, no) || stopped.To != "http://example.com/next?q=1" || len(w.seen) != 1 {
		t.Errorf("denied: %v after %d requests", err, len(w.seen))
	}
	for _, path := range []string{"/loop", "/file", "/inside"} {
		w.seen = nil
		if _, err := w.client.Get(t.Context(), Request{URL: "http://example.com" + path}, follow(&judged)); err == nil || len(w.seen) > MaxRedirects+1 {
			t.Errorf("%s: %v after %d requests", path, err, len(w.seen))
		}
	}
	if _, err := w.client.Get(t.Context(), Request{URL: "https://example.com/down"}, follow(&judged)); err == nil || !strings.Contains(err.Error(), "https to http") {
		t.Errorf("downgraded: %v", err)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	endless := make(chan struct{})
	w := newWeb(t, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			for {
				if _, err := rw.Write(bytes.Repeat([]byte("x"), 64<<10)); err != nil {
					return
				}
			}
		case "/bomb":
			rw.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(rw)
			_, _ = io.CopyN(z, zeros{}, 200<<20)
			_ = z.Close()
		case "/slow":
			rw.WriteHeader(200)
			rw.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-endless:
			}
		case "/headers":
			for i := range 100 {
				rw.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("h", 1<<10))
			}
		}
	})
	defer close(endless)
	for _, path := range []string{"/long", "/bomb"} {
		t.Run(path, func(t *testing.T) {
			a, err := w.client.Get(t.Context(), Request{URL: "http://example.com" + path}, nil)
			if err != nil || !a.Truncated || len(a.Body) != MaxBody {
				t.Errorf("%s: %d bytes, truncated %v, %v", path, len(a.Body), a.Truncated, err)
			}
		})
	}
	if _, err := w.client.Get(t.Context(), Request{URL: "http://example.com/slow", Timeout: 50 * time.Millisecond}, nil); err == nil || !strings.Contains(err.Error(), "50ms") {
		t.Errorf("slow: %v", err)
	}
	if _, err := w.client.Get(t.Context(), Request{URL: "http://example.com/headers"}, nil); err == nil {
		t.Error("100 KiB of headers were read")
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestAForeignCertificateIsRefused(t *testing.T) {
	w := newWeb(t, func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "secret") })
	w.names["bank.test"] = []string{publicAddr}
	if a, err := w.client.Get(t.Context(), Request{URL: "https://bank.test/"}, nil); err == nil {
		t.Errorf("%+v", a)
	}
	w.client.Roots = nil
	if a, err := w.client.Get(t.Context(), Request{URL: "https://example.com/"}, nil); err == nil {
		t.Errorf("an unknown authority was believed: %+v", a)
	}
}

func TestNothingOfTheHostGoesAlong(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	w := newWeb(t, func(rw http.ResponseWriter, _ *http.Request) {
		http.SetCookie(rw, &http.Cookie{Name: "a", Value: "b"})
		fmt.Fprint(rw, "ok")
	})
	for range 2 {
		if _, err := w.client.Get(t.Context(), Request{URL: "http://example.com/"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range w.seen {
		for name := range r.Header {
			if name != "User-Agent" && name != "Accept-Encoding" && name != "Connection" {
				t.Errorf("a request carried %s: %q", name, r.Header[name])
			}
		}
	}
}
