package policy

import "github.com/ironcurtain-mux/ironcurtain-mux/internal/text"

// maxShown bounds a value in a trace or reason, in bytes.
const maxShown = 4096

// sanitize makes a value fit to be shown in a trace or reason.
func sanitize(s string) string { return text.Readable(s, maxShown) }
