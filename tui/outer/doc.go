// Package outer owns the person's own terminal for as long as the multiplexer
// runs. Open puts it into the state the multiplexer needs; one goroutine reads it
// and hands out events; frames go out in one write each; Restore leaves it as
// it was, whatever happened in between.
package outer
