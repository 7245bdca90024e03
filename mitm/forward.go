package mitm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/usage"
)

// forward sends the judged request and streams the answer. It returns whether
// the connection may carry another request.
func (x *exchange) forward() bool {
	select {
	case x.p.requests <- struct{}{}:
		defer func() { <-x.p.requests }()
	default:
		d := deny(429, ReasonRequests, "Too many requests are under way; try again.")
		d.retry = 2
		x.refuse(d)
		return false
	}
	ctx, cancel := context.WithCancel(x.l.ctx)
	defer cancel()
	watch := x.watchClient(cancel)
	defer watch()
	cred, d := x.clear(ctx)
	if d != nil {
		watch()
		x.refuse(d)
		return false
	}
	x.p.tell(Activity{Kind: RequestStarted, Seq: x.rec.Seq, Provider: x.g.provider.Name, Host: x.g.host.Name, Method: x.h.method, Path: x.path, Model: x.rec.Model})
	s := &stream{x: x, ctx: ctx, cancel: cancel, secrets: []Credential{cred}}
	finished := false
	defer func() {
		if !finished { // a panic is on its way: whoever counts requests must still hear of the end
			s.denial = failure(0, ReasonInternal, "the exchange did not come to its end")
		}
		x.finish(s)
	}()
	reusable := s.run(cred)
	watch()
	finished = true
	return reusable
}

// watchAfter is how long a request may take before its client is watched: most
// answers come sooner, and a client that goes meanwhile is seen by writing.
const watchAfter = 5 * time.Millisecond

// watchClient ends the request when the client goes away while the answer is
// awaited. The returned function stops watching and waits for the watcher; it
// may be called more than once.
func (x *exchange) watchClient(cancel context.CancelFunc) func() {
	done := make(chan struct{})
	begin := time.AfterFunc(watchAfter, func() {
		defer close(done)
		if _, err := x.r.Peek(1); err != nil && !isTimeout(err) {
			cancel()
		}
	})
	return sync.OnceFunc(func() {
		if begin.Stop() {
			return
		}
		_ = x.t.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
		<-done
		_ = x.t.SetReadDeadline(time.Time{})
	})
}

// stream is the way of one answer.
type stream struct {
	x       *exchange
	ctx     context.Context
	cancel  context.CancelFunc
	secrets []Credential // sent with this request
	watch   *watcher
	meter   *usage.Meter
	status  int // of the upstream
	ttfb    time.Duration
	denial  *denial // why there is no answer, or why it broke off
	retries int
}

// run sends the request, once more if a refused credential was renewed, and
// copies the answer.
func (s *stream) run(cred Credential) bool {
	res, d := s.send(cred)
	if d == nil && res.StatusCode == http.StatusUnauthorized {
		res, d = s.renew(res, cred)
	}
	if d != nil {
		s.denial = d
		s.x.a.refusal(s.x.g.provider.Errors, d)
		return false
	}
	defer func() { _ = res.Body.Close() }()
	if d := s.checkAnswer(res); d != nil {
		s.denial = d
		s.x.a.refusal(s.x.g.provider.Errors, d)
		return false
	}
	return s.copy(res)
}

// renew asks the source for another credential after a 401 and repeats the
// request once with it. Where a login cannot be renewed, the answer says what
// the person has to do instead of what the provider said.
func (s *stream) renew(res *http.Response, used Credential) (*http.Response, *denial) {
	refused := s.x.p.config.Refused
	if refused == nil || used.Value == "" {
		return res, nil
	}
	renewed := refused(s.ctx, s.x.g.provider.Name, used)
	if !renewed && used.Kind != KindBearer {
		return res, nil // a key stays what it is, and the provider says what is wrong with it
	}
	cred, d := s.x.credential(s.ctx)
	if d == nil && cred.Value == used.Value {
		return res, nil
	}
	_ = res.Body.Close()
	if d != nil {
		return nil, d // a person has to log in
	}
	s.retries++
	s.secrets = append(s.secrets, cred)
	return s.send(cred)
}

// send builds a request from judged parts only and sends it.
func (s *stream) send(cred Credential) (*http.Response, *denial) {
	x := s.x
	x.g.attach(x.header, cred)
	req := &http.Request{
		Method: x.h.method, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		URL:    &url.URL{Scheme: x.g.base.Scheme, Host: x.g.base.Host, Path: prefixed(x.g.base, x.path), RawQuery: x.query},
		Host:   x.g.base.Host,
		Header: x.header,
	}
	if x.g.web {
		req.URL.Path, req.URL.RawPath = webPath(x.g.base, x.path)
	}
	if x.payload != nil {
		req.ContentLength = int64(len(x.payload))
		req.Body = io.NopCloser(bytes.NewReader(x.payload))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.payload)), nil }
	}
	begun := time.Now()
	res, err := x.g.transport.RoundTrip(req.WithContext(s.ctx))
	if err != nil {
		return nil, s.upstreamDenial(err)
	}
	s.status, s.ttfb = res.StatusCode, time.Since(begun)
	return res, nil
}

// prefixed puts the path of a configured base URL in front of a path.
func prefixed(base *url.URL, path string) string {
	prefix := base.Path
	for len(prefix) > 0 && prefix[len(prefix)-1] == '/' {
		prefix = prefix[:len(prefix)-1]
	}
	return prefix + path
}

// webPath is the path of a request to an approved domain, decoded and as it
// stands there.
func webPath(base *url.URL, path string) (decoded, raw string) {
	raw = prefixed(base, path)
	decoded, err := url.PathUnescape(raw)
	if err != nil { // the path was parsed when the request was judged
		return raw, ""
	}
	return decoded, raw
}

// upstreamDenial turns an error of the upstream into an answer. Its text goes
// to the agent and so names the cause only in general; the audit has it.
func (s *stream) upstreamDenial(err error) *denial {
	var d *denial
	host := s.x.g.host.Name
	switch {
	case s.ctx.Err() != nil:
		d = failure(0, ReasonClientGone, "the client went away before the answer came")
	case errors.Is(err, errNotPublic):
		d = failure(502, ReasonNotPublic, "%s resolves to an address that is not public.", host)
	case isTimeout(err):
		d = failure(504, ReasonTimeout, "%s did not answer in time.", host)
	default:
		d = failure(502, ReasonUnreachable, "%s cannot be reached.", host)
	}
	d.detail = s.mask(err.Error())
	return d
}

// checkAnswer refuses answers that cannot be passed on or watched.
func (s *stream) checkAnswer(res *http.Response) *denial {
	if s.x.g.web && res.StatusCode >= 200 {
		return nil // nothing secret was sent, and where a redirect leads is judged again
	}
	if res.StatusCode < 200 || res.StatusCode >= 300 && res.StatusCode < 400 {
		return failure(502, ReasonRedirect, "%s answered with status %d, which is not passed on.", s.x.g.host.Name, res.StatusCode)
	}
	for _, v := range res.Header.Values("Content-Encoding") {
		if v != "" && v != "identity" {
			return failure(502, ReasonAnswer, "%s sent an encoded answer, which cannot be watched.", s.x.g.host.Name)
		}
	}
	return nil
}

// copy passes head and body of the answer on, as they come.
func (s *stream) copy(res *http.Response) bool {
	x := s.x
	s.watch = x.g.watcher(s.secrets)
	s.meter = usage.NewMeter(res.Header.Get("Content-Type"))
	x.rec.Status = res.StatusCode
	x.a.begun = true
	empty := res.ContentLength == 0 || res.StatusCode == http.StatusNoContent ||
		res.StatusCode == http.StatusNotModified || x.h.method == http.MethodHead
	head := s.responseHead(res, empty)
	if empty {
		s.noteLeaks()
		return s.clientError(x.a.write(head))
	}
	idle := time.AfterFunc(x.p.limits.StreamIdle, s.cancel)
	defer idle.Stop()
	c := copier{s: s, body: res.Body, idle: idle, left: res.ContentLength, head: head}
	defer c.release()
	if res.ContentLength < 0 || res.ContentLength > copyBuffer {
		// Nothing says when the first byte of the body comes.
		if !s.clientError(x.a.write(c.takeHead())) {
			return false
		}
	}
	return c.run()
}

// clientError notes an error of writing to the client; true means none.
func (s *stream) clientError(err error) bool {
	if err == nil {
		return true
	}
	s.denial = failure(s.x.rec.Status, ReasonClientGone, "the client stopped reading the answer")
	return false
}

// finish records how the exchange ended.
func (x *exchange) finish(s *stream) {
	s.noteLeaks()
	r := &x.rec
	r.Phase, r.Decision, r.Reason = PhaseResponse, Allow, ReasonDone
	r.Upstream, r.Retry, r.ResBytes = s.status, s.retries, x.a.sent
	r.TTFB, r.Duration = milliseconds(s.ttfb), milliseconds(time.Since(x.started))
	if d := s.denial; d != nil {
		r.Decision, r.Reason, r.Detail, r.Status = d.decision(), d.reason, printable(d.detailText(), 300), d.status
	}
	if s.watch != nil {
		r.Leaks = s.watch.found
	}
	var count usage.Count
	if s.meter != nil {
		count = s.meter.Count()
		if model := s.meter.Model(); model != "" {
			r.Model = printable(model, 100)
		}
		if !count.Zero() {
			r.Usage = &count
		}
	}
	x.p.note(r)
	x.p.tell(Activity{
		Kind: RequestEnded, Seq: r.Seq, Provider: r.Provider, Host: r.Host, Method: r.Method, Path: r.Path,
		Model: r.Model, Status: r.Status, Reason: r.Reason, Text: r.Detail, Usage: count,
	})
}
