package mitm

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func testGuarded() *guarded { return &guarded{sentinel: sentinel{value: "SENTINEL"}} }

// scanAll gives data to a watcher in the given pieces.
func scanAll(w *watcher, pieces ...[]byte) string {
	var out, held []byte
	for i, p := range pieces {
		safe, keep := w.scan(append(append(bytes.Clone(w.before()), held...), p...), i == len(pieces)-1)
		out = append(out, safe...)
		held = bytes.Clone(keep)
	}
	return string(out)
}

// escaped writes the characters of a text from one place to another in a format.
func escaped(text, format string, from, to int) string {
	out := text[:from]
	for _, c := range []byte(text[from:to]) {
		out += fmt.Sprintf(format, c)
	}
	return out + text[to:]
}

func TestLeakAtEverySplit(t *testing.T) {
	g := testGuarded()
	sent := []Credential{{Kind: KindAPIKey, Value: realKey}}
	secret := []byte(realKey)
	for name, form := range map[string]string{
		"plain":  realKey,
		"hex":    hex.EncodeToString(secret),
		"HEX":    strings.ToUpper(hex.EncodeToString(secret)),
		"base64": base64.StdEncoding.EncodeToString(secret),
		"shift1": base64.StdEncoding.EncodeToString(append([]byte("a"), secret...)),
		"shift2": base64.URLEncoding.EncodeToString(append([]byte("ab"), secret...)),
		"url":    strings.ReplaceAll(realKey, "-", "%2D"),
		"json":   strings.ReplaceAll(realKey, "-", `\u002d`),
		"JSON":   escaped(realKey, `\u%04X`, 0, len(realKey)),
		"twice":  escaped(realKey, `\\u%04x`, 0, len(realKey)),
		"first":  escaped(realKey, `\u%04x`, 0, 1),
		"last":   escaped(realKey, `\u%04x`, len(realKey)-1, len(realKey)),
		"middle": escaped(realKey, `%%%02x`, 10, 12),
		"\\x":    escaped(realKey, `\x%02x`, 0, len(realKey)),
		"mixed":  escaped(escaped(realKey, `%%%02X`, 20, 30), `\u%04x`, 3, 9),
		"&#":     escaped(realKey, `&#%d;`, 0, len(realKey)),
		"&#x":    strings.ReplaceAll(realKey, "-", `&#x2D;`),
		"header": base64.StdEncoding.EncodeToString([]byte("Bearer " + realKey + "\r\n")),
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte("data: {\"x\":\"sk-ant-" + form + "\"}\n\nsk-ant-api03-the")
			for i := 0; i <= len(data); i++ {
				w := g.watcher(sent)
				got := scanAll(w, data[:i], data[i:])
				if w.found != 1 || !strings.Contains(got, "SENTINEL") || strings.Contains(got, form) {
					t.Fatalf("%s split at %d: %d found, %q", name, i, w.found, got)
				}
			}
		})
	}
	// Byte by byte, and twice in a row.
	w := g.watcher(sent)
	var pieces [][]byte
	for _, b := range []byte("x" + realKey + realKey + "y") {
		pieces = append(pieces, []byte{b})
	}
	if got := scanAll(w, pieces...); got != "xSENTINELSENTINELy" {
		t.Errorf("byte by byte: %q", got)
	}
}

func TestAccountsAreRenamed(t *testing.T) {
	const account = "0f3b2c1a-1111-2222-3333-444455556666"
	sent := []Credential{{Kind: KindBearer, Value: realKey, Account: account}}
	data := []byte(`{"id":"` + account + `","key":"` + realKey + `","cut":"` + account[:30])
	want := `{"id":"` + SentinelAccount + `","key":"SENTINEL","cut":"` + account[:30]
	for i := range data {
		w := testGuarded().watcher(sent)
		if got := scanAll(w, data[:i], data[i:]); got != want || w.found != 1 {
			t.Fatalf("split at %d: %q, %d leaks", i, got, w.found)
		}
	}
	w := testGuarded().watcher([]Credential{{Kind: KindBearer, Value: realKey, Account: "me"}})
	if got := scanAll(w, []byte("come to me")); got != "come to me" {
		t.Errorf("a short name was renamed: %q", got)
	}
}

// A part of a key in an error message is masked like a whole key, in the head and in the
// body.
func TestPartsOfTheKey(t *testing.T) {
	for name, part := range map[string]string{
		"cut at its end":       realKey[:len(realKey)-4] + "...",
		"cut in the middle":    realKey[:30] + "..." + realKey[len(realKey)-4:],
		"without the prefix":   realKey[13:],
		"at the end of all":    realKey[:40],
		"escaped":              escaped(realKey[:50], `\u%04x`, 20, 21) + "…",
		"in base64":            base64.StdEncoding.EncodeToString([]byte("Bearer " + realKey[:40])),
		"in hex, part of a id": hex.EncodeToString([]byte(realKey[20:50])) + "ff",
	} {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, nil)
			s.answer(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Request-Id", "for "+part)
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided: `+part)
			})
			res, body := s.inTunnel("api.anthropic.com", s.message())
			sentinel := s.proxy.Sentinel("anthropic")
			if res == nil || !strings.Contains(body, sentinel) || strings.Contains(body, part) {
				t.Fatalf("the body: %s", body)
			}
			if id := res.Header.Get("X-Request-Id"); !strings.Contains(id, sentinel) || strings.Contains(id, part) {
				t.Errorf("the head: %s", id)
			}
			for at := 0; at+24 <= len(realKey); at++ {
				if strings.Contains(body, realKey[at:at+24]) {
					t.Errorf("%q holds a part", body)
				}
			}
			if records := s.takeRecords(); !slices.ContainsFunc(records, func(r Record) bool { return r.Reason == ReasonLeak }) {
				t.Errorf("no record of a leak: %+v", records)
			}
		})
	}
	w := testGuarded().watcher([]Credential{{Value: realKey}})
	if got := scanAll(w, []byte("sk-ant-")); got != "sk-ant-" {
		t.Errorf("got %q", got)
	}
}

func FuzzWatcher(f *testing.F) {
	f.Add([]byte("a"+realKey+"b"), uint16(5), uint16(20))
	f.Add([]byte(hex.EncodeToString([]byte(realKey))), uint16(1), uint16(2))
	f.Add([]byte("sk-ant-sk-ant-api03-"), uint16(7), uint16(8))
	f.Add([]byte("key: "+realKey[8:len(realKey)-4]+"..."), uint16(9), uint16(8))
	f.Add([]byte(`\n%&#`+escaped(realKey, `\u%04x`, 4, 9)+`\u00`), uint16(20), uint16(8))
	f.Fuzz(func(t *testing.T, data []byte, a, b uint16) {
		i := int(a) % (len(data) + 1)
		j := i + int(b)%(len(data)-i+1)
		w, whole := testGuarded().watcher([]Credential{{Value: realKey}}), testGuarded().watcher([]Credential{{Value: realKey}})
		got := scanAll(w, data[:i], data[i:j], data[j:])
		for at := 0; at+24 <= len(realKey); at++ {
			if strings.Contains(got, realKey[at:at+24]) {
				t.Fatalf("a part of the key passed: %q", got)
			}
		}
		if want := scanAll(whole, data); (w.found > 0) != (whole.found > 0) {
			t.Fatalf("in pieces %q, in one %q", got, want)
		}
		if w.found == 0 && got != string(data) {
			t.Fatalf("changed %q to %q", data, got)
		}
	})
}

// An upstream that echoes the key in every place it can.
func echo(rng *rand.Rand) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Api-Key")
		if key == "" {
			key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("X-Goog-Api-Key")
		}
		mu.Lock()
		status, sse := []int{200, 200, 400, 401, 500}[rng.IntN(5)], rng.IntN(2) == 0
		said := key[:len(key)-rng.IntN(len(key)/2)] // servers often say a part only
		cut := rng.IntN(len(said) + 1)
		mu.Unlock()
		w.Header().Set("X-Request-Id", "req "+key)
		w.Header().Set("Openai-Organization", base64.StdEncoding.EncodeToString([]byte(key)))
		if sse {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "data: {\"error\":\"Incorrect API key: %s", said[:cut])
		w.(http.Flusher).Flush()
		_, _ = fmt.Fprintf(w, "%s, %s\"}\n\n", said[cut:], hex.EncodeToString([]byte(key)))
	}
}

func TestTheRealKeyAppearsNowhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var log lockedBuffer // connections that end write to it, too
	var logged, told []string
	var mu sync.Mutex
	s := newHarness(t, func(c *Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.Activity = func(a Activity) { mu.Lock(); defer mu.Unlock(); told = append(told, fmt.Sprintf("%+v", a)) }
	})
	s.answer(echo(rng))
	attacks := requestAttacks()
	hosts := []struct{ provider, host, path, header string }{
		{"anthropic", "api.anthropic.com", "/v1/messages", "X-Api-Key"},
		{"openai", "api.openai.com", "/v1/responses", "Authorization"},
		{"google", "generativelanguage.googleapis.com", "/v1beta/models/m:generateContent", "X-Goog-Api-Key"},
	}
	answered := 0
	for range 1000 {
		if rng.IntN(3) == 0 {
			a := attacks[rng.IntN(len(attacks))]
			send := s.inTunnel
			if a.status == "" {
				send = s.cutShort
			}
			if res, body := send("api.anthropic.com", a.send(s)); res != nil {
				logged = append(logged, fmt.Sprint(res.Header), body)
			}
			continue
		}
		h := hosts[rng.IntN(len(hosts))]
		res, body := s.inTunnel(h.host, s.withBody(h.host, h.path, h.header, h.provider, `{"model":"m"}`))
		if res == nil {
			t.Fatal("no answer")
		}
		answered++
		logged = append(logged, fmt.Sprint(res.Header), body)
	}
	if answered < 500 {
		t.Fatalf("only %d requests were answered", answered)
	}
	records, err := json.Marshal(s.takeRecords())
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	secret := []byte(realKey)
	for place, text := range map[string]string{
		"the client": strings.Join(logged, "\n"), "the log": log.String(), "the audit": string(records), "the activities": strings.Join(told, "\n"),
	} {
		t.Run(place, func(t *testing.T) {
			for form, needle := range map[string]string{
				"plain": realKey, "hex": hex.EncodeToString(secret), "base64": base64.StdEncoding.EncodeToString(secret), "a part": realKey[:24],
			} {
				if strings.Contains(text, needle) {
					t.Errorf("%s shows the real key (%s)", place, form)
				}
			}
		})
	}
	if !strings.Contains(string(records), string(ReasonLeak)) {
		t.Error("no record tells of a leak")
	}
}

func TestEventsAreNotHeldBack(t *testing.T) {
	s := newHarness(t, nil)
	next := make(chan struct{})
	s.answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for i := range 20 {
			<-next
			_, _ = fmt.Fprintf(w, "data: {\"n\":%d,\"s\":\"sk-ant\"}\n\n", i)
			w.(http.Flusher).Flush()
		}
	})
	c := s.tunnel("api.anthropic.com")
	_, _ = io.WriteString(c, s.message())
	// Each event must arrive complete before the upstream sends the next one,
	// so nothing can be held back or joined.
	buf := make([]byte, 4096)
	got := ""
	for i := range 20 {
		next <- struct{}{}
		want := fmt.Sprintf("data: {\"n\":%d,\"s\":\"sk-ant\"}\n\n", i)
		for !strings.HasSuffix(got, want+"\r\n") {
			n, err := c.Read(buf)
			if err != nil {
				t.Fatalf("after %q: %v", got, err)
			}
			got += string(buf[:n])
		}
	}
}

func TestNothingIsLeftAfterAbortedTunnels(t *testing.T) {
	s := newHarness(t, nil)
	descriptors := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	routines, open := runtime.NumGoroutine(), descriptors()
	for i := range 500 {
		switch i % 4 {
		case 0:
			_ = s.dial().Close()
		case 1:
			_ = s.connect("api.anthropic.com").Close()
		case 2:
			c := s.connect("api.anthropic.com")
			_, _ = io.WriteString(c, "\x16\x03\x01\x02\x00\x01")
			_ = c.Close()
		case 3:
			c := s.tunnel("api.anthropic.com")
			_, _ = io.WriteString(c, s.message()[:50])
			_ = c.NetConn().Close()
		}
	}
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for runtime.NumGoroutine() > routines+2 || descriptors() > open+2 {
		if time.Now().After(deadline) {
			t.Fatalf("goroutines %d, at first %d; descriptors %d, at first %d", runtime.NumGoroutine(), routines, descriptors(), open)
		}
		<-tick.C
	}
}
