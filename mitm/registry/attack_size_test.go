package registry_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/npm"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/store"
)

// slowAnswer is that to a client which reads nothing until it may.
type slowAnswer struct {
	answer
	begun chan<- string
	may   <-chan struct{}
}

func (a *slowAnswer) Start(status int, phrase string, fields []registry.Field, length int64) error {
	a.begun <- fmt.Sprint(status)
	return a.answer.Start(status, phrase, fields, length)
}

func (a *slowAnswer) Write(p []byte) (int, error) {
	<-a.may
	return a.answer.Write(p)
}

// An agent that asks for large documents and what they name, and does not read the answers, keeps
// no other agent from such documents.
func TestLargeDocumentsThatNobodyReads(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range []string{"a", "b", "c", "other"} {
		w.npm.Add(name, forged.NPMVersion{Version: "1.0.0", Published: old()})
	}
	w.npm.Change(func(path string, body []byte) []byte {
		if strings.Contains(path, "/") {
			return body
		}
		return append(bytes.TrimSuffix(body, []byte("}")), fmt.Sprintf(`,"readme":%q}`, strings.Repeat("x", 9<<20))...)
	})
	begun, may := make(chan string, 3), make(chan struct{})
	var clients sync.WaitGroup
	for _, path := range []string{"/a", "/b", "/c/-/c-1.0.0.tgz"} {
		clients.Go(func() {
			r := &registry.HTTPRequest{Method: "GET", Authority: "https://npm.example:443", Path: path}
			if err := w.session.Serve(t.Context(), r, &slowAnswer{begun: begun, may: may}); err != nil {
				t.Error(err)
			}
		})
	}
	for range 2 {
		if got := <-begun; got != "200" {
			t.Error(got)
		}
	}
	other := w.plane.NewSession(registry.SessionConfig{Judge: w.judge, Record: w.record, Note: func(registry.Record) {}})
	ctx, end := context.WithTimeout(t.Context(), 30*time.Second)
	a := &answer{}
	if err := other.Serve(ctx, &registry.HTTPRequest{Method: "GET", Authority: "https://npm.example:443", Path: "/other"}, a); err != nil || a.status != 200 {
		t.Errorf("the other agent: %d %v", a.status, err)
	}
	end()
	close(may)
	clients.Wait()
	other.Close()
}

// However many documents an agent asks for at a time, and does not read, few are in memory.
func TestManyLargeDocumentsAtATime(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		const n, most = 6, 5 // of 4 MiB
		base := &url.URL{Scheme: "https", Host: "npm.example", Path: "/"}
		kept, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		plane, err := registry.New(registry.Config{Store: kept, Ecosystems: []registry.Ecosystem{npm.Ecosystem{}}, Origins: []*registry.Origin{{Ecosystem: "npm", URL: base}}})
		if err != nil {
			t.Fatal(err)
		}
		defer plane.Close()
		session := plane.NewSession(registry.SessionConfig{
			Judge:  func(registry.Package) registry.Verdict { return registry.Verdict{Then: registry.Allow} },
			Record: func(registry.Record) error { return nil }, Note: func(registry.Record) {},
		})
		defer session.Close()
		begun, may := make(chan string, n), make(chan struct{})
		for i := range n {
			name := fmt.Sprintf("p%d", i)
			keepDocument(t, kept, base.String()+name, padded(name, 4<<20))
			go func() {
				r := &registry.HTTPRequest{Method: "GET", Authority: "https://npm.example:443", Path: "/" + name}
				a := &slowAnswer{begun: begun, may: may}
				if err := session.Serve(t.Context(), r, a); err != nil || a.status != 200 {
					t.Errorf("%d %s %v", a.status, a.phrase, err)
				}
			}()
		}
		synctest.Wait()
		if len(begun) != most {
			t.Errorf("%d documents are in memory", len(begun))
		}
		close(may)
		synctest.Wait()
		if len(begun) != n {
			t.Errorf("%d came through", len(begun))
		}
	})
}

// keepDocument puts a document into a store as if it had just been fetched.
func keepDocument(t *testing.T, kept *store.Store, address string, body []byte) {
	t.Helper()
	blob, err := kept.New()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := blob.Write(body); err != nil {
		t.Fatal(err)
	}
	sum, err := blob.Keep()
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.Note("document\n"+address+"\napplication/json", map[string]any{"sum": sum, "type": "application/json", "fetched": time.Now()}); err != nil {
		t.Fatal(err)
	}
}

// padded is the document of a package with one version, of about so many bytes.
func padded(name string, size int) []byte {
	return fmt.Appendf(nil, `{"name":%[1]q,"versions":{"1.0.0":{"name":%[1]q,"version":"1.0.0","dist":{"tarball":"https://npm.example/%[1]s/-/%[1]s-1.0.0.tgz","shasum":"%040x"}}},"time":{"1.0.0":"2020-01-01T00:00:00Z"},"readme":%[3]q}`,
		name, 0, strings.Repeat("x", size))
}

// An agent that goes away from its requests has no more of them under way than one that waits.
func TestClientsThatDoNotWait(t *testing.T) {
	w := newWorld(t, func(c *registry.Config) {
		c.Limits = registry.Limits{Requests: 2}
	})
	for i := range 20 {
		w.npm.Add("left", forged.NPMVersion{Version: fmt.Sprintf("1.0.%d", i), Published: old()})
	}
	w.get("/left")
	asked, may := make(chan string, 20), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		<-may
		w.npm.ServeHTTP(rw, r)
	}))
	defer slow.Close()
	w.npm.URL.Host = slow.Listener.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	request := func(i int) {
		r := &registry.HTTPRequest{Method: "GET", Authority: "https://npm.example:443", Path: fmt.Sprintf("/left/-/left-1.0.%d.tgz", i)}
		if err := w.session.Serve(ctx, r, &answer{}); err == nil {
			t.Errorf("%s was answered", r.Path)
		}
	}
	for i := range 10 {
		clients.Go(func() { request(i) })
	}
	<-asked
	<-asked
	cancel()
	clients.Wait()
	for i := range 20 {
		request(i)
		if _, err := w.session.Request(ctx, "npm", "left", fmt.Sprintf("1.0.%d", i), ""); err == nil {
			t.Errorf("1.0.%d was answered", i)
		}
	}
	close(may)
	if a := w.get("/left/-/left-1.0.19.tgz"); a.status != 200 {
		t.Errorf("afterwards: %d %s", a.status, a.phrase)
	}
	if n := len(asked); n != 1 {
		t.Errorf("%d requests were under way while nobody waited", n+1)
	}
}
