package registry

import (
	"encoding/base64"
	"io"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/leak"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/store"
)

// secretsOf finds the secrets in the credentials of origins.
func secretsOf(origins []*Origin) *leak.Finder {
	var forms []leak.Form
	add := func(secret string) {
		if len(secret) >= leak.MinSecret {
			forms = append(forms, leak.Forms(secret)...)
		}
	}
	for _, o := range origins {
		_, secret, ok := strings.Cut(o.Credential, " ")
		if !ok {
			secret = o.Credential
		}
		add(secret)
		if login, err := base64.StdEncoding.DecodeString(secret); err == nil {
			if _, password, is := strings.Cut(string(login), ":"); is {
				add(password)
			}
		}
	}
	return leak.NewFinder(forms)
}

// keepSecrets refuses a document or an answer in which a registry shows a credential.
func (p *Plane) keepSecrets(body []byte) error {
	if p.secrets.Short(len(body)) {
		return nil
	}
	if found, _ := leak.NewScanner(p.secrets).Scan(body, true); len(found) > 0 {
		return Refuse(502, ReasonLeak, "the registry's answer shows a credential of the person's")
	}
	return nil
}

// mostScanned bounds the artifacts that are searched for credentials, in bytes. Artifacts that are
// text, such as the metadata of a wheel, are far smaller.
const mostScanned = 1 << 20

// keepSecretsOf does the same for a small artifact, which may be text.
func (p *Plane) keepSecretsOf(blob *store.Blob) error {
	if blob.Size > mostScanned || p.secrets.Short(int(blob.Size)) {
		return nil
	}
	body := make([]byte, blob.Size)
	if _, err := io.ReadFull(io.NewSectionReader(blob, 0, blob.Size), body); err != nil {
		return err
	}
	return p.keepSecrets(body)
}
