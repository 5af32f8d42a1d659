package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// login writes a record and reads it: BOOTSTRAP PROTOCOL MECHANISM USER PASSWORD AUTHORITY TOPIC.
func login(words []string) error {
	bootstrap, protocol, mechanism, user, password := words[0], words[1], words[2], words[3], words[4]
	var who sasl.Mechanism
	switch mechanism {
	case "PLAIN":
		who = plain.Auth{User: user, Pass: password}.AsMechanism()
	case "SCRAM-SHA-256":
		who = scram.Auth{User: user, Pass: password}.AsSha256Mechanism()
	default:
		who = scram.Auth{User: user, Pass: password}.AsSha512Mechanism()
	}
	topic := words[6]
	options := []kgo.Opt{
		kgo.SeedBrokers(bootstrap), kgo.SASL(who), kgo.AllowAutoTopicCreation(),
		kgo.ConsumeTopics(topic), kgo.ConsumerGroup(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}
	if strings.HasSuffix(protocol, "SSL") {
		authority, err := os.ReadFile(words[5])
		if err != nil {
			return err
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(authority)
		options = append(options, kgo.DialTLSConfig(&tls.Config{RootCAs: pool}))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := client.Ping(ctx); err != nil {
		return err
	}
	record := &kgo.Record{Topic: topic, Value: []byte("secret")}
	if err := client.ProduceSync(ctx, record).FirstErr(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		found := client.PollFetches(ctx)
		if found.NumRecords() > 0 {
			return nil
		}
	}
	return fmt.Errorf("nothing came: %w", ctx.Err())
}
