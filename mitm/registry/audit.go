package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
)

// auditor is an Ecosystem that supports audits.
type auditor interface {
	// AuditBody writes the body of such a request from versions by name.
	AuditBody(listed map[string][]string) ([]byte, error)
	// AuditPath is the path of the request below the origin's URL.
	AuditPath() string
}

// audit asks the registry which versions are known to be vulnerable. The body is rewritten to
// contain only versions that this registry has served in the session, so the registry learns
// nothing new. Redirects are not followed, so nobody else learns it.
func (x *exchange) audit(ctx context.Context) error {
	e, is := x.ecosystem.(auditor)
	if x.s.plane.config.NoAudit {
		return Refuse(403, ReasonPath, "audits are switched off in this machine's configuration")
	}
	if !is {
		return Refuse(404, ReasonPath, "the registry has no such path")
	}
	body, err := e.AuditBody(x.known())
	if err != nil {
		return err
	}
	if err := x.record("allow"); err != nil {
		return err
	}
	address, err := x.origin.URL.Parse(e.AuditPath())
	if err != nil {
		return Refuse(404, ReasonPath, "the registry has no such path")
	}
	res, err := x.s.plane.upstream.get(ctx, query{origin: x.origin, address: address, accept: "application/json", coded: true, method: "POST", body: body})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAudit+1))
	if err != nil || res.Status != 200 || len(answer) > maxAudit || !json.Valid(answer) {
		return Refuse(502, ReasonUpstream, "the registry did not answer the audit")
	}
	if err := x.s.plane.keepSecrets(answer); err != nil {
		return err
	}
	x.begun = true
	x.rec.Bytes = int64(len(answer))
	if err := x.w.Start(200, "OK", []Field{{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}}, int64(len(answer))); err != nil {
		return err
	}
	if _, err := io.Copy(x.w, bytes.NewReader(answer)); err != nil {
		return err
	}
	x.ended("done", ReasonAllowed, "")
	return nil
}

// served remembers versions that the agent saw or got, for audits.
func (x *exchange) served(name string, versions ...Version) {
	if _, is := x.ecosystem.(auditor); !is {
		return
	}
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	key := x.origin.URL.String() + "\n" + name
	if x.s.known[key] == nil {
		x.s.known[key] = make(map[string]bool)
	}
	for i := range versions {
		x.s.known[key][versions[i].Version] = true
	}
}

// known returns the known versions of an audit request. Any other version could hide data.
func (x *exchange) known() map[string][]string {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	all := make(map[string][]string)
	for name, versions := range x.ask.Listed {
		served := x.s.known[x.origin.URL.String()+"\n"+name]
		listed := slices.DeleteFunc(slices.Clone(versions), func(version string) bool { return !served[version] })
		if slices.Sort(listed); len(listed) > 0 {
			all[name] = slices.Compact(listed)
		}
	}
	return all
}

// maxAudit bounds the answer to an audit, in bytes.
const maxAudit = 16 << 20
