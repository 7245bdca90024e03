package registry

import (
	"context"
	"fmt"
	"io"
	"net/url"
)

// Ecosystem is one kind of registry. Its methods are safe for concurrent use. Their input is
// untrusted: agents write the requests, and anyone may have written what a registry serves. The
// plane has only checked sizes.
type Ecosystem interface {
	// Name is the name in configuration, records and screens: "npm", "pypi".
	Name() string

	// Parse reads a request to an origin. It accepts each path in one spelling only. The
	// error is a *Refusal.
	Parse(o *Origin, r *Request) (*Ask, error)

	// Lookup returns a request whose facts contain a version of a package with its artifacts.
	// The error is a *Refusal if the name or the version is not valid.
	Lookup(o *Origin, name, version string) (*Ask, error)

	// Facts fetches and reads what the registry says about the package of a request. For an
	// artifact, the facts contain a File whose URL is the artifact's; otherwise the request is
	// refused. The error is a *Refusal if the registry's answer cannot be accepted, otherwise
	// the fetcher's own.
	Facts(ctx context.Context, f Fetcher, o *Origin, a *Ask) (*Facts, error)

	// Write writes the requested form of the document without the hidden versions. It copies
	// byte ranges and never re-encodes them. Its error is a *Refusal if no version is left,
	// otherwise the writer's.
	Write(w io.Writer, f *Facts, a *Ask, hidden func(version string) bool) error

	// Inspect looks into a downloaded artifact whose listed digests match. An error means
	// that it contradicts the facts or cannot be read.
	Inspect(f *Facts, v *Version, file *File, data io.ReaderAt, size int64) (*Inspection, error)

	// Pins returns the versions that a lockfile pins. It returns nothing for a file that is not
	// a lockfile of the ecosystem, and the readable part of a broken one. base is the file's
	// name without its directory.
	Pins(base string, data []byte) []Pin
}

// Pin is a version that a lockfile or a go.mod names.
type Pin struct{ Name, Version string }

// Fetcher gets documents of an origin, from the store or from the registry.
type Fetcher interface {
	// Document gets a document by its path below the origin's URL. accept is the media types
	// to ask for; empty for any. The error is ErrNotFound if there is no such document.
	Document(ctx context.Context, o *Origin, path, accept string) (*Document, error)
	// Admit is called before a version leaves the host in a path, because the agent may have
	// made it up. A version passes if it is known or if a document of the registry lists it;
	// otherwise it is treated like a new name. The error is a *Refusal or that of listed.
	Admit(ctx context.Context, o *Origin, v Pin, listed func() (bool, error)) error
}

// Origin is one registry as agents know it.
type Origin struct {
	Ecosystem string
	// URL is the base of the documents: "https://npm.example/". Its path ends with a slash.
	URL *url.URL
	// Aliases are other bases by which clients know the same registry. Their documents
	// come from URL.
	Aliases []*url.URL
	// Artifacts are the bases, other than URL, below which artifacts of this origin are.
	Artifacts []*url.URL
	From      string // who named it, for the person: "npm config get registry"
	// Private means that the registry belongs to the person or their employer: it may be
	// at a private address, and age says nothing about its packages.
	Private bool
	// Scopes are the names that belong to this origin and to no other: "@acme", "acme-*".
	Scopes []string
	// Credential is the value of the field Authorization for requests to URL; empty for
	// none. It never goes to another host.
	Credential string
	// Keys verify the ecosystem's signatures: the verifier key of a checksum database for Go,
	// paths of keyrings for apt.
	Keys []string
}

// Request is an agent's request below one of an origin's bases.
type Request struct {
	Method string   // "GET", "HEAD" or "POST"
	Base   *url.URL // the base of the origin that it is below: URL, an alias or one of Artifacts
	Path   string   // below the base, as it was sent, without a leading slash
	Query  string   // as it was sent
	Accept string   // the media types that the client takes
	Body   []byte   // of a POST
}

// Kind says what a request is for.
type Kind int

// The kinds of requests.
const (
	// Metadata asks for a document that lists versions, some of which may be hidden.
	Metadata Kind = iota
	// Artifact asks for bytes of one version.
	Artifact
	// Plain asks for something that names no version: keys, settings, signed indexes. Facts
	// checks it, and Write writes it.
	Plain
	// Audit asks which of many versions are known to be vulnerable. Only npm has it. Ask.Path
	// and Ask.Listed say what; the plane writes the body.
	Audit
)

// Ask is a parsed request.
type Ask struct {
	Kind    Kind
	Name    string // of the package in the registry's own spelling; empty for Plain and Audit
	Version string // when the path names it
	// Path is the path to ask the registry for, below URL; for an artifact, below Base. It is
	// built from the parsed parts.
	Path string
	// Base is the base that an artifact is below.
	Base *url.URL
	// Form names the form of a document when there are several: "full", "html". It goes into
	// the document's ETag.
	Form string
	// Type is the media type of the answer; empty means that of the document.
	Type string
	// Listed are the versions by name that a request for an audit lists.
	Listed map[string][]string
}

// URL returns the address of an artifact as agents know it.
func (a *Ask) URL() string { return a.Base.String() + a.Path }

// Document is a document as the registry sent it, decoded.
type Document struct {
	URL  *url.URL // its address as agents know it; relative links start there
	Type string   // its media type, without parameters
	Data []byte   // read-only: it may be a mapped file
	Sum  string   // SHA-256 of Data, in hex
}

// Refusal says why a request is not answered. Its text is shown to the agent, in the reason
// phrase and in the body, so it is one line of printable ASCII without secrets.
type Refusal struct {
	Status int    // 403, 404, 405, 502
	Reason Reason // for the record
	Text   string

	away bool // the registry gave no answer of its own: a stored document may be used
}

// Error is the text.
func (r *Refusal) Error() string { return r.Text }

// Refuse makes a refusal.
func Refuse(status int, reason Reason, format string, args ...any) *Refusal {
	return &Refusal{Status: status, Reason: reason, Text: fmt.Sprintf(format, args...)}
}

// Reason is the code of a decision about packages. The codes are stable.
type Reason string

// The reasons.
const (
	ReasonAllowed    Reason = "allowed"
	ReasonPath       Reason = "registry-path"       // not a path for reading packages
	ReasonMethod     Reason = "registry-method"     // publishing, logging in
	ReasonNotFound   Reason = "registry-not-found"  // the registry has no such thing
	ReasonDocument   Reason = "registry-document"   // ambiguous, or not what was asked for
	ReasonUnlisted   Reason = "registry-unlisted"   // no document names the artifact
	ReasonDigest     Reason = "registry-digest"     // the bytes are not those that are listed
	ReasonContent    Reason = "registry-content"    // the artifact is not what its document says
	ReasonLimit      Reason = "registry-limit"      // too large, too many
	ReasonUpstream   Reason = "registry-upstream"   // the registry cannot be reached, or sends a broken answer
	ReasonMalicious  Reason = "registry-malicious"  // on the list of malicious packages
	ReasonPrivate    Reason = "registry-private"    // a private name at a public registry
	ReasonNames      Reason = "registry-names"      // too many new names
	ReasonRule       Reason = "registry-rule"       // a rule denies it
	ReasonQuarantine Reason = "registry-quarantine" // too young
	ReasonDenied     Reason = "registry-denied"     // a person has denied it
	ReasonLeak       Reason = "credential-in-answer"
	ReasonAudit      Reason = "audit-unavailable"
	ReasonGone       Reason = "client-gone"
)

// ErrNotFound means that the registry has no such document.
var ErrNotFound = Refuse(404, ReasonNotFound, "the registry has no such package")
