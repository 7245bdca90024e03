package registry

import (
	"bytes"
	"context"
	"crypto/md5"  // #nosec G501 -- beside stronger ones, or marked as weak
	"crypto/sha1" // #nosec G505 -- likewise
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/store"
)

// artifact is what is known of downloaded bytes.
type artifact struct {
	Sum        string      `json:"sum"` // SHA-256, in hex
	Size       int64       `json:"size"`
	Inspection *Inspection `json:"inspection"`
	fromStore  bool
}

// artifact returns the bytes of a file: downloaded, compared with its listed digests, and
// inspected. before is called before the registry is asked.
func (p *Plane) artifact(ctx context.Context, o *Origin, f *Facts, v *Version, file *File, before func() error) (*artifact, error) {
	key := artifactKey(o, f, v, file)
	var kept artifact
	if p.config.Store.Read(key, &kept) {
		if blob, err := p.config.Store.Open(kept.Sum); err == nil {
			_ = blob.Close()
			kept.fromStore = true
			return &kept, nil
		}
	}
	if err := before(); err != nil {
		return nil, err
	}
	got, err := land(ctx, p.fly(key, func(ctx context.Context) (any, error) {
		return p.download(ctx, o, f, v, file, key)
	}))
	if err != nil {
		return nil, err
	}
	return got.(*artifact), nil
}

// artifactKey identifies a file by its origin, address, version and digests, so that bytes that
// were accepted for another file are not found.
func artifactKey(o *Origin, f *Facts, v *Version, file *File) string {
	var key strings.Builder
	fmt.Fprintf(&key, "artifact\n%s\n%s\n%s %s", o.URL, file.URL, f.Name, v.Version)
	for _, d := range file.Digests {
		fmt.Fprintf(&key, "\n%s %x", d.Algorithm, d.Sum)
	}
	return key.String()
}

func (p *Plane) download(ctx context.Context, o *Origin, f *Facts, v *Version, file *File, key string) (*artifact, error) {
	address, err := url.Parse(file.URL)
	if err != nil {
		return nil, Refuse(403, ReasonDocument, "the address of the artifact cannot be read")
	}
	res, err := p.upstream.get(ctx, query{origin: o, address: address})
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	switch {
	case res.Status == http.StatusNotFound || res.Status == http.StatusGone:
		return nil, Refuse(404, ReasonNotFound, "the registry does not have the artifact that its document names")
	case res.Status != http.StatusOK:
		return nil, Refuse(502, ReasonUpstream, "the registry %s answered with status %d", o.URL.Host, res.Status)
	case res.Length > p.limits.ArtifactBytes:
		return nil, Refuse(403, ReasonLimit, "the artifact is larger than %d bytes", p.limits.ArtifactBytes)
	}
	incoming, err := p.config.Store.New()
	if err != nil {
		return nil, err
	}
	defer incoming.Drop()
	sums := newSums(file.Digests)
	n, err := io.Copy(io.MultiWriter(incoming, sums), io.LimitReader(res.Body, p.limits.ArtifactBytes+1))
	switch {
	case incoming.Failed():
		return nil, err
	case err != nil || res.Length >= 0 && n < res.Length:
		return nil, Refuse(502, ReasonUpstream, "the registry %s broke off in the middle of an artifact", o.URL.Host)
	case n > p.limits.ArtifactBytes:
		return nil, Refuse(403, ReasonLimit, "the artifact is larger than %d bytes", p.limits.ArtifactBytes)
	case file.Size > 0 && n != file.Size:
		return nil, Refuse(403, ReasonDigest, "the artifact has %d bytes, and its document says %d", n, file.Size)
	}
	if wrong := sums.differ(); wrong != "" {
		return nil, Refuse(403, ReasonDigest, "the %s digest of the artifact is not the one that its document lists", wrong)
	}
	return p.inspect(f, v, file, incoming, o, key)
}

// inspect looks into bytes whose digests match, and stores them.
func (p *Plane) inspect(f *Facts, v *Version, file *File, incoming *store.Incoming, o *Origin, key string) (*artifact, error) {
	found, err := p.ecosystems[o.Ecosystem].Inspect(f, v, file, incoming, incoming.Size())
	if err != nil {
		return nil, Refuse(403, ReasonContent, "the artifact is not what its document says: %s", line(err.Error()))
	}
	if found == nil {
		found = &Inspection{}
	}
	a := &artifact{Size: incoming.Size(), Inspection: found}
	if a.Sum, err = incoming.Keep(); err != nil {
		return nil, err
	}
	return a, p.config.Store.Note(key, a)
}

// sums computes all listed digests of the bytes written to it. An unknown algorithm is left
// to the ecosystem's inspection.
type sums struct {
	listed []Digest
	hashes []hash.Hash // nil where unknown
}

func newSums(listed []Digest) *sums {
	s := &sums{listed: listed}
	for _, d := range listed {
		s.hashes = append(s.hashes, newHash(d.Algorithm))
	}
	return s
}

func newHash(algorithm string) hash.Hash {
	switch algorithm {
	case "sha512":
		return sha512.New()
	case "sha384":
		return sha512.New384()
	case "sha256":
		return sha256.New()
	case "sha1":
		return sha1.New() // #nosec G401 -- File.Weak says so
	case "md5":
		return md5.New() // #nosec G401 -- File.Weak says so
	}
	return nil
}

func (s *sums) Write(p []byte) (int, error) {
	for _, h := range s.hashes {
		if h != nil {
			_, _ = h.Write(p)
		}
	}
	return len(p), nil
}

// differ returns the algorithm of the first digest that does not match, or "".
func (s *sums) differ() string {
	for i, h := range s.hashes {
		if h != nil && !bytes.Equal(h.Sum(nil), s.listed[i].Sum) {
			return s.listed[i].Algorithm
		}
	}
	return ""
}

// String is the digest as lockfiles write it: "sha512-" and base64, or hex for SHA-256.
func (d Digest) String() string {
	switch d.Algorithm {
	case "h1":
		return string(d.Sum)
	case "sha512", "sha384", "sha1":
		return d.Algorithm + "-" + base64.StdEncoding.EncodeToString(d.Sum)
	}
	return d.Algorithm + ":" + hex.EncodeToString(d.Sum)
}

// Fits reports whether data has the digest. It is false for an unknown algorithm.
func (d Digest) Fits(data []byte) bool {
	h := newHash(d.Algorithm)
	if h == nil {
		return false
	}
	_, _ = h.Write(data)
	return bytes.Equal(h.Sum(nil), d.Sum)
}
