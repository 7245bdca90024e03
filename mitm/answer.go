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

// answer writes to the agent. Each write has its own deadline. So the exchange ends soon
// when the client reads nothing or almost nothing, and a stream that flows is never cut.
type answer struct {
	c       *tls.Conn
	stall   time.Duration
	writeBy *time.Time // the write deadline of the agent's connection
	sent    int64      // bytes of the body
	more    bool       // large reads came in a row, and more data is likely
	begun   bool       // the head was sent, so no other answer is possible
}

func (a *answer) write(p []byte) error {
	postpone(a.writeBy, a.stall, a.c.SetWriteDeadline)
	raw := a.c.NetConn().(*tunnelConn)
	if a.more || len(p) > maxRecord {
		raw.hold() // so that several TLS records go out in one piece
	}
	_, err := a.c.Write(p)
	if a.more && err == nil {
		return raw.flushSoon()
	}
	return errors.Join(err, raw.flush())
}

// maxRecord is the most bytes of one TLS record.
const maxRecord = 16 << 10

// interim sends an informational response.
func (a *answer) interim(text string) error { return a.write([]byte(text)) }

// refusal answers with an error body in the format that the provider's clients
// understand, and announces the end of the connection. It writes nothing for a refusal
// without a status, because then no client is left to read it.
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

// errorBody returns an error in a provider's format.
func errorBody(shape string, d *denial) []byte {
	var v any
	switch shape {
	case "anthropic":
		v = map[string]any{"type": "error", "error": map[string]string{"type": anthropicType(d.status), "message": d.message}}
	case GitHub:
		v = map[string]string{"message": d.message}
	case "google":
		e := map[string]any{"code": d.status, "message": d.message, "status": googleStatus(d.status)}
		if d.reason == ReasonBudget && d.final {
			e["details"] = quotaOfTheDay(d.message)
		}
		v = map[string]any{"error": e}
	default:
		e := map[string]any{"message": d.message, "type": openaiType(d.status), "param": nil, "code": string(d.reason)}
		if d.reason == ReasonBudget && d.final {
			e["type"] = "usage_limit_reached" // without it Codex only reports retries
		}
		v = map[string]any{"error": e}
	}
	b, err := json.Marshal(v)
	if err != nil { // encoding strings and numbers cannot fail
		return []byte(`{"error":{"message":"refused"}}`)
	}
	return b
}

// quotaOfTheDay returns the details that make Google's clients stop at a 429: unless the
// limit is a daily one, they retry for minutes.
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
