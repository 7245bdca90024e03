package mitm

import (
	"net/http"
	"strconv"
)

// responseHead returns the head of the answer, with only the fields that are listed.
func (s *stream) responseHead(res *upstreamAnswer) []byte {
	b := append(s.x.agent.scratch[:0], "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(res.status), 10)
	b = append(b, ' ')
	b = append(b, statusLine(res.status)...)
	b = append(b, "\r\n"...)
	for _, f := range res.fields {
		if !listed(responseHeaders, f.name) && (!s.x.g.provider.API || !listed(webResponseHeaders, f.name)) || s.named(f.name) {
			continue
		}
		b = appendField(b, f.written, s.mask(f.value))
	}
	switch {
	case res.status == http.StatusNoContent || res.status == http.StatusNotModified || s.x.h.method == http.MethodHead:
	case res.whole:
		b = append(b, "Content-Length: 0\r\n"...)
	default:
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	if s.x.framing.closing {
		b = append(b, "Connection: close\r\n"...)
	}
	b = append(b, "\r\n"...)
	s.x.agent.scratch = b
	return b
}

// named reports whether the name of a field, in lower case, contains the credential.
func (s *stream) named(field string) bool { return s.mask(field) != field }

// mask replaces the real credential in a text by the sentinel.
func (s *stream) mask(text string) string {
	if s.watch == nil {
		s.watch = s.x.g.watcher(s.secrets)
	}
	return s.watch.text(text)
}

// noteLeaks records, once, that the upstream sent the real credential.
func (s *stream) noteLeaks() {
	if s.watch == nil || s.watch.found == 0 || s.x.rec.Leaks > 0 {
		return
	}
	x := s.x
	x.rec.Leaks = s.watch.found
	r := x.rec
	r.Phase, r.Decision, r.Reason = PhaseResponse, Deny, ReasonLeak
	r.Detail = "the answer held the real credential; the agent got its sentinel instead"
	_ = x.agent.audit(&r, nil)
	x.p.tell(Activity{Kind: KeyLeaked, Seq: r.Seq, Host: r.Host, Path: r.Path})
}
