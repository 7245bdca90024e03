package oauth

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
)

// write puts a renewed token into the file. It reads the file again first, so
// that members which others have added or changed meanwhile stay.
func (s *Source) write(t Token) error {
	data, err := s.load()
	if err != nil {
		return fmt.Errorf("store the login of %s: %w", s.Name, err)
	}
	data, err = s.merge(data, t, time.Now())
	if err != nil {
		return err
	}
	path, err := filepath.EvalSymlinks(s.Path) // replace the file, not a link to it
	if err != nil {
		return fmt.Errorf("store the login of %s: %w", s.Name, err)
	}
	err = renameio.WriteFile(path, data, 0o600, renameio.IgnoreUmask(), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return fmt.Errorf("store the login of %s: %w", s.Name, err)
	}
	return nil
}

// merge sets the token's members in a file's content and keeps all others.
func (s *Source) merge(data []byte, t Token, now time.Time) ([]byte, error) {
	members, err := s.members(data)
	if err != nil {
		return nil, err
	}
	set := func(name string, v any) error {
		raw, err := json.Marshal(v)
		members[name] = raw
		return err
	}
	if err := set(s.names.access, t.Access); err != nil {
		return nil, err
	}
	if err := set(s.names.refresh, t.Refresh); err != nil {
		return nil, err
	}
	if s.names.unit != 0 && !t.Expires.IsZero() {
		if err := set(s.names.expires, t.Expires.UnixMilli()/int64(s.names.unit/time.Millisecond)); err != nil {
			return nil, err
		}
	}
	if t.ID != "" && s.names.id != "" {
		if err := set(s.names.id, t.ID); err != nil {
			return nil, err
		}
	}
	if len(s.inner) == 0 {
		return json.MarshalIndent(members, "", "  ")
	}
	var outer map[string]json.RawMessage
	if err := json.Unmarshal(data, &outer); err != nil {
		return nil, err
	}
	if outer[s.inner[0]], err = json.Marshal(members); err != nil {
		return nil, err
	}
	if s.stamp != "" {
		if outer[s.stamp], err = json.Marshal(now.UTC()); err != nil {
			return nil, err
		}
	}
	return json.MarshalIndent(outer, "", "  ")
}
