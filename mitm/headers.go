package mitm

import (
	"net/http"
	"slices"
	"strings"
)

// commonRequestHeaders may go to every provider.
var commonRequestHeaders = []string{"accept", "accept-language", "content-type", "user-agent", "idempotency-key"}

// responseHeaders may come back from every provider; everything else, cookies,
// redirects and offers of other protocols among it, stays here.
var responseHeaders = []string{
	"content-type", "date", "cache-control", "etag", "retry-after", "retry-after-ms", "x-should-retry",
	"request-id", "x-request-id", "cf-ray", "anthropic-*", "openai-*", "x-ratelimit-*", "x-codex-*",
	"x-models-etag", "x-oai-request-id", "x-goog-request-id", "x-openrouter-*",
}

// listed says whether a name in lower case is in a list whose entries may end
// in "*".
func listed(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		if prefix, ok := strings.CutSuffix(entry, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return name == entry
	})
}

// requestHeader builds the header of the forwarded request from the fields
// that are on the list, without a credential. It returns also what it took out
// of a field.
func (g *guarded) requestHeader(h *head) (http.Header, []string) {
	out := make(http.Header, len(h.fields)+4)
	var dropped []string
	for _, f := range h.fields {
		if slices.Contains(credentialHeaders, f.name) {
			continue
		}
		if !listed(commonRequestHeaders, f.name) && !listed(g.provider.RequestHeaders, f.name) {
			continue
		}
		value := f.value
		if f.name == "anthropic-beta" {
			var taken []string
			value, taken = dropBetas(value, g.provider.DropBetas)
			dropped = append(dropped, taken...)
			if value == "" {
				continue
			}
		}
		name := http.CanonicalHeaderKey(f.name)
		out[name] = append(out[name], value)
	}
	for name, value := range g.provider.SetHeaders {
		out[http.CanonicalHeaderKey(name)] = []string{value}
	}
	if _, ok := out["User-Agent"]; !ok {
		out["User-Agent"] = []string{""} // otherwise net/http adds its own
	}
	out["Accept-Encoding"] = []string{"identity"}
	return out, dropped
}

// attach sets the real credential, once, in the one place for its kind.
func (g *guarded) attach(out http.Header, cred Credential) {
	if cred.Value == "" {
		return
	}
	mode, err := g.provider.modeFor(cred.Kind)
	if err != nil { // checked when the credential came
		return
	}
	value := cred.Value
	if mode.Header == "authorization" {
		value = "Bearer " + value
	}
	out[http.CanonicalHeaderKey(mode.Header)] = []string{value}
	if g.provider.Errors == "anthropic" && cred.Kind == KindBearer {
		const oauth = "oauth-2025-04-20" // the provider takes login tokens only with it
		if betas := strings.Join(out["Anthropic-Beta"], ","); !strings.Contains(betas, oauth) {
			out["Anthropic-Beta"] = append(out["Anthropic-Beta"], oauth)
		}
	}
	if cred.Account != "" {
		out["Chatgpt-Account-Id"] = []string{cred.Account}
	}
}

// dropBetas takes the features out of a comma-separated list that begin with
// one of the given names. A list without them stays as it is, byte by byte.
func dropBetas(value string, drop []string) (kept string, taken []string) {
	var rest []string
	for beta := range strings.SplitSeq(value, ",") {
		name := strings.ToLower(strings.Trim(beta, " \t"))
		if slices.ContainsFunc(drop, func(d string) bool { return strings.HasPrefix(name, d) }) {
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
