package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead"
)

// door keeps out who has no business here: a page of a foreign site that a browser lends its network to (by a name that
// points here, or by a request it sends blindly), and everybody without a token.
type door struct {
	hosts []string // lower case, with a port or without
	auth  Authenticator
}

// newDoor makes the door of a server that listens on addr and is also known by hosts. Entries with a port match that
// port alone, others every port.
func newDoor(addr string, hosts []string, auth Authenticator) *door {
	d := &door{hosts: []string{"localhost", "127.0.0.1", "::1"}, auth: auth}
	if host, _, err := net.SplitHostPort(addr); err == nil && host != "" {
		d.hosts = append(d.hosts, strings.ToLower(host))
	}
	for _, h := range hosts {
		h = strings.ToLower(strings.TrimSpace(h))
		if inner, ok := strings.CutPrefix(h, "["); ok && strings.HasSuffix(inner, "]") {
			h = strings.TrimSuffix(inner, "]")
		}
		if h != "" {
			d.hosts = append(d.hosts, h)
		}
	}
	return d
}

// unguarded lists the paths that need no token: they say nothing but whether the server is there.
var unguarded = []string{"/healthz", "/readyz"}

// admit checks a request in the fixed order: Host, Origin, what cannot be a path, token. It fills the call's caller.
func (d *door) admit(r *http.Request, c *call) error {
	if !d.knows(r.Host) {
		return fairlead.Errorf(fairlead.CodeForbidden, "this server does not answer to that Host").
			WithHint("use localhost or the server's address, or add the name to hosts in config.yaml")
	}
	if err := checkOrigin(r); err != nil {
		return err
	}
	if err := checkTarget(r.URL); err != nil {
		return err
	}
	if slices.Contains(unguarded, r.URL.Path) {
		return nil
	}
	secret, ok := bearer(r.Header)
	if !ok {
		return fairlead.Errorf(fairlead.CodeUnauthenticated, "a token is missing").
			WithHint("send the header Authorization: Bearer TOKEN; the owner's token is in the file token of the server's home")
	}
	caller, err := d.auth.Authenticate(r.Context(), secret)
	if err != nil {
		return err
	}
	c.caller = caller
	return nil
}

// knows reports whether a Host header names this server.
func (d *door) knows(hostport string) bool {
	hostport = strings.ToLower(hostport)
	if hostport == "" {
		return false
	}
	if slices.Contains(d.hosts, hostport) {
		return true
	}
	u := url.URL{Host: hostport}
	host := u.Hostname()
	if a, err := netip.ParseAddr(host); err == nil {
		host = a.String() // one spelling of an IPv6 address
	}
	if p := u.Port(); p == "" && strings.HasSuffix(hostport, ":") || strings.ContainsAny(host, " /@") {
		return false
	}
	return slices.Contains(d.hosts, host)
}

// checkOrigin lets a request pass that comes from no page or from one of this very host.
func checkOrigin(r *http.Request) error {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil
	}
	refused := fairlead.Errorf(fairlead.CodeForbidden, "pages of other origins may not use this server").
		WithHint("open the page from this server itself")
	if len(origins) > 1 {
		return refused
	}
	u, err := url.Parse(origins[0])
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return refused
	}
	if !strings.EqualFold(bareHost(u.Scheme, u.Host), bareHost(u.Scheme, r.Host)) {
		return refused
	}
	return nil
}

// bareHost drops the port that goes without saying.
func bareHost(scheme, host string) string {
	if scheme == "https" {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}

// checkTarget refuses what no database takes and no name holds. A dot segment is refused instead of being followed:
// names never hold one, so it is an attempt to leave the path.
func checkTarget(u *url.URL) error {
	if !clean(u.Path) {
		return fairlead.Errorf(fairlead.CodeMalformed, "the path holds bytes that are no text").WithHint("encode it as UTF-8")
	}
	for segment := range strings.SplitSeq(strings.Trim(u.Path, "/"), "/") {
		if segment == "." || segment == ".." {
			return fairlead.Errorf(fairlead.CodeNotFound, "there is nothing under this path")
		}
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fairlead.Errorf(fairlead.CodeMalformed, "the query cannot be read").WithHint("escape %% as %%25 and ; as %%3B")
	}
	for key, values := range query {
		if !clean(key) || slices.ContainsFunc(values, func(v string) bool { return !clean(v) }) {
			return fairlead.Errorf(fairlead.CodeMalformed, "the query holds bytes that are no text").WithHint("encode it as UTF-8")
		}
		if len(values) > 1 {
			return fairlead.Errorf(fairlead.CodeMalformed, "a query parameter is given twice").WithHint("give each once")
		}
	}
	return nil
}

func clean(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// bearer returns the token of a request's one Authorization header.
func bearer(h http.Header) (string, bool) {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, secret, ok := strings.Cut(values[0], " ")
	secret = strings.TrimSpace(secret)
	return secret, ok && strings.EqualFold(scheme, "Bearer") && secret != "" && len(secret) <= 512 && clean(secret)
}
