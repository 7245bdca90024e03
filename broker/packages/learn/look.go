package learn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
)

// lookTime bounds the examination of one registry.
const lookTime = 20 * time.Second

// look finds out whether a registry is at a private address, and where its artifacts are. It adds a
// note about what it could not find out.
func (a *asker) look(ctx context.Context, s *Source) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lookTime, fmt.Errorf("no answer within %v", lookTime))
	defer cancel()
	var refused *netguard.AddressError
	_, err = a.Dialer.Addresses(ctx, u.Hostname(), s.Private)
	if errors.As(err, &refused) && !s.Private {
		if _, err = a.Dialer.Addresses(ctx, u.Hostname(), true); err == nil {
			s.Private = true
		}
	}
	if err == nil && probe[s.Ecosystem].path != "" {
		s.Artifacts, err = a.artifacts(ctx, *s, u)
	}
	if err != nil {
		a.note("%s could not be examined: %v", s.URL, err)
	}
}

// artifacts returns the bases of artifacts that are outside the registry's own base.
func (a *asker) artifacts(ctx context.Context, s Source, u *url.URL) ([]string, error) {
	p := probe[s.Ecosystem]
	at := u.JoinPath(p.path)
	data, kind, err := a.document(ctx, s, at.String(), p.accept)
	if err != nil {
		return nil, err
	}
	bases, err := readArtifacts(s.Ecosystem, data, kind, at, p.name)
	return outside(u, bases), err
}

// document gets a document from a registry, with the person's login.
func (a *asker) document(ctx context.Context, s Source, at, accept string) (data []byte, kind string, err error) {
	client := a.Dialer.Client(func(string) bool { return s.Private })
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Accept", accept)
	r.Header.Set("User-Agent", "ironcurtain-mux")
	if login, err := a.Login(ctx, s); err != nil {
		return nil, "", err
	} else if login != "" {
		r.Header.Set("Authorization", login)
	}
	answer, err := client.Do(r)
	if err != nil {
		var address *url.Error
		if errors.As(err, &address) {
			err = address.Err
		}
		return nil, "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("the registry answered %d", answer.StatusCode)
	}
	data, err = io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	if err == nil && len(data) > maxDocument {
		err = fmt.Errorf("the answer has more than %d bytes", maxDocument)
	}
	return data, answer.Header.Get("Content-Type"), err
}
