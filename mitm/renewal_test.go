package mitm

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
)

// When a token expires during a stream, the stream continues and is still scanned for
// that token, and the next request gets the renewed token.
func TestTokenThatEndsDuringAStream(t *testing.T) {
	const second = "sk-ant-api03-the-renewed-real-key-0123456789"
	var renewed atomic.Bool
	s := newHarness(t, func(c *Config) {
		c.Credentials = func(context.Context, string) (Credential, error) {
			if renewed.Load() {
				return Credential{KindAPIKey, second, ""}, nil
			}
			return Credential{KindAPIKey, realKey, ""}, nil
		}
		c.Refused = func(_ context.Context, _ string, used Credential) bool {
			return used.Value == realKey && renewed.CompareAndSwap(false, true)
		}
	})
	next := make(chan struct{})
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		switch key := r.Header.Get("X-Api-Key"); {
		case r.Header.Get("Anthropic-Version") == "stream":
			_, _ = io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			<-next
			_, _ = io.WriteString(w, "data: "+key+"\n\n")
		case key != second:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = io.WriteString(w, key)
		}
	})
	sentinel := s.proxy.Sentinel("anthropic")
	c := s.tunnel("api.anthropic.com")
	_, _ = io.WriteString(c, s.message("2023-06-01", "stream"))
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	first := make([]byte, len("data: 1\n\n"))
	if _, err := io.ReadFull(res.Body, first); err != nil {
		t.Fatal(err)
	}
	if other, body := s.inTunnel("api.anthropic.com", s.message()); other == nil || other.StatusCode != 200 || body != sentinel || !renewed.Load() {
		t.Errorf("the next request: %+v %s", other, body)
	}
	close(next)
	rest, err := io.ReadAll(res.Body)
	if want := "data: " + sentinel + "\n\n"; err != nil || string(rest) != want {
		t.Errorf("the stream went on with %q, %v", rest, err)
	}
}
