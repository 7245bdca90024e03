package packages

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	rules "github.com/ironcurtain-mux/ironcurtain-mux/policy/packages"
)

// earlier is the version that a waiting one is compared with: the newest that needs no approval.
type earlier struct {
	version    *registry.Version
	inspection *registry.Inspection // nil if its artifact was not available in time
	size       int64
}

const (
	earlierPatience = 5 * time.Second // how long a question waits for the earlier versions
	earlierAtOnce   = 4               // how many of them are fetched at a time
)

// findEarlier finds the earlier versions of a wave, and looks into them.
func (s *Session) findEarlier(ctx context.Context, wave []judged) {
	ctx, cancel := context.WithTimeout(ctx, earlierPatience)
	defer cancel()
	var looks errgroup.Group
	looks.SetLimit(earlierAtOnce)
	for i := range wave {
		j := &wave[i]
		if j.earlier.version = s.newestOldEnough(j); j.earlier.version == nil {
			continue
		}
		looks.Go(func() error {
			if found, size, err := s.way.Look(ctx, j.Package, j.earlier.version); err == nil {
				j.earlier.inspection, j.earlier.size = found, size
			}
			return nil // the question then has less to show
		})
	}
	_ = looks.Wait()
}

// newestOldEnough returns the most recently published other version that needs no approval.
func (s *Session) newestOldEnough(j *judged) *registry.Version {
	var newest *registry.Version
	for i := range j.Facts.Versions {
		v := &j.Facts.Versions[i]
		if v.Version == j.Version.Version || v.Prerelease || v.Withdrawn || v.Published.IsZero() || newest != nil && !v.Published.After(newest.Published) {
			continue
		}
		if _, verdict := s.host.judge(registry.Package{Origin: j.Origin, Facts: j.Facts, Version: v}, s); verdict.Then == rules.Allow {
			newest = v
		}
	}
	return newest
}

// scripts says what runs at install, and whether it did so in the earlier version.
func (j *judged) scripts() string {
	said := "runs " + text.Clip(strings.Join(j.facts.Scripts, "; "), longestScripts) // the rest is our own text
	switch e := &j.earlier; {
	case e.inspection == nil:
		return said
	case slices.Equal(e.inspection.Scripts, j.facts.Scripts):
		return said + "; so does " + e.version.Version
	default:
		return said + "; not so in " + e.version.Version
	}
}

// Limits of a question: the new files that it names, and the bytes of each name and of all scripts.
const (
	mostNewFiles   = 5
	longestName    = 100
	longestScripts = longestLine - 500
)

// sizes says how large the artifact is, and which files the earlier version did not have.
func (j *judged) sizes() string {
	said := fmt.Sprintf("%d bytes", j.Size)
	if j.earlier.inspection == nil || j.Inspection == nil {
		return said
	}
	said += fmt.Sprintf("; %s: %d", j.earlier.version.Version, j.earlier.size)
	before := make(map[string]bool)
	for _, name := range j.earlier.inspection.Files {
		before[strings.ReplaceAll(name, j.earlier.version.Version, "")] = true
	}
	var added []string
	for _, name := range j.Inspection.Files {
		if !before[strings.ReplaceAll(name, j.Version.Version, "")] {
			added = append(added, text.OneLine(name, longestName))
		}
	}
	switch {
	case len(added) == 0:
		return said
	case len(added) == 1:
		return said + "; 1 new file: " + added[0]
	case len(added) <= mostNewFiles:
		return said + fmt.Sprintf("; %d new files: %s", len(added), strings.Join(added, ", "))
	}
	return said + fmt.Sprintf("; %d new files, %s among them", len(added), strings.Join(added[:mostNewFiles], ", "))
}
