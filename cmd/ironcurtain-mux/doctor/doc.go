// Package doctor is the command doctor: what this machine lacks for the program, and what to do
// about it. Each check is a function that returns a finding; they run side by side, each with a
// limit of time.
package doctor
