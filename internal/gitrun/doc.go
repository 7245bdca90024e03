// Package gitrun runs git on the host over repositories that an agent may have written
// to. A few hundred bytes of objects can stand for billions of files, and a file of
// zeros for gigabytes. So git gets a bounded memory and time, ends with this process,
// obeys our settings in what costs memory, and runs once at a time for each Class.
package gitrun
