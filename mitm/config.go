package mitm

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Config says which providers a Proxy guards, and which functions decide.
type Config struct {
	// Session is written into every record.
	Session string
	// Providers names the providers of the table that the agent may reach; none is allowed.
	Providers []string
	// Table is the provider table; nil is the built-in one.
	Table []Provider
	// Modes says, for a provider that takes more than one kind of credential,
	// which kind the agent presents: "api-key" or "bearer". A provider that is
	// not named here uses the first mode of its table entry.
	Modes map[string]string
	// Credentials returns the real credential of a provider. It is called for every
	// request. An error with a Hint, which says what the person has to do, is answered
	// with 401 in the provider's format; any other error with 503.
	Credentials func(ctx context.Context, provider string) (Credential, error)
	// Held are the credentials that the source has now. Answers are scanned for them,
	// as for all credentials that Credentials returns.
	Held []Credential
	// Refused is called when the provider answers 401 to a credential, so that the
	// source can renew it. True means that Credentials will return another one; the
	// request is then repeated once. It may be nil.
	Refused func(ctx context.Context, provider string, used Credential) bool
	// Domains lets AddDomain give the agent other hosts to read from while the session
	// runs.
	Domains bool
	// Packages is the agent's way to package registries, at the authorities that
	// Registries names: "https://npm.example:443". It may be nil.
	Packages   *registry.Session
	Registries []string
	// Identity is the identity of a proxy whose process has ended (Proxy.Identity); the
	// agent of that proxy can then use this one. Nil makes a new identity.
	Identity []byte
	// Upstreams maps a host to another base URL, whose path becomes a prefix. It takes
	// precedence over the table's.
	Upstreams map[string]*url.URL
	// UpstreamCAs are the roots for upstream servers; nil is the system's.
	UpstreamCAs *x509.CertPool
	// Audit stores a record and returns when it is durable, or returns an error. If it
	// fails, or does not return within Limits.AuditTime, the request is refused.
	Audit func(Record) error
	// Note stores the record of how an exchange ended. It may return before the record
	// is durable, because nothing depends on it, but it must keep the order of all
	// records. If it is nil, Audit stores these records too.
	Note func(Record) error
	// Activity is called for every event. It must return at once. It may be nil.
	Activity func(Activity)
	// Admit is called before a request to any endpoint is forwarded, and may block. An
	// error refuses the request with 403, and the agent gets its text. It may be nil.
	Admit func(ctx context.Context, r Request) error
	// Ask decides a request to an endpoint that is marked "ask". Without it such
	// requests are refused. An error means that nobody could be asked.
	Ask func(ctx context.Context, r Request) (Ruling, error)
	// Budget is called before a request that costs something is forwarded. An error
	// refuses the request with 429, and the agent gets its text. The answer says not
	// to retry or, when the error has a RetryAfter (a time.Duration), to retry after
	// that time. Every admitted request ends with the Activity RequestEnded or
	// RequestRefused of the same Seq. It may be nil.
	Budget func(ctx context.Context, r Request) error
	// Log receives operational messages, never a header value or a body.
	Log *slog.Logger
	// Limits bounds what one agent can make the proxy spend.
	Limits Limits
}

// Credential is a real credential.
type Credential struct {
	Kind  string // KindAPIKey or KindBearer
	Value string
	// Account is the account of a bearer credential, for providers whose requests name
	// it; empty for others.
	Account string
}

// The kinds of credentials.
const (
	KindAPIKey = "api-key"
	KindBearer = "bearer"
)

// String keeps a credential out of logs.
func (c Credential) String() string { return c.Kind + " credential" }

// GoString keeps a credential out of logs.
func (c Credential) GoString() string { return c.String() }

// LogValue keeps a credential out of structured logs.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Request describes a judged request to the functions that decide about it.
type Request struct {
	Seq      uint64
	Provider string
	Host     string
	Method   string
	Path     string // without the query
	Query    string
	Model    string   // as the path or the body names it; empty when neither does
	Others   []string // other models that may answer instead
	Body     []byte   // the body to forward; nil without one
	Most     int64    // the body's limit of tokens for one answer; 0 when there is none
	Answers  int64    // how many answers the body asks for
	Digest   string   // SHA-256 of method, host, target and body, in hex
}

// Ruling is the result of Ask.
type Ruling struct {
	Approved bool
	Outcome  string        // in one word: "approved", "denied", "expired", "withdrawn"
	Reason   string        // for the agent, when the request was not approved
	ID       string        // of the escalation
	By       string        // who decided
	Client   Client        // with which client, if any
	Waited   time.Duration // time until the decision
}

// Client names the process beside a person with which a request was decided.
type Client struct{ ID, Name, Terminal string }

// Limits bounds the cost of one agent. A zero field means its default.
type Limits struct {
	Connections     int           // open at a time; 128
	Requests        int           // being forwarded at a time; 48
	HeaderBytes     int           // of one head; 64 KiB
	Headers         int           // fields in one head; 128
	BodyBytes       int64         // of one request; 32 MiB
	AskedBytes      int64         // of one request to GitHub that a person is asked about; 1 MiB
	SpoolBytes      int64         // of all request bodies in memory; 128 MiB
	DomainBytes     int64         // of one answer of an approved domain; 256 MiB
	HandshakeTime   time.Duration // of one TLS handshake; 10 s
	HeadTime        time.Duration // from the first byte of a head to its last; 10 s
	IdleTime        time.Duration // between two requests of a connection; 2 min
	BodyStall       time.Duration // between two reads of a body; 20 s
	BodyTime        time.Duration // of a whole body; 5 min
	WriteStall      time.Duration // to write a piece of an answer to the agent; 45 s
	SendStall       time.Duration // to write a piece of a request to an upstream; 5 min
	ConnectTime     time.Duration // to reach the upstream; 15 s
	ResponseTime    time.Duration // until the head of the answer; 15 min
	StreamIdle      time.Duration // between two reads of an answer; 2 h
	AuditTime       time.Duration // for one record to be stored; 5 s
	ShutdownRequest time.Duration // for requests under way at Close; 2 s
}

// withDefaults fills the fields that were left zero.
func (l Limits) withDefaults() Limits {
	l.Connections = cmp.Or(l.Connections, 128)
	l.Requests = cmp.Or(l.Requests, 48)
	l.HeaderBytes = cmp.Or(l.HeaderBytes, 64<<10)
	l.Headers = cmp.Or(l.Headers, 128)
	l.BodyBytes = cmp.Or(l.BodyBytes, 32<<20)
	l.AskedBytes = cmp.Or(l.AskedBytes, 1<<20)
	l.SpoolBytes = cmp.Or(l.SpoolBytes, 128<<20)
	l.DomainBytes = cmp.Or(l.DomainBytes, 256<<20)
	l.HandshakeTime = cmp.Or(l.HandshakeTime, 10*time.Second)
	l.HeadTime = cmp.Or(l.HeadTime, 10*time.Second)
	l.IdleTime = cmp.Or(l.IdleTime, 2*time.Minute)
	l.BodyStall = cmp.Or(l.BodyStall, 20*time.Second)
	l.BodyTime = cmp.Or(l.BodyTime, 5*time.Minute)
	l.WriteStall = cmp.Or(l.WriteStall, 45*time.Second)
	l.SendStall = cmp.Or(l.SendStall, 5*time.Minute)
	l.ConnectTime = cmp.Or(l.ConnectTime, 15*time.Second)
	l.ResponseTime = cmp.Or(l.ResponseTime, 15*time.Minute)
	l.StreamIdle = cmp.Or(l.StreamIdle, 2*time.Hour)
	l.AuditTime = cmp.Or(l.AuditTime, 5*time.Second)
	l.ShutdownRequest = cmp.Or(l.ShutdownRequest, 2*time.Second)
	return l
}

// check refuses a configuration that could not work.
func (c *Config) check() error {
	switch {
	case c.Credentials == nil:
		return errors.New("no source of credentials is configured")
	case c.Audit == nil:
		return errors.New("no audit is configured")
	}
	for host, u := range c.Upstreams {
		if err := checkBase(host, u); err != nil {
			return err
		}
	}
	return nil
}
