package mitm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// clear asks everything that can still refuse a judged request: Admit, the person, the
// budget, the source of the credential and, last, the audit.
func (x *exchange) clear(ctx context.Context) (Credential, *denial) {
	request := x.describe()
	if x.p.config.Admit != nil {
		if err := x.p.config.Admit(ctx, request); err != nil {
			d := deny(403, ReasonPaused, "%s", err)
			d.final = true
			return Credential{}, d
		}
	}
	if x.endpoint.Ask {
		if _, d := x.credential(ctx); d != nil { // an approval would be in vain
			return Credential{}, d
		}
		if d := x.ask(ctx, &request); d != nil {
			return Credential{}, d
		}
		if d := x.checkEndpoint(); d != nil { // the domain may have expired while the person decided
			return Credential{}, d
		}
	}
	if x.p.config.Budget != nil && x.endpoint.Body != "" {
		if err := x.p.config.Budget(ctx, request); err != nil {
			d := deny(429, ReasonBudget, "%s", err)
			d.final, d.retry = true, 20 // so that clients that retry anyway do so seldom
			var busy interface{ RetryAfter() time.Duration }
			if errors.As(err, &busy) {
				d.final, d.retry = false, int(busy.RetryAfter().Seconds())
			}
			return Credential{}, d
		}
	}
	cred, d := x.credential(ctx)
	if d != nil {
		return Credential{}, d
	}
	var dropped []string
	x.forwarded, dropped = x.g.forwarded(x.h)
	x.rec.Stripped = append(x.rec.Stripped, dropped...)
	r := x.rec
	r.Decision, r.Reason = Allow, ReasonAllowed
	if err := x.agent.audit(&r, x.tellUnrecorded); err != nil {
		return Credential{}, unrecorded()
	}
	return cred, nil
}

func unrecorded() *denial {
	return failure(503, ReasonAudit, "The request was not forwarded: it could not be recorded.")
}

// tellUnrecorded answers while the record of a decision is still not stored.
func (x *exchange) tellUnrecorded() { x.a.refusal(x.g.provider.Errors, unrecorded()) }

// describe returns the request for the functions of Config that decide about it.
func (x *exchange) describe() Request {
	return Request{
		Seq: x.rec.Seq, Provider: x.g.provider.Name, Host: x.g.host.Name,
		Method: x.h.method, Path: x.path, Query: x.query, Model: x.rec.Model, Others: x.others, Body: x.payload, Most: x.most, Answers: x.answers,
	}
}

// ask waits for the person.
func (x *exchange) ask(ctx context.Context, r *Request) *denial {
	sum := sha256.New()
	for _, part := range []string{r.Method, r.Host, x.h.target} {
		_, _ = io.WriteString(sum, part+"\x00")
	}
	_, _ = sum.Write(r.Body)
	r.Digest = hex.EncodeToString(sum.Sum(nil))
	x.rec.Digest = r.Digest
	if x.p.config.Ask == nil {
		return deny(403, ReasonAsk, "Blocked: %s %s needs an approval, and nobody can be asked.", r.Method, r.Path)
	}
	ruling, err := x.p.config.Ask(ctx, *r)
	if err != nil {
		return deny(403, ReasonAsk, "Blocked: %s %s needs an approval: %s", r.Method, r.Path, err)
	}
	x.rec.Ruling = &ruling
	if ruling.Approved {
		return nil
	}
	text := "Blocked: " + r.Method + " " + r.Path + " was not approved (" + ruling.Outcome + ")."
	if ruling.Reason != "" {
		text += " " + ruling.Reason
	}
	d := deny(403, ReasonAsk, "%s", text)
	d.final = true
	return d
}

// credential gets the real credential, if the request is to carry one, and checks that it
// can be sent, and found in answers.
func (x *exchange) credential(ctx context.Context) (Credential, *denial) {
	if x.rec.Key != KeySentinel || x.endpoint.Auth == "none" {
		return Credential{}, nil
	}
	name := x.g.provider.Name
	cred, err := x.p.config.Credentials(ctx, name)
	hint := fault.Hint(err)
	if err != nil && hint == "" { // a retry may succeed, and nobody has to log in
		d := noLogin(503, fmt.Sprintf("No credential for %s at the moment: %s", name, err))
		d.retry = 5
		return Credential{}, d
	}
	if err == nil {
		_, err = x.g.provider.modeFor(cred.Kind)
	}
	if err == nil && (!sendable(cred.Value) || !printableASCII(cred.Account)) {
		err = errors.New("the credential is too short, or holds characters that no header can carry")
	}
	if err == nil {
		x.p.given.add(cred)
		return cred, nil
	}
	text := "No credential for " + name + ": " + err.Error()
	if hint != "" {
		text += " (" + hint + ")"
	}
	x.p.tell(Activity{Kind: LoginNeeded, Seq: x.rec.Seq, Text: text})
	return Credential{}, noLogin(401, text)
}

// directories matches the directories of a path in a text.
var directories = regexp.MustCompile(`(^|[\s("'])/(?:[^/\s:]+/)+`)

// noLogin refuses a request for which there is no credential. The message to the agent
// leaves out directories of the host.
func noLogin(status int, text string) *denial {
	d := failure(status, ReasonNoLogin, "%s", directories.ReplaceAllString(text, "$1"))
	d.detail = text
	return d
}

// sendable reports whether a credential can be sent in a header field and is long enough
// to be distinguished from ordinary text in an answer.
func sendable(value string) bool {
	return len(value) >= minSecret && len(value) <= maxSecret && printableASCII(value) && strings.IndexByte(value, ' ') < 0
}

// printableASCII reports whether a text can be sent in one header field.
func printableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
