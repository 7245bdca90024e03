// Package doctor is the command doctor: it checks what this machine lacks for the program, and says
// what to do about it. Each check is a function that returns a finding. The checks run in parallel,
// each with a time limit.
package doctor
