package view

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Stopwatch writes a duration in seconds, or in minutes and seconds: "12 s", "2:07".
func Stopwatch(d time.Duration) string {
	s := int(d / time.Second)
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Age writes how long ago something was, in two words: "just now", "5m ago".
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}

// PlaceColumn writes a directory for a column of a list: its whole path or, if that is too wide, only
// the last names of the path.
func PlaceColumn(path string) string {
	const width = 28
	path = text.Drawable(homeShort(path))
	for short := path; ; {
		if TextWidth(short) <= width {
			return short
		}
		_, rest, ok := strings.Cut(strings.TrimPrefix(short, "…/"), "/")
		if !ok {
			return Clip(short, width)
		}
		short = "…/" + rest
	}
}

// homeShort writes the person's home directory as ~.
func homeShort(path string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, home+"/"); ok && err == nil {
		return "~/" + rest
	}
	return path
}
