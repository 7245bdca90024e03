package mitm

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
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
	ctx, watch := x.agent.ctx, &x.agent.watch
	watch.start(x.agent, x.t, x.r)
	defer watch.stop()
	cred, d := x.clear(ctx)
	if d != nil {
		watch.stop()
		x.refuse(d)
		return false
	}
	x.p.tell(Activity{Kind: RequestStarted, Seq: x.rec.Seq})
	s := &stream{x: x, ctx: ctx}
	if !x.g.web { // an approved domain gets no credential, so its answers are not scanned
		s.secrets = x.p.given.list()
	}
	finished := false
	defer func() {
		if !finished { // a panic: the end of the request must still be reported
			s.denial = failure(0, ReasonInternal, "the exchange failed because of a defect in the proxy")
		}
		x.finish(s)
	}()
	reusable := s.run(cred)
	watch.stop()
	finished = true
	return reusable
}

// stream is one answer on its way from the upstream to the agent.
type stream struct {
	x       *exchange
	ctx     context.Context
	secrets []Credential // that the answer is scanned for
	watch   *watcher
	meter   *usage.Meter
	status  int       // of the upstream
	sent    time.Time // when the request was last sent
	ttfb    time.Duration
	denial  *denial // why there is no answer, or why it is incomplete
	retries int
}

// run sends the request and copies the answer. If the credential is refused and can be
// renewed, it sends the request once more.
func (s *stream) run(cred Credential) bool {
	res, d := s.send(cred)
	if d == nil && res.status == http.StatusUnauthorized {
		res, d = s.renew(res, cred)
	}
	if d != nil {
		s.denial = d
		s.x.a.refusal(s.x.g.provider.Errors, d)
		return false
	}
	defer res.close()
	if d := s.checkAnswer(res); d != nil {
		s.denial = d
		s.x.a.refusal(s.x.g.provider.Errors, d)
		return false
	}
	return s.copy(res)
}

// renew asks the source for another credential after a 401 and repeats the request once
// with it. If a login cannot be renewed, the agent's answer says what the person has to
// do, and not what the provider said.
func (s *stream) renew(res *upstreamAnswer, used Credential) (*upstreamAnswer, *denial) {
	refused := s.x.p.config.Refused
	if refused == nil || used.Value == "" {
		return res, nil
	}
	renewed := refused(s.ctx, s.x.g.provider.Name, used)
	if !renewed && used.Kind != KindBearer {
		return res, nil // a key cannot be renewed, and the provider's answer says what is wrong
	}
	cred, d := s.x.credential(s.ctx)
	if d == nil && cred.Value == used.Value {
		return res, nil
	}
	res.close()
	if d != nil {
		return nil, d // a person has to log in
	}
	s.retries++
	s.secrets = s.x.p.given.list()
	return s.send(cred)
}

// send builds a request from judged parts only and sends it.
func (s *stream) send(cred Credential) (*upstreamAnswer, *denial) {
	x := s.x
	s.sent = time.Now()
	q := upstreamRequest{method: x.h.method, head: x.requestHead(cred), body: x.payload}
	res, err := x.g.upstream.ask(s.ctx, &q)
	if cap(q.head) <= scratchBytes {
		x.agent.scratch = q.head
	}
	if err != nil {
		return nil, s.upstreamDenial(err)
	}
	s.status, s.ttfb = res.status, time.Since(s.sent)
	return res, nil
}

// upstreamDenial turns an error of the upstream into a refusal. Its message goes to the
// agent, so it names the cause only in general; the audit gets the details.
func (s *stream) upstreamDenial(err error) *denial {
	var d *denial
	var refused *netguard.AddressError
	host := s.x.g.host.Name
	switch {
	case s.ctx.Err() != nil:
		d = failure(0, ReasonClientGone, "the client went away before the answer came")
	case errors.As(err, &refused):
		d = failure(502, ReasonNotPublic, "%s resolves to an address that is not public.", host)
	case errors.Is(err, errAnswer):
		d = failure(502, ReasonAnswer, "%s sent an answer that cannot be read.", host)
	case isTimeout(err):
		d = failure(504, ReasonTimeout, "%s did not answer in time.", host)
	default:
		d = failure(502, ReasonUnreachable, "%s cannot be reached.", host)
	}
	d.detail = s.mask(err.Error())
	return d
}

// checkAnswer refuses answers that must not be passed on or cannot be scanned.
func (s *stream) checkAnswer(res *upstreamAnswer) *denial {
	// A redirect of an API may pass, because its target is judged again.
	if res.status < 200 || res.status >= 300 && res.status < 400 && !s.x.g.provider.API {
		return failure(502, ReasonRedirect, "%s answered with status %d, which is not passed on.", s.x.g.host.Name, res.status)
	}
	for _, f := range res.fields {
		if !s.x.g.web && f.name == "content-encoding" && f.value != "" && f.value != "identity" {
			return failure(502, ReasonAnswer, "%s sent an encoded answer, which cannot be watched.", s.x.g.host.Name)
		}
	}
	return nil
}

// copy passes the head and the body of the answer on as they arrive.
func (s *stream) copy(res *upstreamAnswer) bool {
	x := s.x
	s.watch = x.g.watcher(s.secrets)
	kind, _ := res.first("content-type")
	s.meter = usage.NewMeter(kind)
	x.rec.Status = res.status
	x.a.begun = true
	head := s.responseHead(res)
	if res.whole {
		s.noteLeaks()
		return s.clientError(x.a.write(head))
	}
	c := copier{s: s, body: res, head: head}
	defer c.release()
	if res.length < 0 || res.length > copyBuffer {
		// The first byte of the body may come much later, so the head is sent now.
		if !s.clientError(x.a.write(c.takeHead())) {
			return false
		}
	}
	return c.run()
}

// clientError records an error of writing to the client. It returns true if err is nil.
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
	count, guessed := s.usage()
	if s.meter != nil && s.meter.Model() != "" {
		r.Model = printable(s.meter.Model(), 100)
	}
	if !count.Zero() {
		r.Usage, r.Guessed = &count, guessed
	}
	x.p.note(r)
	x.p.tell(Activity{Kind: RequestEnded, Seq: r.Seq, Model: r.Model, Usage: count})
}

// usage returns the tokens that the exchange has used, and whether that is a guess.
func (s *stream) usage() (usage.Count, bool) {
	if s.x.endpoint.Body == "" {
		return usage.Count{}, false
	}
	if s.denial != nil {
		gone := s.denial.reason == ReasonClientGone
		if s.status == http.StatusOK || s.status == 0 && (gone || s.denial.reason == ReasonTimeout) {
			return usage.Guess(s.meter, s.x.rec.ReqBytes, s.written(gone)), true
		}
	}
	if s.meter == nil {
		return usage.Count{}, false
	}
	if count := s.meter.Count(); !count.Zero() || s.status != http.StatusOK || !s.meter.Tells() {
		return count, false
	}
	return usage.Guess(s.meter, s.x.rec.ReqBytes, 0), true
}

// written returns how long the model may have written if the client went away, and 0
// otherwise.
func (s *stream) written(gone bool) time.Duration {
	if !gone || s.sent.IsZero() {
		return 0
	}
	return time.Since(s.sent)
}
