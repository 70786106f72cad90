package io.eventbus.protocol;

import io.eventbus.schema.Ack;
import io.eventbus.schema.Ask;
import io.eventbus.schema.Authenticate;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.CallPriority;
import io.eventbus.schema.CallScope;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Capacity;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeBusFailed;
import io.eventbus.schema.ChangeReason;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Data;
import io.eventbus.schema.Deliver;
import io.eventbus.schema.Drained;
import io.eventbus.schema.Echo;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Event;
import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.schema.Feed;
import io.eventbus.schema.Gap;
import io.eventbus.schema.GapReason;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Invoke;
import io.eventbus.schema.Limits;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Publish;
import io.eventbus.schema.Register;
import io.eventbus.schema.Reply;
import io.eventbus.schema.Request;
import io.eventbus.schema.Settle;
import io.eventbus.schema.SettleOutcome;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Told;
import io.eventbus.schema.Truncated;
import io.eventbus.schema.TruncatedReason;
import io.eventbus.schema.Unregister;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.schema.Welcome;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;
import org.apache.avro.specific.SpecificRecord;

/** Arbitrary records, within the limits of the protocol. */
final class Records {
  private Records() {}

  /** Returns any text that UTF-8 can hold, of every length of encoding. */
  static Arbitrary<String> texts(int maxCodePoints) {
    Arbitrary<Integer> codePoints =
        Arbitraries.oneOf(
            Arbitraries.integers().between(0, 0x7F),
            Arbitraries.integers().between(0x80, 0x7FF),
            Arbitraries.integers().between(0x800, 0xD7FF),
            Arbitraries.integers().between(0xE000, 0xFFFF),
            Arbitraries.integers().between(0x10000, 0x10FFFF));
    return codePoints
        .list()
        .ofMaxSize(maxCodePoints)
        .map(
            list -> {
              StringBuilder text = new StringBuilder();
              list.forEach(text::appendCodePoint);
              return text.toString();
            });
  }

  static Arbitrary<Map<String, String>> maps() {
    return Arbitraries.maps(texts(5), texts(8)).ofMaxSize(5);
  }

  static Arbitrary<Event> events() {
    return Combinators.combine(
            Arbitraries.longs(),
            texts(10).injectNull(0.3),
            maps(),
            Arbitraries.bytes().array(byte[].class).ofMaxSize(40))
        .as((at, key, headers, payload) -> new Event(at, key, headers, ByteBuffer.wrap(payload)));
  }

  /** Returns mostly usual numbers, and sometimes the extremes. */
  static Arbitrary<Long> sequences() {
    return Arbitraries.frequencyOf(
        Tuple.of(4, Arbitraries.longs().between(1, 100_000)),
        Tuple.of(1, Arbitraries.longs().between(1, Long.MAX_VALUE - 1000)));
  }

  static Arbitrary<Publish> publishes() {
    return Combinators.combine(
            texts(60),
            sequences(),
            Arbitraries.longs(),
            Arbitraries.of(true, false),
            events().list().ofMinSize(1).ofMaxSize(8),
            Combinators.combine(offsets(), offsets(), offsets()).as(Tuple::of),
            producerNames(),
            sequences())
        .as(
            (topic, sequence, schema, confirm, events, wish, name, number) ->
                new Publish(
                    topic,
                    sequence,
                    schema,
                    confirm,
                    events,
                    wish.get1(),
                    wish.get2(),
                    wish.get3(),
                    name,
                    name == null ? 0L : Math.min(number, ProducerName.MAX_NUMBER - events.size())));
  }

  /** Returns texts of at most 63 bytes. */
  private static Arbitrary<String> producerNames() {
    return texts(15).injectNull(0.5);
  }

  static Arbitrary<List<Long>> groups() {
    return Arbitraries.longs().list().ofMaxSize(6);
  }

  static Arbitrary<Deliver> delivers() {
    return Combinators.combine(
            texts(60),
            Arbitraries.longs(),
            sequences(),
            Arbitraries.longs(),
            Arbitraries.longs(),
            Arbitraries.longs(),
            events().list().ofMaxSize(8),
            Combinators.combine(groups(), Arbitraries.longs(), Arbitraries.longs()).as(Tuple::of))
        .as(
            (topic, producer, sequence, schema, receivedAt, offset, events, tail) ->
                new Deliver(
                    topic,
                    producer,
                    sequence,
                    schema,
                    receivedAt,
                    offset,
                    events,
                    tail.get1(),
                    tail.get2(),
                    tail.get3()));
  }

  static Arbitrary<Hello> hellos() {
    return Combinators.combine(
            texts(20),
            texts(20),
            texts(20).injectNull(0.3),
            texts(20).injectNull(0.3),
            maps(),
            texts(20).injectNull(0.3),
            texts(20).injectNull(0.3),
            texts(20).injectNull(0.3))
        .as(Hello::new);
  }

  static Arbitrary<Welcome> welcomes() {
    Arbitrary<Integer> ints = Arbitraries.integers();
    Arbitrary<Limits> limits =
        Combinators.combine(ints, ints, ints, ints, ints, Arbitraries.longs()).as(Limits::new);
    return Combinators.combine(
            texts(20),
            texts(20),
            Arbitraries.longs(),
            texts(20),
            limits,
            texts(20).list().ofMaxSize(6),
            Combinators.combine(
                    Arbitraries.longs(), ints, ints, ints, ints, Arbitraries.of(true, false))
                .as(Tuple::of))
        .as(
            (bus, session, producer, resume, most, others, tail) ->
                new Welcome(
                    bus,
                    session,
                    producer,
                    resume,
                    most,
                    others,
                    tail.get1(),
                    tail.get2(),
                    tail.get3(),
                    tail.get4(),
                    tail.get5(),
                    tail.get6()));
  }

  static Arbitrary<Problem> problems() {
    return Combinators.combine(
            Arbitraries.of(ErrorCode.values()),
            texts(30),
            Arbitraries.of(true, false),
            Arbitraries.longs(),
            Arbitraries.integers(),
            texts(60))
        .as(Problem::new);
  }

  static Arbitrary<Subscribe> subscribes() {
    return Combinators.combine(
            Arbitraries.longs(),
            texts(60),
            texts(20).injectNull(0.3),
            Arbitraries.of(Overflow.values()))
        .as(Subscribe::new);
  }

  static Arbitrary<ChangeBus> changes() {
    return Combinators.combine(
            texts(20).list().ofMaxSize(6),
            Arbitraries.of(ChangeReason.values()),
            Arbitraries.longs(),
            texts(20),
            Arbitraries.integers())
        .as(ChangeBus::new);
  }

  static Arbitrary<Gap> gaps() {
    Arbitrary<Long> longs = Arbitraries.longs();
    return Combinators.combine(texts(60), longs, longs, longs, Arbitraries.of(GapReason.values()))
        .as(Gap::new);
  }

  static Arbitrary<Integer> counts() {
    return Arbitraries.integers().greaterOrEqual(0);
  }

  static Arbitrary<Integer> concurrencies() {
    return Arbitraries.integers().between(0, FrameLimits.MAX_CONCURRENCY);
  }

  static Arbitrary<Register> registers() {
    return Combinators.combine(
            Arbitraries.longs(),
            texts(40),
            concurrencies(),
            Arbitraries.of(true, false),
            texts(20),
            maps(),
            Arbitraries.of(Overflow.values()))
        .as(Register::new);
  }

  static Arbitrary<Request> requests() {
    return Combinators.combine(
            sequences(),
            texts(40),
            texts(20),
            Arbitraries.of(CallPriority.values()),
            Combinators.combine(counts(), counts(), counts(), offsets()).as(Tuple::of),
            Arbitraries.of(true, false),
            Combinators.combine(
                    Arbitraries.longs(),
                    Arbitraries.longs(),
                    Arbitraries.of(CallKind.values()),
                    Arbitraries.of(CallScope.values()))
                .as(Tuple::of),
            events())
        .as(
            (call, service, method, priority, times, idempotent, numbers, event) ->
                new Request(
                    call,
                    service,
                    method,
                    numbers.get3(),
                    numbers.get4(),
                    priority,
                    times.get1(),
                    times.get2(),
                    idempotent,
                    times.get3(),
                    numbers.get1(),
                    numbers.get2(),
                    event,
                    times.get4()));
  }

  /** Returns positions in a stream of bytes. */
  static Arbitrary<Long> offsets() {
    return Arbitraries.longs().greaterOrEqual(0);
  }

  static Arbitrary<Data> data() {
    return Combinators.combine(
            Arbitraries.longs(),
            offsets(),
            Arbitraries.of(true, false),
            Arbitraries.of(true, false),
            Arbitraries.bytes().array(byte[].class).ofMaxSize(40).map(ByteBuffer::wrap))
        .as(Data::new);
  }

  static Arbitrary<Invoke> invokes() {
    Arbitrary<Long> longs = Arbitraries.longs();
    return Combinators.combine(
            Combinators.combine(longs, longs, longs, longs).as(Tuple::of),
            texts(20),
            Arbitraries.of(CallKind.values()),
            counts(),
            counts(),
            texts(20),
            Combinators.combine(longs, longs, offsets()).as(Tuple::of),
            events())
        .as(
            (ids, method, kind, timeout, attempt, identity, numbers, event) ->
                new Invoke(
                    ids.get1(),
                    ids.get2(),
                    method,
                    kind,
                    timeout,
                    ids.get3(),
                    ids.get4(),
                    attempt,
                    identity,
                    numbers.get1(),
                    numbers.get2(),
                    event,
                    numbers.get3()));
  }

  static Arbitrary<Reply> replies() {
    return Combinators.combine(
            Arbitraries.longs(),
            Arbitraries.longs(),
            counts(),
            counts(),
            Arbitraries.longs(),
            events(),
            Arbitraries.of(true, false),
            offsets())
        .as(Reply::new);
  }

  static Arbitrary<Failure> failures() {
    return Combinators.combine(
            Arbitraries.longs(),
            Arbitraries.of(FailureCode.values()),
            texts(30),
            Arbitraries.of(Execution.values()),
            Combinators.combine(Arbitraries.longs(), Arbitraries.longs()).as(Tuple::of),
            texts(20),
            Arbitraries.bytes().array(byte[].class).ofMaxSize(20).map(ByteBuffer::wrap),
            Arbitraries.of(true, false))
        .as(
            (call, code, message, executed, numbers, type, details, more) ->
                new Failure(
                    call,
                    code,
                    message,
                    executed,
                    numbers.get1(),
                    numbers.get2(),
                    type,
                    details,
                    more));
  }

  static Arbitrary<Consume> consumes() {
    return Combinators.combine(
            Arbitraries.longs(),
            texts(40),
            texts(20),
            texts(20),
            Arbitraries.of(ConsumeMode.values()),
            Arbitraries.of(ConsumeStart.values()),
            Combinators.combine(offsets(), offsets(), offsets(), offsets()).as(Tuple::of))
        .as(
            (id, filter, journal, name, mode, start, numbers) ->
                new Consume(
                    id,
                    filter,
                    journal,
                    name,
                    mode,
                    start,
                    numbers.get1(),
                    numbers.get2(),
                    numbers.get3(),
                    start,
                    numbers.get4(),
                    (int) (numbers.get1() >>> 33),
                    (int) (numbers.get2() >>> 33),
                    (int) (numbers.get3() >>> 33)));
  }

  static Arbitrary<Feed> feeds() {
    return Combinators.combine(
            Arbitraries.longs(),
            sequences(),
            Arbitraries.integers().between(-1, 499),
            Arbitraries.integers().between(0, 499),
            Arbitraries.bytes().array(byte[].class).ofMaxSize(40).map(ByteBuffer::wrap),
            Arbitraries.integers().greaterOrEqual(0))
        .as(
            (id, from, more, rest, frames, attempt) ->
                new Feed(id, from, from + more, from + more + rest, frames, attempt));
  }

  static Arbitrary<Settle> settles() {
    return Combinators.combine(
            Arbitraries.longs(),
            sequences(),
            Arbitraries.of(true, false),
            offsets(),
            Arbitraries.longs().greaterOrEqual(0),
            Arbitraries.of(SettleOutcome.values()),
            Combinators.combine(
                    Arbitraries.integers().greaterOrEqual(0),
                    Arbitraries.integers().greaterOrEqual(-1))
                .as(Tuple::of),
            texts(60))
        .as(
            (id, upTo, confirm, creation, before, outcome, numbers, reason) ->
                new Settle(
                    id,
                    upTo,
                    confirm,
                    creation,
                    Math.max(0, upTo - before),
                    outcome,
                    numbers.get1(),
                    numbers.get2(),
                    reason));
  }

  /** Returns any record of any type. */
  static Arbitrary<SpecificRecord> all() {
    Arbitrary<Long> longs = Arbitraries.longs();
    Arbitrary<Long> counts = Arbitraries.longs().greaterOrEqual(0);
    return Arbitraries.oneOf(
        List.of(
            hellos().map(r -> (SpecificRecord) r),
            publishes().map(r -> (SpecificRecord) r),
            subscribes().map(r -> (SpecificRecord) r),
            changes().map(r -> (SpecificRecord) r),
            delivers().map(r -> (SpecificRecord) r),
            Combinators.combine(texts(60), longs, longs).as(Ack::new).map(r -> (SpecificRecord) r),
            longs.map(Unsubscribe::new).map(r -> (SpecificRecord) r),
            welcomes().map(r -> (SpecificRecord) r),
            problems().map(r -> (SpecificRecord) r),
            Combinators.combine(
                    Arbitraries.integers(),
                    longs,
                    texts(60),
                    longs,
                    counts,
                    Arbitraries.of(true, false),
                    counts)
                .as(Confirm::new)
                .map(r -> (SpecificRecord) r),
            gaps().map(r -> (SpecificRecord) r),
            longs.map(Barrier::new).map(r -> (SpecificRecord) r),
            longs.map(Drained::new).map(r -> (SpecificRecord) r),
            data().map(r -> (SpecificRecord) r),
            Combinators.combine(longs, counts, counts, longs)
                .as(Credit::new)
                .map(r -> (SpecificRecord) r),
            consumes().map(r -> (SpecificRecord) r),
            feeds().map(r -> (SpecificRecord) r),
            settles().map(r -> (SpecificRecord) r),
            Combinators.combine(longs, texts(20), texts(40), texts(20), counts)
                .as(Ask::new)
                .map(r -> (SpecificRecord) r),
            Combinators.combine(longs, texts(20), longs, longs, longs, longs, longs)
                .as(Told::new)
                .map(r -> (SpecificRecord) r),
            Combinators.combine(
                    longs,
                    sequences(),
                    Arbitraries.integers().between(0, 999),
                    Arbitraries.of(TruncatedReason.values()))
                .as((id, from, more, reason) -> new Truncated(id, from, from + more, reason))
                .map(r -> (SpecificRecord) r),
            Combinators.combine(texts(60), texts(20).injectNull(0.3))
                .as(Authenticate::new)
                .map(r -> (SpecificRecord) r),
            longs.map(Echo::new).map(r -> (SpecificRecord) r),
            registers().map(r -> (SpecificRecord) r),
            longs.map(Unregister::new).map(r -> (SpecificRecord) r),
            requests().map(r -> (SpecificRecord) r),
            invokes().map(r -> (SpecificRecord) r),
            replies().map(r -> (SpecificRecord) r),
            failures().map(r -> (SpecificRecord) r),
            Combinators.combine(longs, texts(20)).as(Cancel::new).map(r -> (SpecificRecord) r),
            Combinators.combine(longs, concurrencies())
                .as(Capacity::new)
                .map(r -> (SpecificRecord) r),
            Combinators.combine(texts(20), texts(60))
                .as(ChangeBusFailed::new)
                .map(r -> (SpecificRecord) r)));
  }

  /** Returns the type code that goes with a record: the records are named like the codes. */
  static TypeCode typeOf(SpecificRecord record) {
    for (TypeCode type : TypeCode.values()) {
      if (type.name().replace("_", "").equalsIgnoreCase(record.getSchema().getName())) {
        return type;
      }
    }
    throw new AssertionError("no type code for " + record.getSchema().getName());
  }
}
