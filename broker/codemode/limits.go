package codemode

import "time"

// Mode says which of an agent's calls programs can make.
type Mode string

// The modes.
const (
	Off    Mode = "off"    // it has no programs
	Beside Mode = "beside" // programs can call the tools that it can call itself
	Only   Mode = "only"   // all its calls are made by programs
)

// MaxCalls is how many calls a program may make.
const MaxCalls = 500

// Bounds of one program that do not depend on who runs it.
const (
	maxCode      = 256 << 10 // bytes of its text
	maxState     = 256 << 10 // bytes of what it leaves to the next
	maxArguments = 256 << 10 // bytes of one call's
	maxLog       = 64 << 10  // bytes of its log lines together
	maxAtOnce    = 8         // calls under way
	maxSleeps    = 500
	maxRefused   = 20 // refused calls, after which the program is ended
	maxPrograms  = 4  // of one runner at a time
	maxResult    = 32 << 10
)

// Limits are what one program may use. Zero means the default.
type Limits struct {
	CPU   time.Duration // processor time of its process; 10 seconds
	Idle  time.Duration // time in which none of its calls is under way; 2 minutes
	Alone time.Duration // time in which none of its calls waits for a person; 1 hour
	Start time.Duration // until its process is ready; 30 seconds
}

func (l Limits) orDefaults() Limits {
	for _, d := range []struct {
		value *time.Duration
		or    time.Duration
	}{{&l.CPU, 10 * time.Second}, {&l.Idle, 2 * time.Minute}, {&l.Alone, time.Hour}, {&l.Start, 30 * time.Second}} {
		if *d.value <= 0 {
			*d.value = d.or
		}
	}
	return l
}

// grace is how much processor time a process has beyond its limit to end by itself, with the line
// and the reason. Then it is killed.
const grace = 60 * time.Millisecond
