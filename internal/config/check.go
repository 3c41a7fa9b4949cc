package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

func checkAddr(v string) error {
	_, port, err := net.SplitHostPort(v)
	if err != nil {
		return errors.New("not host:port")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return errors.New("the port is not a number from 0 to 65535")
	}
	return nil
}

func checkDatabase(v string) error {
	if v == "" {
		return errors.New("no database named")
	}
	scheme, _, ok := strings.Cut(v, "://")
	if ok && scheme != "postgres" && scheme != "postgresql" && scheme != "sqlite" {
		return fmt.Errorf("unknown kind of database %q", scheme)
	}
	return nil
}

func checkURL(v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("not an http or https address")
	}
	return nil
}
