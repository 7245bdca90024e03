package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
)

// Stored lists the sessions whose directories exist below home, newest first.
// Without a multiplexer none of them runs, whatever its record says.
func Stored(home string) ([]Session, error) {
	entries, err := os.ReadDir(filepath.Join(home, "sessions"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var all []Session
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(home, "sessions", e.Name(), "session.json"))
		if err != nil {
			continue // a directory without a record never became a session
		}
		var one Session
		if json.Unmarshal(data, &one) != nil || string(one.ID) != e.Name() {
			continue
		}
		if one.State != StateDead {
			one.State = StateClosed
		}
		all = append(all, one)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].CreatedAt.After(all[j].CreatedAt) })
	return all, nil
}
