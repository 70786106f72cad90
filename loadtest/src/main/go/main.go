// Command nats-call is a caller and a member of one service on a NATS server, with the Go client, for the load test.
//
// The program takes the server's address, the number of calls in flight and the bytes of a payload, says "ready", and then obeys
// lines of the standard input, each with one line: start, measure, counts, stop. It ends when its input does.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	service   = "load"
	timeout   = 30 * time.Second
	precision = 7 // bits: a latency is right within 1 %
)

type place struct {
	number uint64        // of the last call; of the place's goroutine
	served atomic.Uint64 // the number that the member got last
}

type counts struct{ called, answered, failed, doubled, foreign atomic.Int64 }

type load struct {
	caller   *nats.Conn
	places   []place
	bytes    int
	counts   counts
	failure  atomic.Value
	calling  atomic.Bool
	measured atomic.Pointer[histogram]
	wait     sync.WaitGroup
}

type histogram struct {
	begin   time.Time
	buckets [64 << precision]atomic.Int64
}

func (h *histogram) record(nanos uint64) {
	h.buckets[bucket(nanos)].Add(1)
}

func bucket(nanos uint64) int {
	shift := max(0, bits.Len64(nanos)-precision-1)
	return shift<<precision + int(nanos>>shift)
}

func value(bucket int) uint64 {
	shift := max(0, bucket>>precision-1)
	return uint64(bucket-shift<<precision) << shift
}

func connect(url, name string) *nats.Conn {
	connection, err := nats.Connect(url, nats.Name(name), nats.NoReconnect())
	if err != nil {
		fmt.Println("failed: " + err.Error())
		os.Exit(1)
	}
	return connection
}

func (l *load) serve(request *nats.Msg) {
	if len(request.Data) == l.bytes {
		at := binary.BigEndian.Uint32(request.Data)
		number := binary.BigEndian.Uint64(request.Data[4:])
		if int(at) < len(l.places) && l.places[at].served.Swap(number) == number {
			l.counts.doubled.Add(1)
		}
	}
	_ = request.Respond(request.Data)
}

func (l *load) call(at int) {
	defer l.wait.Done()
	payload := make([]byte, l.bytes)
	binary.BigEndian.PutUint32(payload, uint32(at))
	for l.calling.Load() {
		l.places[at].number++
		binary.BigEndian.PutUint64(payload[4:], l.places[at].number)
		l.counts.called.Add(1)
		begin := time.Now()
		answer, err := l.caller.Request(service, payload, timeout)
		switch {
		case err != nil:
			l.counts.failed.Add(1)
			l.failure.CompareAndSwap(nil, err.Error())
		case !bytes.Equal(answer.Data, payload):
			l.counts.foreign.Add(1)
		default:
			l.counts.answered.Add(1)
			if h := l.measured.Load(); h != nil && !begin.Before(h.begin) {
				h.record(uint64(time.Since(begin)))
			}
		}
	}
}

func (l *load) start() string {
	l.calling.Store(true)
	for at := range l.places {
		l.wait.Add(1)
		go l.call(at)
	}
	return "started"
}

func (l *load) stop() string {
	l.calling.Store(false)
	l.wait.Wait()
	var line strings.Builder
	line.WriteString("latency")
	if h := l.measured.Swap(nil); h != nil {
		for i := range h.buckets {
			if n := h.buckets[i].Load(); n > 0 {
				fmt.Fprintf(&line, " %d:%d", value(i), n)
			}
		}
	}
	return line.String()
}

func (l *load) obey(order string) string {
	switch order {
	case "start":
		return l.start()
	case "measure":
		l.measured.Store(&histogram{begin: time.Now()})
		return "measuring"
	case "counts":
		c := &l.counts
		failure, _ := l.failure.Load().(string)
		return fmt.Sprintf("counts %d %d %d %d %d %s",
			c.called.Load(), c.answered.Load(), c.failed.Load(), c.doubled.Load(), c.foreign.Load(), failure)
	case "stop":
		return l.stop()
	}
	return "failed: order: " + order + " (expected: start, measure, counts or stop)"
}

func number(text string, least int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		fmt.Printf("failed: %s (expected: a number from %d)\n", text, least)
		os.Exit(2)
	}
	return n
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("nats.go v" + nats.Version)
		return
	}
	if len(os.Args) != 4 {
		fmt.Println("failed: arguments (expected: URL, calls in flight, bytes)")
		os.Exit(2)
	}
	l := &load{places: make([]place, number(os.Args[2], 1)), bytes: number(os.Args[3], 12)}
	member := connect(os.Args[1], "member")
	if _, err := member.QueueSubscribe(service, service, l.serve); err != nil {
		fmt.Println("failed: " + err.Error())
		os.Exit(1)
	}
	_ = member.Flush()
	l.caller = connect(os.Args[1], "caller")
	fmt.Println("ready")
	for orders := bufio.NewScanner(os.Stdin); orders.Scan(); {
		fmt.Println(l.obey(orders.Text()))
	}
}
