package mitm

import (
	"fmt"
	"net/http"
)

// Reason is the code of a decision. The codes are stable: programs that read
// the audit depend on them.
type Reason string

// The reasons.
const (
	ReasonAllowed Reason = "allowed"
	ReasonDone    Reason = "done"

	// Framing: the head or body is not one message that all parsers agree on.
	ReasonMalformed      Reason = "malformed-head"
	ReasonVersion        Reason = "http-version"
	ReasonHeaderTooLarge Reason = "head-too-large"
	ReasonHeaderCount    Reason = "too-many-headers"
	ReasonHost           Reason = "host-field"
	ReasonLength         Reason = "content-length"
	ReasonCoding         Reason = "transfer-encoding"
	ReasonChunk          Reason = "chunked-framing"
	ReasonExpect         Reason = "expectation"
	ReasonHeadTimeout    Reason = "head-timeout"
	ReasonBodyTimeout    Reason = "body-timeout"
	ReasonTruncated      Reason = "truncated"

	// The request outside TLS.
	ReasonTarget      Reason = "connect-target"
	ReasonConnectHost Reason = "host-not-allowed"
	ReasonPort        Reason = "port-not-allowed"
	ReasonConnectBody Reason = "connect-with-body"
	ReasonPlainHTTP   Reason = "plain-http"
	ReasonOriginForm  Reason = "origin-form-outside-tunnel"
	ReasonConnections Reason = "too-many-connections"

	// TLS.
	ReasonNotTLS    Reason = "not-tls"
	ReasonSNI       Reason = "server-name"
	ReasonHandshake Reason = "handshake"
	ReasonHSTimeout Reason = "handshake-timeout"
	ReasonDistrust  Reason = "certificate-refused"

	// The request.
	ReasonAbsoluteForm Reason = "absolute-form-inside-tunnel"
	ReasonRawTarget    Reason = "request-target"
	ReasonHostMismatch Reason = "host-mismatch"
	ReasonMethod       Reason = "method"
	ReasonUpgrade      Reason = "upgrade"
	ReasonEndpoint     Reason = "endpoint-not-allowed"
	ReasonPackage      Reason = "package-outside-registry"
	ReasonQuery        Reason = "query-not-allowed"
	ReasonKey          Reason = "credential"
	ReasonNoLogin      Reason = "no-credential"
	ReasonUnexpected   Reason = "unexpected-body"
	ReasonTooLarge     Reason = "body-too-large"
	ReasonEncoding     Reason = "content-encoding"
	ReasonType         Reason = "content-type"
	ReasonJSON         Reason = "body-not-strict-json"
	ReasonPolicy       Reason = "body-policy"
	ReasonSpool        Reason = "too-much-in-flight"
	ReasonRequests     Reason = "too-many-requests"
	ReasonBudget       Reason = "budget"
	ReasonAsk          Reason = "not-approved"
	ReasonPaused       Reason = "session-paused"
	ReasonAudit        Reason = "audit-unavailable"

	// The answer.
	ReasonUnreachable Reason = "upstream-unreachable"
	ReasonNotPublic   Reason = "upstream-address-not-public"
	ReasonTimeout     Reason = "upstream-timeout"
	ReasonRedirect    Reason = "upstream-redirect"
	ReasonAnswer      Reason = "upstream-answer"
	ReasonBroken      Reason = "upstream-broke-off"
	ReasonClientGone  Reason = "client-gone"
	ReasonLeak        Reason = "credential-in-answer"
	ReasonInternal    Reason = "internal"
)

// denial is a refusal: the answer to the agent and the details for the audit.
type denial struct {
	status  int
	reason  Reason
	message string // for the agent; one line without secrets
	detail  string // for the audit; empty means message
	key     KeyState
	failed  bool // a failure, not a decision
	retry   int  // seconds, for Retry-After; 0 for none
	final   bool // the answer tells clients not to retry by themselves
}

func (d *denial) Error() string { return fmt.Sprintf("%s: %s", d.reason, d.message) }

// deny makes a refusal.
func deny(status int, reason Reason, format string, args ...any) *denial {
	return &denial{status: status, reason: reason, message: fmt.Sprintf(format, args...)}
}

// failure makes a refusal because of a failure, not of a decision.
func failure(status int, reason Reason, format string, args ...any) *denial {
	d := deny(status, reason, format, args...)
	d.failed = true
	return d
}

func (d *denial) decision() Decision {
	if d.failed {
		return Failed
	}
	return Deny
}

func (d *denial) detailText() string {
	if d.detail != "" {
		return d.detail
	}
	return d.message
}

// statusLine returns the reason phrase for a status code.
func statusLine(code int) string {
	if t := http.StatusText(code); t != "" {
		return t
	}
	return "Status"
}
