package mitm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

func FuzzConnectTarget(f *testing.F) {
	for _, s := range []string{"api.anthropic.com:443", "a@b.c:443", "[::1]:443", "a.b.:443", "A.B:0", "a.b:99999", "\u212a.com:443"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		host, port, d := parseConnectTarget(raw)
		if d != nil {
			return
		}
		if !strings.EqualFold(raw, host+":"+port) || strings.ToLower(host) != host || strings.ContainsAny(host, "/@?#%[]: ") {
			t.Fatalf("%q was read as %q and %q", raw, host, port)
		}
	})
}

// A target that passes must mean the same to a parser that decodes escapes.
func FuzzRequestTarget(f *testing.F) {
	for _, s := range []string{"/v1/messages?beta=true", "//x", "/a/../b", "/%2e%2e", "/a;b", "http://x/", "/a?b#c", "/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if raw == "" {
			return // the parser of the request line refuses it
		}
		path, query, d := splitTarget(raw)
		if d != nil || checkPath(path) != nil {
			return
		}
		if query == "" && strings.HasSuffix(raw, "?") {
			raw = strings.TrimSuffix(raw, "?")
		}
		u, err := url.ParseRequestURI(raw)
		if strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			return // the parser of the request line refuses it
		}
		if err != nil || u.Path != path || u.Host != "" || u.RawQuery != query || u.RawPath != "" || u.JoinPath().Path != path {
			t.Fatalf("%q: path %q, query %q; net/url says %+v, %v", raw, path, query, u, err)
		}
	})
}

// net/http reads every head that passes in the same way, however the head is split.
func FuzzHead(f *testing.F) {
	for _, s := range []string{
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
		"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n",
		"GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	limits := Limits{}.withDefaults()
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReader(bytes.NewReader(data))
		h, err := readHead(r, limits)
		slow, slowErr := readHead(bufio.NewReader(iotest.OneByteReader(bytes.NewReader(data))), limits)
		if fmt.Sprint(err) != fmt.Sprint(slowErr) || !reflect.DeepEqual(h, slow) {
			t.Fatalf("%q: as a whole %+v, %v; byte by byte %+v, %v", data, h, err, slow, slowErr)
		}
		if err != nil {
			return
		}
		fr, d := frame(h)
		if d != nil || h.method == "CONNECT" || !strings.HasPrefix(h.target, "/") {
			return
		}
		other, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
		if err != nil {
			return // stricter than we are: nothing to disagree about
		}
		if other.Method != h.method || other.RequestURI != h.target {
			t.Fatalf("%q: %q %q, net/http %q %q", data, h.method, h.target, other.Method, other.RequestURI)
		}
		if !fr.chunked && other.ContentLength != fr.length {
			t.Fatalf("%q: length %d, net/http %d", data, fr.length, other.ContentLength)
		}
		if !fr.chunked {
			return
		}
		ours, err := io.ReadAll(&chunkedReader{r: r})
		if err != nil {
			return
		}
		theirs, err := io.ReadAll(other.Body)
		if err != nil || !bytes.Equal(ours, theirs) {
			t.Fatalf("%q: body %q, net/http %q, %v", data, ours, theirs, err)
		}
	})
}

func TestChunkedReaderRefusesWhatIsCutShort(t *testing.T) {
	whole := "4\r\nabcd\r\n1\r\ne\r\n0\r\n\r\n"
	for i := range len(whole) {
		_, err := io.ReadAll(&chunkedReader{r: bufio.NewReader(strings.NewReader(whole[:i]))})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	if got, err := io.ReadAll(&chunkedReader{r: bufio.NewReader(strings.NewReader(whole))}); err != nil || string(got) != "abcde" {
		t.Errorf("whole: %q, %v", got, err)
	}
}
