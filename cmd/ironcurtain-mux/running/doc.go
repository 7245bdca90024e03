// Package running finds the processes of a home that have sessions, and asks them: the daemon,
// and each start that works without it.
//
// Ask connects to all of them. What it returns joins their lists, and carries a decision to the
// one that knows the call. ServeCalls is the other side, in a process that is no daemon.
package running
