// Package broker runs a NATS server that keeps the queues of studies in memory, for teams that
// have none. It listens on one port, writes nothing to the disk and has no monitoring port.
package broker

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"pawl/internal/usage"
	"pawl/search/fleet"
)

// Options say where a broker listens and whom it lets in.
type Options struct {
	// Listen is HOST:PORT; port 0 takes a free one.
	Listen string
	// Certificate and CertificateKey are files in PEM, for encrypted connections.
	Certificate, CertificateKey string
	// Keys is a file with the public NKEY of everybody who may connect, one a line; # begins a
	// comment. "" lets everybody in.
	Keys string
	// Memory bounds the queues, in bytes; 0 for 256 MB.
	Memory int64
}

// Broker is a running one.
type Broker struct {
	server *server.Server
	folder string
}

// maxPayload bounds one message.
const maxPayload = 8 << 20

// Start starts a broker. Off this machine it wants a certificate and a list of keys.
func Start(o Options) (*Broker, error) {
	host, port, err := net.SplitHostPort(o.Listen)
	number, errPort := strconv.Atoi(port)
	if err != nil || errPort != nil || number < 0 || number > 65535 || host == "" {
		return nil, usage.Newf("example: --listen 127.0.0.1:4222", "--listen %q is not HOST:PORT", o.Listen)
	}
	switch {
	case !fleet.Loopback(host) && (o.Certificate == "" || o.Keys == ""):
		return nil, usage.Newf("add --tls-cert, --tls-key and --keys (docs/CLUSTER.md), or listen on 127.0.0.1", "--listen %s can be reached from other machines: a certificate and a list of keys are required", o.Listen)
	case (o.Certificate == "") != (o.CertificateKey == ""):
		return nil, usage.New("one of --tls-cert and --tls-key is missing", "give both")
	}
	if number == 0 {
		number = server.RANDOM_PORT
	}
	memory := o.Memory
	if memory == 0 {
		memory = 256 << 20
	}
	folder, err := os.MkdirTemp("", "pawl-broker-")
	if err != nil {
		return nil, err
	}
	options := &server.Options{Host: host, Port: number, ServerName: "pawl-broker", JetStream: true, StoreDir: folder, JetStreamMaxMemory: memory,
		JetStreamMaxStore: 1, MaxPayload: maxPayload, PingInterval: 5 * time.Second, MaxPingsOut: 2, NoSigs: true, NoLog: true}
	if o.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(o.Certificate, o.CertificateKey)
		if err != nil {
			_ = os.RemoveAll(folder)
			return nil, usage.Newf("--tls-cert and --tls-key take files in PEM that belong together", "the certificate cannot be used: %v", err)
		}
		options.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}
		options.TLSTimeout = 5
	}
	if o.Keys != "" {
		if options.Nkeys, err = readKeys(o.Keys); err != nil {
			_ = os.RemoveAll(folder)
			return nil, err
		}
	}
	// A port that is taken is said here; the server would only log it.
	probe, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		_ = os.RemoveAll(folder)
		return nil, usage.Newf("choose another port, or stop what uses it", "--listen %s: %v", o.Listen, err)
	}
	_ = probe.Close()
	s, err := server.NewServer(options)
	if err != nil {
		_ = os.RemoveAll(folder)
		return nil, err
	}
	b := &Broker{s, folder}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		b.Stop()
		return nil, fmt.Errorf("the broker does not listen on %s", o.Listen)
	}
	return b, nil
}

// readKeys reads the list of those who may connect.
func readKeys(path string) (all []*server.NkeyUser, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, usage.Newf("--keys takes a file with one public key per line", "--keys: %v", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !nkeys.IsValidPublicUserKey(line) {
			return nil, usage.Newf("pawl-broker key FILE prints the public part, which begins with U", "%s:%d: not a public key", path, n)
		}
		all = append(all, &server.NkeyUser{Nkey: line})
	}
	if err := lines.Err(); err != nil {
		return nil, usage.Newf("--keys takes a file with one public key per line", "%s: %v", path, err)
	}
	if len(all) == 0 {
		return nil, usage.Newf("add a line for every machine: pawl-broker key FILE prints it", "%s lists no key: nobody could connect", path)
	}
	return all, nil
}

// Port is the one that it listens on.
func (b *Broker) Port() int { return b.server.Addr().(*net.TCPAddr).Port }

// Stop ends it. What was in its queues is gone; coordinators publish it again.
func (b *Broker) Stop() {
	b.server.Shutdown()
	b.server.WaitForShutdown()
	_ = os.RemoveAll(b.folder)
}

// MakeKey writes a new key into a file that its owner alone can read, and returns its public
// part. Of a file that is there already it returns the public part and changes nothing.
func MakeKey(path string) (public string, made bool, err error) {
	if b, err := os.ReadFile(path); err == nil {
		pair, err := nkeys.FromSeed(bytes.TrimSpace(b))
		if err != nil {
			return "", false, usage.Newf("name another file", "%s is there already and is not a key", path)
		}
		public, err = pair.PublicKey()
		return public, false, err
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", false, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return "", false, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		if errors.Is(err, fs.ErrExist) {
			return "", false, usage.Newf("name another file", "%s is there already and cannot be read", path)
		}
		return "", false, usage.Newf("name a file in a folder that you can write", "%v", err)
	}
	_, err = f.Write(append(seed, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
		return "", false, err
	}
	public, err = pair.PublicKey()
	return public, true, err
}
