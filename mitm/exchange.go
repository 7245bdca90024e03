package mitm

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/body"
)

// exchange is one request inside a tunnel and its answer.
type exchange struct {
	agent *agentConn
	p     *Proxy
	g     *guarded
	t     *tls.Conn
	r     *bufio.Reader // of t
	h     *head

	framing   framing
	forwarded []field // of the head
	path      string
	query     string
	endpoint  *Endpoint
	payload   []byte   // the judged body
	most      int64    // the body's limit of tokens for one answer; 0 when there is none
	answers   int64    // how many answers the body asks for
	others    []string // other models that the body names
	spooled   int64    // bytes that the spool counts for this exchange
	started   time.Time
	rec       Record
	a         answer
}

func newExchange(a *agentConn, g *guarded, sni string, t *tls.Conn, r *bufio.Reader, h *head) *exchange {
	if h == nil {
		h = &head{}
	}
	x := &exchange{agent: a, p: a.p, g: g, t: t, r: r, h: h, started: time.Now()}
	x.rec = Record{
		Seq: a.p.seq.Add(1), Conn: a.id, Phase: PhaseRequest, Provider: g.provider.Name,
		Host: g.host.Name, Port: "443", SNI: sni, Method: h.method,
	}
	x.a = answer{c: t, stall: a.p.limits.WriteStall, writeBy: &a.writeBy}
	return x
}

// run judges and forwards the request. headErr is the error of reading its head. It
// returns whether the connection may carry another request.
func (x *exchange) run(headErr error) bool {
	defer func() { x.p.spool.release(x.spooled) }()
	var d *denial
	if headErr != nil {
		d = headDenial(headErr)
	} else {
		d = x.judge()
	}
	if d != nil {
		x.refuse(d)
		return false
	}
	return x.forward() && !x.framing.closing
}

// judge makes the checks in their order up to the body.
func (x *exchange) judge() *denial {
	for _, check := range []func() *denial{
		x.checkFraming, x.checkTarget, x.checkMethod, x.checkUpgrade, x.checkEndpoint, x.checkKey, x.checkBody,
	} {
		if d := check(); d != nil {
			return d
		}
	}
	return nil
}

func (x *exchange) checkFraming() *denial {
	if x.h.version != "HTTP/1.1" {
		return deny(505, ReasonVersion, "the request must be HTTP/1.1")
	}
	var d *denial
	x.framing, d = frame(x.h)
	return d
}

func (x *exchange) checkTarget() *denial {
	path, query, d := splitTarget(x.h.target)
	if d != nil {
		return d
	}
	x.path, x.query = path, query
	x.rec.Path = printable(path, 300)
	check := checkPath
	if x.g.provider.API {
		check = checkWebPath
	}
	if d := check(path); d != nil {
		return d
	}
	host, _ := x.h.first("host")
	if strings.TrimSuffix(lowerASCII(host), ":443") != x.g.host.Name {
		return deny(400, ReasonHostMismatch, "the Host field and the target of CONNECT differ")
	}
	return nil
}

// checkMethod refuses methods that no endpoint has.
func (x *exchange) checkMethod() *denial {
	if !slices.Contains([]string{"GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"}, x.h.method) {
		return deny(405, ReasonMethod, "Blocked: the method is not allowed.")
	}
	return nil
}

func (x *exchange) checkUpgrade() *denial {
	if x.framing.upgrades {
		return deny(426, ReasonUpgrade, "No protocol but HTTP/1.1 is forwarded; use plain HTTPS requests.")
	}
	return nil
}

func (x *exchange) checkEndpoint() *denial {
	if x.g.web {
		now := x.p.domain(x.g.host.Name)
		if now == nil { // it may have expired since CONNECT
			return deny(403, ReasonConnectHost, "Blocked: %s is not approved any more.", x.g.host.Name)
		}
		x.g = now // it may have been removed and approved again
		if packagePath.MatchString(x.path) {
			return deny(403, ReasonPackage, "Blocked: %s is a path of a package registry, and packages from an approved web domain are not inspected. To allow them, the person adds %s to registries.sources in config.json.", printable(x.path, 200), x.g.host.Name)
		}
		x.endpoint = webEndpoint(x.h.method)
		return nil
	}
	if x.g.provider.API {
		if x.endpoint = x.g.host.apiEndpoint(x.h.method, x.path); x.endpoint != nil {
			return nil
		}
	}
	for i := range x.g.host.Endpoints {
		e := &x.g.host.Endpoints[i]
		if e.matches(x.h.method, x.path) && (e.Kind == "" || e.Kind == x.g.mode.Kind) {
			x.endpoint = e
			return nil
		}
	}
	return deny(403, ReasonEndpoint, "Blocked: %s %s is not an allowed endpoint.", x.h.method, printable(x.path, 200))
}

func (x *exchange) checkKey() *denial {
	state, d := x.g.checkCredential(x.h, x.query, x.endpoint)
	x.rec.Key = state
	if d != nil || x.g.provider.API {
		return d
	}
	return x.endpoint.checkQuery(x.query)
}

// checkBody reads the body, if the endpoint takes one, and judges it.
func (x *exchange) checkBody() *denial {
	if x.g.provider.API && x.endpoint.Ask { // the person who is asked sees the body
		return x.checkAskedBody()
	}
	if x.endpoint.Body == "" {
		if x.framing.hasBody() {
			return deny(400, ReasonUnexpected, "%s %s takes no body.", x.h.method, x.path)
		}
		return nil
	}
	if d := checkBodyHead(x.h); d != nil {
		return d
	}
	raw, d := x.readBody()
	if d != nil {
		return d
	}
	x.rec.ReqBytes = int64(len(raw))
	result, err := body.Judge(x.endpoint.Body, raw)
	if model := x.endpoint.model(x.path); model != "" {
		result.Model = model
		err = cmp.Or(err, body.CheckModel(model))
	}
	x.rec.Model = printable(result.Model, 100)
	if err != nil {
		return policyDenial(err)
	}
	x.payload, x.rec.Stripped, x.most, x.answers, x.others = result.Body, result.Removed, result.Most, result.Answers, result.Others
	return nil
}

// checkAskedBody reads a body that only the person judges. They must be able to read the
// whole of a body that is sent with a credential.
func (x *exchange) checkAskedBody() *denial {
	if !x.g.web && x.framing.hasBody() {
		if d := checkBodyHead(x.h); d != nil {
			return d
		}
	}
	raw, d := x.readBody()
	if d != nil {
		return d
	}
	x.payload, x.rec.ReqBytes = raw, int64(len(raw))
	if x.g.web || len(raw) == 0 {
		return nil
	}
	if _, err := jsonx.Parse(raw, jsonx.Limits{}); err != nil {
		return policyDenial(err)
	}
	return nil
}

// policyDenial turns an error of judging a body into a refusal.
func policyDenial(err error) *denial {
	var refusal *body.Refusal
	if errors.As(err, &refusal) {
		return deny(403, ReasonPolicy, "Blocked: %s", refusal.Error())
	}
	return deny(400, ReasonJSON, "Blocked: the body is not acceptable JSON: %s", err)
}

// checkBodyHead refuses bodies that cannot be judged because of their encoding or type.
func checkBodyHead(h *head) *denial {
	for _, f := range h.fields {
		if f.name == "content-encoding" && !strings.EqualFold(f.value, "identity") {
			return deny(415, ReasonEncoding, "An encoded body cannot be judged; send it without Content-Encoding.")
		}
	}
	kind, n := h.first("content-type")
	if n != 1 {
		return deny(415, ReasonType, "The body must be application/json.")
	}
	media, parameters, _ := strings.Cut(kind, ";")
	parameters = strings.ToLower(strings.ReplaceAll(strings.Trim(parameters, " \t"), `"`, ""))
	if !strings.EqualFold(strings.Trim(media, " \t"), "application/json") || parameters != "" && parameters != "charset=utf-8" {
		return deny(415, ReasonType, "The body must be application/json in UTF-8.")
	}
	return nil
}

// refuse records the refusal, then answers in the provider's format.
func (x *exchange) refuse(d *denial) {
	r := &x.rec
	r.Phase, r.Decision, r.Reason, r.Status = PhaseRequest, d.decision(), d.reason, d.status
	r.Detail = printable(d.detailText(), 300)
	r.Duration = milliseconds(time.Since(x.started))
	if d.key != "" {
		r.Key = d.key
	}
	_ = x.agent.audit(r, x.tellUnrecorded)
	x.p.tell(Activity{Kind: RequestRefused, Seq: r.Seq})
	x.a.refusal(x.g.provider.Errors, d)
	if d.status != 0 {
		drain(x.t, x.r)
	}
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}
