package mitm

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// answer writes to the agent. Each write has its own deadline, so that a client which
// reads nothing any more, or next to nothing, soon lets the provider go, and a stream that
// flows is never cut.
type answer struct {
	c       *tls.Conn
	stall   time.Duration
	writeBy *time.Time // the link's
	sent    int64      // bytes of the body
	more    bool       // much has just come, and more of it is likely on its way
	begun   bool       // the head is on its way, so no other answer is possible
}

func (a *answer) write(p []byte) error {
	postpone(a.writeBy, a.stall, a.c.SetWriteDeadline)
	raw := a.c.NetConn().(*tunnelConn)
	if a.more || len(p) > maxRecord {
		raw.hold() // what does not fit one TLS record still goes out in one piece
	}
	_, err := a.c.Write(p)
	if a.more && err == nil {
		return raw.flushSoon()
	}
	return errors.Join(err, raw.flush())
}

// maxRecord is how many bytes one TLS record holds.
const maxRecord = 16 << 10

// interim sends an informational response.
func (a *answer) interim(text string) error { return a.write([]byte(text)) }

// refusal answers with an error body in the shape that the provider's clients
// understand, and announces the end of the connection. A refusal without a
// status is one that nobody is left to read.
func (a *answer) refusal(shape string, d *denial) {
	if a.begun || d.status == 0 {
		return
	}
	body := errorBody(shape, d)
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-Ironcurtain-Denied: %s\r\nConnection: close\r\n",
		d.status, statusLine(d.status), len(body), d.reason)
	if d.retry > 0 {
		head += "Retry-After: " + strconv.Itoa(d.retry) + "\r\n"
	}
	if d.final {
		head += "X-Should-Retry: false\r\n"
	}
	if d.status == http.StatusUpgradeRequired {
		head += "Upgrade: HTTP/1.1\r\n"
	}
	a.begun = true
	_ = a.write(append([]byte(head+"\r\n"), body...))
}

// errorBody is an error as a provider would write it.
func errorBody(shape string, d *denial) []byte {
	var v any
	switch shape {
	case "anthropic":
		v = map[string]any{"type": "error", "error": map[string]string{"type": anthropicType(d.status), "message": d.message}}
	case "google":
		e := map[string]any{"code": d.status, "message": d.message, "status": googleStatus(d.status)}
		if d.reason == ReasonBudget && d.final {
			e["details"] = quotaOfTheDay(d.message)
		}
		v = map[string]any{"error": e}
	default:
		e := map[string]any{"message": d.message, "type": openaiType(d.status), "param": nil, "code": string(d.reason)}
		if d.reason == ReasonBudget && d.final {
			e["type"] = "usage_limit_reached" // without it Codex speaks of retries only
		}
		v = map[string]any{"error": e}
	}
	b, err := json.Marshal(v)
	if err != nil { // strings and numbers only: it cannot fail
		return []byte(`{"error":{"message":"refused"}}`)
	}
	return b
}

// quotaOfTheDay is what makes Google's clients stop at a 429: they try again for
// minutes when the limit is not one of the day.
func quotaOfTheDay(description string) []any {
	return []any{map[string]any{
		"@type":      "type.googleapis.com/google.rpc.QuotaFailure",
		"violations": []any{map[string]string{"subject": "session", "quotaId": "SessionBudgetPerDay", "description": description}},
	}}
}

func anthropicType(status int) string {
	switch status {
	case 401:
		return "authentication_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

func openaiType(status int) string {
	switch {
	case status == 401:
		return "authentication_error"
	case status == 403:
		return "permission_error"
	case status == 429:
		return "rate_limit_error"
	case status >= 500:
		return "server_error"
	}
	return "invalid_request_error"
}

func googleStatus(status int) string {
	switch {
	case status == 401:
		return "UNAUTHENTICATED"
	case status == 403:
		return "PERMISSION_DENIED"
	case status == 429:
		return "RESOURCE_EXHAUSTED"
	case status == 504:
		return "DEADLINE_EXCEEDED"
	case status >= 500:
		return "UNAVAILABLE"
	}
	return "INVALID_ARGUMENT"
}
