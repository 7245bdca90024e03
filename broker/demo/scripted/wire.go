package scripted

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
)

// wire is what the formats of one provider have in common: how its key looks and is sent, and how
// it refuses requests.
type wire struct {
	provider string // its name in a session's table of providers
	prefix   string // of its keys
	header   string // that has the key
	scheme   string // in front of the key, with its space
	badKey   string // its message for a wrong key
	refuse   func(w http.ResponseWriter, status int, message string)
}

// The providers whose formats are spoken.
var (
	anthropic = &wire{
		provider: "anthropic", prefix: "sk-ant-api03-scripted-", header: "X-Api-Key",
		badKey: "invalid x-api-key", refuse: anthropicError,
	}
	openai = &wire{
		provider: "openai", prefix: "sk-proj-scripted-", header: "Authorization", scheme: "Bearer ",
		badKey: "Incorrect API key provided.", refuse: openaiError,
	}
	google = &wire{
		provider: "google", prefix: "AIzaSy-scripted-", header: "X-Goog-Api-Key",
		badKey: "API key not valid. Please pass a valid API key.", refuse: googleError,
	}
	// chatgpt has openai's formats, and accepts only tokens of logins.
	chatgpt = &wire{
		provider: "chatgpt", header: "Authorization", scheme: "Bearer ",
		badKey: "Your authentication token is not valid.", refuse: openaiError,
	}
	wires = []*wire{anthropic, openai, google}
)

// newKeys draws a key for each provider.
func newKeys() map[string]string {
	keys := make(map[string]string)
	for _, w := range wires {
		keys[w.provider] = w.prefix + rand.Text()
	}
	return keys
}

// newLogins makes a login for each provider that has logins.
func newLogins() map[string]*login {
	return map[string]*login{
		anthropic.provider: newLogin("sk-ant-oat01-scripted-"),
		chatgpt.provider:   newLogin("chatgpt-scripted-"),
	}
}

// keyOK reports whether the request carries the provider's key or the token of
// its login, once, where it belongs.
func (s *Server) keyOK(w *wire, h http.Header) bool {
	if l := s.logins[w.provider]; l != nil && l.opens(h) {
		// Anthropic accepts such tokens only from programs that say so.
		return w != anthropic || strings.Contains(strings.Join(h.Values("Anthropic-Beta"), ","), "oauth-")
	}
	if s.keys[w.provider] == "" {
		return false
	}
	values := h.Values(w.header)
	if len(values) != 1 {
		return false
	}
	key, ok := strings.CutPrefix(values[0], w.scheme)
	return ok && subtle.ConstantTimeCompare([]byte(key), []byte(s.keys[w.provider])) == 1
}

// endpoint answers one path of a wire format. It completes the log entry.
type endpoint struct {
	wire   *wire
	method string
	answer func(w http.ResponseWriter, r *http.Request, body []byte, e *Request)
	open   bool // it needs no key
}

// endpoint finds what answers a path. An unknown path gets the refusal of the first provider.
func (s *Server) endpoint(path string) (e endpoint, known bool) {
	switch path {
	case "/v1/messages":
		return endpoint{wire: anthropic, method: http.MethodPost, answer: s.anthropicMessages}, true
	case "/v1/messages/count_tokens":
		return endpoint{wire: anthropic, method: http.MethodPost, answer: s.anthropicCount}, true
	case "/v1/responses":
		return endpoint{wire: openai, method: http.MethodPost, answer: s.openaiResponses}, true
	case "/v1/chat/completions":
		return endpoint{wire: openai, method: http.MethodPost, answer: s.openaiChat}, true
	case "/v1/oauth/token":
		return endpoint{wire: anthropic, method: http.MethodPost, answer: s.renew(s.logins["anthropic"]), open: true}, true
	case "/oauth/token":
		return endpoint{wire: chatgpt, method: http.MethodPost, answer: s.renew(s.logins["chatgpt"]), open: true}, true
	case "/backend-api/codex/responses":
		return endpoint{wire: chatgpt, method: http.MethodPost, answer: s.openaiResponses}, true
	case "/backend-api/codex/models":
		return endpoint{wire: chatgpt, method: http.MethodGet, answer: s.openaiModels}, true
	case "/backend-api/wham/accounts/check":
		return endpoint{wire: chatgpt, method: http.MethodGet, answer: s.chatgptAccounts}, true
	case "/v1/models":
		return endpoint{wire: openai, method: http.MethodGet, answer: s.openaiModels}, true
	}
	rest, ok := strings.CutPrefix(path, "/v1beta/models/")
	if !ok {
		return endpoint{wire: anthropic}, false
	}
	model, what, _ := strings.Cut(rest, ":")
	if model == "" || strings.Contains(model, "/") {
		return endpoint{wire: google}, false
	}
	switch what {
	case "generateContent":
		return endpoint{wire: google, method: http.MethodPost, answer: s.googleGenerate(model, false)}, true
	case "streamGenerateContent":
		return endpoint{wire: google, method: http.MethodPost, answer: s.googleGenerate(model, true)}, true
	case "countTokens":
		return endpoint{wire: google, method: http.MethodPost, answer: s.googleCount(model)}, true
	}
	return endpoint{wire: google}, false
}
