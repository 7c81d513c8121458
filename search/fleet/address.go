package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"pawl/internal/usage"
)

// Address is where a broker is and how to show who one is.
type Address struct {
	// URL is nats://HOST:PORT on this machine, tls://HOST:PORT elsewhere; "" for none.
	URL string
	// Key is a file with an NKEY seed, made by pawl-broker key. It is required off this machine.
	Key string
	// CA is a file of certificates that the broker's is checked against, PEM; "" for those of
	// the system.
	CA string
}

// Given reports whether there is an address.
func (a Address) Given() bool { return a.URL != "" }

// Loopback reports whether host names this machine and nothing else.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Check refuses an address that is malformed, and one that would send anything over a network
// in the clear or without showing a key. No message repeats a password.
func (a Address) Check() error {
	u, err := url.Parse(a.URL)
	if err != nil || u.Host == "" || u.Port() == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return usage.New("the address of the broker is malformed", "example: --nats nats://127.0.0.1:4222, or --nats tls://broker.example:4222")
	}
	if u.User != nil {
		return usage.New("the address of the broker contains a name or a password", "leave it out and use --nats-key FILE, a key made by pawl-broker key FILE")
	}
	switch u.Scheme {
	case "tls":
	case "nats":
		if !Loopback(u.Hostname()) {
			return usage.Newf(fmt.Sprintf("--nats tls://%s, with a broker that has a certificate (docs/CLUSTER.md)", u.Host),
				"--nats %s: a connection to another machine must be encrypted", a.URL)
		}
	default:
		return usage.Newf("use nats:// on this machine and tls:// elsewhere", "--nats: unknown scheme %q", u.Scheme)
	}
	if a.Key == "" && !Loopback(u.Hostname()) {
		return usage.Newf("make one with pawl-broker key FILE and add its public part to the broker's list", "--nats %s: a broker on another machine needs --nats-key", a.URL)
	}
	return nil
}

// pinged is how often two ends of a connection make sure of each other: one that was cut off
// is noticed after two to three times as long, and made again.
const pinged = 5 * time.Second

// Timeout is how long a broker may take to answer the first time.
const Timeout = 5 * time.Second

// Dial connects to the broker. Later interruptions are mended in the background, for as long
// as it takes.
func Dial(ctx context.Context, a Address, name string) (*nats.Conn, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	options := []nats.Option{nats.Name(name), nats.Timeout(Timeout), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectBufSize(-1),
		nats.PingInterval(pinged), nats.MaxPingsOutstanding(2)}
	if strings.HasPrefix(a.URL, "tls:") {
		config := &tls.Config{MinVersion: tls.VersionTLS13}
		if a.CA != "" {
			pem, err := os.ReadFile(a.CA)
			if err != nil {
				return nil, usage.Newf("--nats-ca takes a file of certificates in PEM", "--nats-ca: %v", err)
			}
			config.RootCAs = x509.NewCertPool()
			if !config.RootCAs.AppendCertsFromPEM(pem) {
				return nil, usage.Newf("--nats-ca takes a file of certificates in PEM", "%s: no certificate", a.CA)
			}
		}
		options = append(options, nats.Secure(config))
	}
	if a.Key != "" {
		option, err := nkey(a.Key)
		if err != nil {
			return nil, err
		}
		options = append(options, option)
	}
	nc, err := nats.Connect(a.URL, options...)
	if err != nil {
		return nil, connectError(a, err)
	}
	if ctx.Err() != nil {
		nc.Close()
		return nil, ctx.Err()
	}
	return nc, nil
}

// nkey signs the broker's challenge with the seed in a file. A seed that others may read is
// refused, and none is ever printed.
func nkey(path string) (nats.Option, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, usage.Newf("make a key with pawl-broker key FILE", "--nats-key: %v", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, usage.Newf("chmod 600 "+path, "%s can be read by others", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, usage.Newf("make a key with pawl-broker key FILE", "--nats-key: %v", err)
	}
	pair, err := nkeys.FromSeed([]byte(strings.TrimSpace(string(b))))
	clear(b)
	if err != nil {
		return nil, usage.Newf("make a key with pawl-broker key FILE", "%s does not contain a key", path)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	return nats.Nkey(public, pair.Sign), nil
}

func connectError(a Address, err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), strings.Contains(err.Error(), "nkeys not supported"), strings.Contains(strings.ToLower(err.Error()), "authorization"):
		return usage.Newf("add the public part of the key to the broker's list (pawl-broker key prints it), or name the right key with --nats-key", "--nats %s: the broker refuses these credentials", a.URL)
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrTimeout), errors.Is(err, os.ErrDeadlineExceeded):
		return usage.Newf("start one with pawl-broker, or correct the address", "--nats %s: no broker answers", a.URL)
	case errors.Is(err, nats.ErrSecureConnWanted), errors.Is(err, nats.ErrSecureConnRequired):
		return usage.Newf("use tls:// where the broker has a certificate, and nats:// where it has none", "--nats %s: the broker and the address disagree on encryption", a.URL)
	}
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	if errors.As(err, &unknown) || errors.As(err, &host) || strings.Contains(err.Error(), "x509:") {
		return usage.Newf("name the certificate of its authority with --nats-ca FILE; the name in the address must be in the certificate", "--nats %s: the broker's certificate is not trusted: %v", a.URL, err)
	}
	return usage.Newf("start one with pawl-broker, or correct the address", "--nats %s: %v", a.URL, err)
}
