package scripted

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// Request is what the provider remembers of a request, for tests and for
// people who look into a demo. It never holds a key.
type Request struct {
	At       time.Time
	Method   string
	Host     string
	Path     string      // with the query
	Provider string      // whose wire format it speaks: "anthropic"
	Header   http.Header // without the headers that carry keys
	KeyOK    bool        // the right credential, once, in the provider's own header
	Status   int         // of the answer

	Model  string
	Stream bool
	Prompt string   // the last thing the person said, its beginning when it is long
	Tools  []string // names of the tools on offer
	Tool   string   // the tool that the answer calls, or empty
	Text   string   // the text of the answer
}

// describe fills in what a wire format has understood and answered.
func (e *Request) describe(model string, stream bool, c *conversation, a answer) {
	e.Model, e.Stream, e.Text = model, stream, a.text
	if n := len(c.prompts); n > 0 {
		e.Prompt = c.prompts[n-1][:min(len(c.prompts[n-1]), longestPrompt)]
	}
	for _, t := range c.tools {
		e.Tools = append(e.Tools, t.path())
	}
	if a.call != nil {
		e.Tool = a.call.tool
	}
}

// How many bytes of a prompt are remembered.
const longestPrompt = 4 << 10

// How many requests are remembered; older ones are forgotten.
const remembered = 1000

// requestLog holds the latest requests.
type requestLog struct {
	mu      sync.Mutex
	entries []Request
}

func (l *requestLog) add(e Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) == remembered {
		l.entries = slices.Delete(l.entries, 0, 1)
	}
	l.entries = append(l.entries, e)
}

func (l *requestLog) all() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// withoutKeys copies headers and leaves out those that carry credentials.
func withoutKeys(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range []string{"X-Api-Key", "Authorization", "Proxy-Authorization", "Cookie", "X-Goog-Api-Key"} {
		h.Del(name)
	}
	return h
}
