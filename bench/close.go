package main

import (
	"errors"
	"io"
)

// joinClose closes what an error leaves behind.
func joinClose(err error, c io.Closer) error { return errors.Join(err, c.Close()) }
