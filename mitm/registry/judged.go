package registry

import "time"

// Package is one version at one origin, as it is judged.
type Package struct {
	Origin  *Origin
	Facts   *Facts
	Version *Version
	Pinned  bool
	// File is the artifact that was asked for, Sum its SHA-256 in hex, Size its size in
	// bytes. They are empty while a document is judged.
	File       *File
	Sum        string
	Size       int64
	Inspection *Inspection // nil before the bytes are there
	// Justification is why the agent asked for this version; empty if it only downloads it.
	Justification string
}

// Then is the outcome for a version.
type Then string

// The outcomes.
const (
	Allow Then = "allow"
	Wait  Then = "ask"
	Deny  Then = "deny"
)

// Verdict is the judge's answer.
type Verdict struct {
	Then   Then
	Rule   string // that decided, as the person knows it
	Reason Reason
	Text   string // one line for the agent: what is not allowed, and why
	// Hide means that a document leaves the version out.
	Hide bool
}

// Decision is a person's answer about packages that waited.
type Decision struct {
	Approved bool
	Outcome  string // in one word: "approved", "denied", "expired", "withdrawn"
	ID       string // of the question
	By       string
	Reason   string // told to the agent
}

// Record is one decision for the audit.
type Record struct {
	Time      time.Time
	Decision  string // "allow", "deny", "error", or "done" for the end of a request
	Ecosystem string
	Origin    string
	What      string // "document", "artifact", "audit", "other"
	Path      string
	Name      string
	Version   string
	Reason    Reason
	Text      string
	Rule      string
	Digest    string // SHA-256 of the bytes, in hex
	Bytes     int64
	Store     bool      // the bytes were in the store
	Published time.Time // the time that the judge used
	Proof     string
	Hidden    int // versions that are left out of the document
	Decided   *Decision
}
