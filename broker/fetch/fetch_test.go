package fetch

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// frame is one message, either way.
type frame struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

// client drives a server over pipes.
type client struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Scanner
	end chan error
}

func start(t *testing.T, capabilities string) *client {
	t.Helper()
	fromUs, in := io.Pipe()
	fromServer, out := io.Pipe()
	c := &client{t: t, in: in, out: bufio.NewScanner(fromServer), end: make(chan error, 1)}
	c.out.Buffer(nil, 64<<20)
	go func() {
		c.end <- Serve(t.Context(), fromUs, out)
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_ = fromServer.Close()
		if err := <-c.end; err != nil {
			t.Error(err)
		}
	})
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s}}`, capabilities)
	if m := c.receive(); m.Error != nil {
		t.Fatal(m.Error)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

const offering = `{"experimental":{"ironcurtain/web":{}}}`

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) receive() frame {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatal("the server ended")
	}
	var f frame
	if err := json.Unmarshal(c.out.Bytes(), &f); err != nil {
		c.t.Fatal(err)
	}
	return f
}

// fetch calls the tool, answers what the server asks with a page, and returns
// the text of the result.
func (c *client) fetch(arguments string, p Page) (text string, failed bool) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"http_fetch","arguments":%s}}`, arguments)
	asked := c.receive()
	if asked.Method != WebMethod || string(asked.Params) != `{"call":7}` {
		c.t.Fatalf("asked %s %s", asked.Method, asked.Params)
	}
	page, err := json.Marshal(p)
	if err != nil {
		c.t.Fatal(err)
	}
	c.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID, page)
	return resultOf(c.t, c.receive())
}

func resultOf(t *testing.T, f frame) (text string, failed bool) {
	t.Helper()
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(f.Result, &r); err != nil || len(r.Content) != 1 {
		t.Fatalf("%s: %v", f.Result, err)
	}
	return r.Content[0].Text, r.IsError
}

func TestPagesBecomeText(t *testing.T) {
	const site = `<!doctype html><html><head><title> My
  page</title><style>p{}</style></head><body><nav>Menu</nav><main><h2>Part</h2><p>Some <b>bold</b> text, <a href="/x">a link</a>.</p>` +
		`<script>alert(1)</script><ul><li>one<li>two</ul><table><tr><th>A</th></tr><tr><td>1</td></tr></table></main></body></html>`
	late := `{"a":"` + strings.Repeat("a", 1500) + `","b":` // further in than the guess of a character set looks
	c := start(t, offering)
	for name, x := range map[string]struct {
		arguments, kind, body string
		want                  []string
		not                   string
	}{
		"markdown": {`{"url":"u"}`, "text/html; charset=utf-8", site, []string{"# My page", "## Part", "**bold**", "[a link](/x)", "- one", "| A |"}, "alert"},
		"main":     {`{"url":"u"}`, "text/html", site, []string{"Part"}, "Menu"},
		"text":     {`{"url":"u","format":"text"}`, "text/html", site, []string{"Some bold text, a link .", "Menu"}, "alert"},
		"html":     {`{"url":"u","format":"html"}`, "text/html", site, []string{"<main><h2>Part</h2>", "alert(1)"}, ""},
		"json":     {`{"url":"u"}`, "application/json", `{"a":[1,"<b>"]}`, []string{`{"a":[1,"<b>"]}`}, ""},
		"problem":  {`{"url":"u"}`, "application/problem+json", `{"a":1}`, []string{`{"a":1}`}, ""},
		"latin":    {`{"url":"u"}`, "text/plain; charset=iso-8859-1", "caf\xe9", []string{"café"}, ""},
		"meta":     {`{"url":"u"}`, "text/html", `<meta charset=windows-1252><p>` + "\x93hi\x94", []string{"“hi”"}, ""},
		"late":     {`{"url":"u"}`, "application/json", late + `"é"}`, []string{`"é"`}, "Ã"},
		"at end":   {`{"url":"u"}`, "text/plain", "café", []string{"café"}, "Ã"},
		"not html": {`{"url":"u"}`, "text/markdown", "`<meta charset=gbk>` é", []string{"` é"}, ""},
		"unsaid":   {`{"url":"u"}`, "text/html", "<p>" + late + "caf\xe9", []string{"café"}, ""},
		"foreign":  {`{"url":"u"}`, "text/html", "<meta charset=gbk><p>\xc4\xe3", []string{"你"}, ""},
		"no type":  {`{"url":"u"}`, "", "<html><body><p>x</p></body></html>", []string{"x"}, "<p>"},
		"bad utf8": {`{"url":"u"}`, "text/plain; charset=utf-8", "a\xffb", []string{"a\uFFFDb"}, ""},
		"empty":    {`{"url":"u"}`, "text/html", "", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			page := Page{URL: "https://example.com/", Status: 200, Body: []byte(x.body), Headers: map[string]string{"content-type": x.kind}}
			if x.kind == "" {
				page.Headers = nil
			}
			text, failed := c.fetch(x.arguments, page)
			var a answer
			if err := json.Unmarshal([]byte(text), &a); failed || err != nil || a.Status != 200 || a.URL != "https://example.com/" || a.Truncated {
				t.Fatalf("%q, %v", text, err)
			}
			for _, want := range x.want {
				if !strings.Contains(a.Body, want) {
					t.Errorf("no %q in %q", want, a.Body)
				}
			}
			if x.not != "" && strings.Contains(a.Body, x.not) {
				t.Errorf("%q in %q", x.not, a.Body)
			}
		})
	}
}

// What was cut off in the middle of a character is not Latin for that.
func TestCutInACharacter(t *testing.T) {
	long := strings.Repeat("a", 1500) + "naïve "
	page := Page{Headers: map[string]string{"content-type": "text/plain"}, Body: []byte(long + "€"[:2]), Truncated: true}
	if text, err := render(page, ""); err != nil || text != long+"\uFFFD" {
		t.Errorf("%.30q, %v", text[1495:], err)
	}
	page.Truncated = false
	if text, err := render(page, ""); err != nil || !strings.HasSuffix(text, "aaanaÃ¯ve â‚") {
		t.Errorf("not cut: %.30q, %v", text[1495:], err)
	}
}

func TestLengthIsCountedInCharacters(t *testing.T) {
	c := start(t, offering)
	page := Page{Headers: map[string]string{"content-type": "text/plain"}, Body: []byte("äöüß")}
	for n, want := range map[int]string{2: "äö", 4: "äöüß"} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			text, _ := c.fetch(fmt.Sprintf(`{"url":"u","max_length":%d}`, n), page)
			var a answer
			if err := json.Unmarshal([]byte(text), &a); err != nil || a.Body != want || a.Truncated != (n < 4) {
				t.Errorf("%d: %+v, %v", n, a, err)
			}
		})
	}
}

func TestWhatIsNoTextIsRefused(t *testing.T) {
	c := start(t, offering)
	for kind, body := range map[string]string{"image/png": "\x89PNG", "application/octet-stream": "x", "": "\x00\x01\x02", "nonsense;;": "x"} {
		t.Run(kind, func(t *testing.T) {
			page := Page{Body: []byte(body), Headers: map[string]string{"content-type": kind}}
			if text, failed := c.fetch(`{"url":"u"}`, page); !failed {
				t.Errorf("%q: %q", kind, text)
			}
		})
	}
}

// Pages made to be expensive cost neither much time nor much memory.
func TestHostilePages(t *testing.T) {
	for name, body := range map[string]string{
		"deep":       strings.Repeat("<div>", 300_000),
		"deep lists": strings.Repeat("<ul><li>", 100_000),
		"formatting": strings.Repeat("<b><i><a href=x>", 60_000),
		"tables":     strings.Repeat("<table><tr><td>", 50_000),
		"attributes": "<p " + strings.Repeat("a=b ", 400_000) + ">x",
		"entities":   strings.Repeat("&amp;&#x1F600;", 100_000),
		"wide":       strings.Repeat("<br>", 400_000),
		"unclosed":   strings.Repeat("<", 1<<20),
		"comments":   strings.Repeat("<!-- ", 200_000),
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := render(Page{Body: []byte(body), Headers: map[string]string{"content-type": "text/html"}}, "")
			if took := time.Since(began); err != nil || took > time.Minute {
				t.Errorf("%v after %v", err, took)
			}
			t.Log(time.Since(began))
		})
	}
}

func TestTheServerDependsOnItsClient(t *testing.T) {
	c := start(t, "{}")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"http_fetch","arguments":{"url":"https://example.com"}}}`)
	if text, failed := resultOf(t, c.receive()); !failed || !strings.Contains(text, `"judged": true`) {
		t.Errorf("without an offer: %q", text)
	}
	c = start(t, offering)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"http_fetch","arguments":{"url":"https://example.com"}}}`)
	asked := c.receive()
	c.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"rule x denies it"}}`, asked.ID)
	if text, failed := resultOf(t, c.receive()); !failed || !strings.Contains(text, "rule x denies it") {
		t.Errorf("refused: %q", text)
	}
	// A call that is taken back ends although nobody answers for it.
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"http_fetch","arguments":{"url":"https://example.com"}}}`)
	c.receive()
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if text, failed := resultOf(t, c.receive()); !failed {
		t.Errorf("cancelled: %q", text)
	}
}

func TestMessagesThatAreNotUnderstood(t *testing.T) {
	c := start(t, offering)
	for _, line := range []string{`{`, `[]`, `{"id":1,"id":2}`, `{"jsonrpc":"2.0","id":1,"method":"none"}`, `{"jsonrpc":"2.0","id":1,"method":7}`} {
		t.Run(line, func(t *testing.T) {
			c.send("%s", line)
			if f := c.receive(); f.Error == nil {
				t.Errorf("%s: %+v", line, f)
			}
		})
	}
	c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"other","arguments":{}}}`)
	if _, failed := resultOf(t, c.receive()); !failed {
		t.Error("another tool was called")
	}
	c.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	if f := c.receive(); string(f.Result) != "{}" {
		t.Errorf("ping: %+v", f)
	}
}
