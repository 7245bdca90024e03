package mitm

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// commonRequestHeaders may be sent to every provider.
var commonRequestHeaders = []string{"accept", "accept-language", "content-type", "user-agent", "idempotency-key"}

// responseHeaders may come back from every provider. All others are dropped, such as
// cookies, redirects and offers of other protocols.
var responseHeaders = []string{
	"content-type", "date", "cache-control", "etag", "retry-after", "retry-after-ms", "x-should-retry",
	"request-id", "x-request-id", "cf-ray", "anthropic-*", "openai-*", "x-ratelimit-*", "x-codex-*",
	"x-models-etag", "x-oai-request-id", "x-goog-request-id", "x-openrouter-*",
}

// usual maps the usual spelling of common field names to their lower case.
var usual = func() map[string]string {
	names := make(map[string]string)
	for _, list := range [][]string{commonRequestHeaders, responseHeaders, neverForwarded, credentialHeaders} {
		for _, name := range list {
			names[http.CanonicalHeaderKey(name)] = name
		}
	}
	return names
}()

// fieldName returns the name of a field in lower case.
func fieldName(written string) string {
	if name, ok := usual[written]; ok {
		return name
	}
	return lowerASCII(written)
}

// listed reports whether a name in lower case is in a list whose entries may end in "*".
func listed(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		if prefix, ok := strings.CutSuffix(entry, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return name == entry
	})
}

// neverForwarded are fields of one connection or of the framing of a message. They are
// not forwarded even if the table of providers lists them; the proxy writes its own.
var neverForwarded = []string{
	"host", "connection", "content-length", "transfer-encoding", "trailer", "te", "upgrade", "keep-alive", "expect",
	"proxy-connection", "http2-settings", "accept-encoding",
}

// mostDropped is how many of the removed things a record names.
const mostDropped = 32

// Bounds of the fields that an agent sends, because their text cannot be judged.
const (
	mostFieldName = 64      // bytes
	mostFieldText = 256     // bytes of a value, except the list of features
	mostBetas     = 64      // features in that list, each of which is short
	mostFields    = 8 << 10 // bytes of all of them
)

// forwarded returns the listed fields of a request, without the credential. It also
// returns the names of fields that it left out because they are too long, and the
// features that it removed from a field.
func (g *guarded) forwarded(h *head) (fields []field, dropped []string) {
	fields = make([]field, 0, len(h.fields))
	size := 0
	for _, f := range h.fields {
		if slices.Contains(credentialHeaders, f.name) || slices.Contains(neverForwarded, f.name) {
			continue
		}
		if !listed(commonRequestHeaders, f.name) && !listed(g.provider.RequestHeaders, f.name) {
			continue
		}
		if f.name == "anthropic-beta" {
			var taken []string
			f.value, taken = dropBetas(f.value, g.provider.DropBetas)
			dropped = append(dropped, taken...)
			if f.value == "" {
				continue
			}
		} else if len(f.value) > mostFieldText || len(f.name) > mostFieldName {
			dropped = append(dropped, "header:"+printable(f.name, 60))
			continue
		}
		if size += len(f.name) + len(f.value); size > mostFields {
			dropped = append(dropped, "header:"+printable(f.name, 60))
			continue
		}
		if !g.provider.sets(f.name) {
			fields = append(fields, f)
		}
	}
	if len(dropped) > mostDropped {
		dropped = append(dropped[:mostDropped], "and more")
	}
	return fields, dropped
}

// requestHead returns the head of the forwarded request, with the real credential once,
// in the field for its kind.
func (x *exchange) requestHead(cred Credential) []byte {
	p := x.g.provider
	b := append(append(x.agent.scratch[:0], x.h.method...), ' ')
	b = append(append(b, x.g.prefix...), x.path...)
	if x.query != "" {
		b = append(append(b, '?'), x.query...)
	}
	b = append(b, " HTTP/1.1\r\n"...)
	b = appendField(b, "Host", x.g.base.Host)
	login := p.Errors == "anthropic" && cred.Value != "" && cred.Kind == KindBearer
	for _, f := range x.forwarded {
		if f.name == accountField && cred.Account != "" {
			continue
		}
		login = login && (f.name != "anthropic-beta" || !strings.Contains(f.value, loginBeta))
		b = appendField(b, http.CanonicalHeaderKey(f.name), f.value)
	}
	for name, value := range p.SetHeaders {
		b = appendField(b, http.CanonicalHeaderKey(name), value)
	}
	b = appendField(b, "Accept-Encoding", "identity")
	if cred.Value != "" {
		b = appendCredential(b, p, cred)
	}
	if login {
		b = appendField(b, "Anthropic-Beta", loginBeta)
	}
	if x.payload != nil || x.h.method != http.MethodGet && x.h.method != http.MethodHead {
		b = appendField(b, "Content-Length", strconv.Itoa(len(x.payload)))
	}
	return append(b, "\r\n"...)
}

const (
	// loginBeta is the feature that Anthropic requires for the token of a login.
	loginBeta = "oauth-2025-04-20"
	// accountField names the account of a ChatGPT login.
	accountField = "chatgpt-account-id"
)

func appendCredential(b []byte, p *Provider, cred Credential) []byte {
	mode, err := p.modeFor(cred.Kind)
	if err != nil { // cannot happen: exchange.credential has checked the kind
		return b
	}
	value := cred.Value
	if mode.Header == "authorization" {
		value = "Bearer " + value
	}
	b = appendField(b, http.CanonicalHeaderKey(mode.Header), value)
	if cred.Account != "" {
		b = appendField(b, "Chatgpt-Account-Id", cred.Account)
	}
	return b
}

func appendField(b []byte, name, value string) []byte {
	b = append(append(b, name...), ": "...)
	return append(append(b, value...), "\r\n"...)
}

// dropBetas removes features from a comma-separated list: those that begin with one of
// the given names, those that are not plain names, because another parser could read a
// dropped name in them, and those beyond mostBetas. If it removes nothing, the list stays
// unchanged byte by byte.
func dropBetas(value string, drop []string) (kept string, taken []string) {
	var rest []string
	count := 0
	for beta := range strings.SplitSeq(value, ",") {
		name := strings.ToLower(strings.Trim(beta, " \t"))
		if count++; count > mostBetas || len(beta) > mostFieldText || name != "" && !plainValue(name) || slices.ContainsFunc(drop, func(d string) bool { return strings.HasPrefix(name, d) }) {
			taken = append(taken, "anthropic-beta:"+printable(name, 60))
		} else {
			rest = append(rest, beta)
		}
	}
	if taken == nil {
		return value, nil
	}
	return strings.Trim(strings.Join(rest, ","), " \t"), taken
}
