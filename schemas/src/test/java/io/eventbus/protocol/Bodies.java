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
import io.eventbus.schema.Frame;
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
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecord;
import org.apache.avro.util.ClassSecurityValidator;

/** Bodies of frames, as the Avro library and as our readers see them. */
final class Bodies {
  static {
    // The library makes objects only of classes that are declared as trusted.
    ClassSecurityValidator.Builder trusted = ClassSecurityValidator.builder();
    List.of(
            Ack.class,
            Ask.class,
            Authenticate.class,
            Barrier.class,
            CallKind.class,
            CallPriority.class,
            CallScope.class,
            Cancel.class,
            Capacity.class,
            ChangeBus.class,
            ChangeBusFailed.class,
            ChangeReason.class,
            Confirm.class,
            Consume.class,
            ConsumeMode.class,
            ConsumeStart.class,
            Credit.class,
            Data.class,
            Deliver.class,
            Drained.class,
            Echo.class,
            ErrorCode.class,
            Event.class,
            Execution.class,
            Failure.class,
            FailureCode.class,
            Feed.class,
            Frame.class,
            Gap.class,
            GapReason.class,
            Hello.class,
            Invoke.class,
            Limits.class,
            Overflow.class,
            Problem.class,
            Publish.class,
            Register.class,
            Reply.class,
            Request.class,
            Settle.class,
            Subscribe.class,
            Told.class,
            Truncated.class,
            SettleOutcome.class,
            TruncatedReason.class,
            Unregister.class,
            Unsubscribe.class,
            Welcome.class)
        .forEach(trusted::add);
    ClassSecurityValidator.setGlobal(
        ClassSecurityValidator.composite(ClassSecurityValidator.DEFAULT, trusted.build()));
  }

  private Bodies() {}

  /** Reader of a body from a range of a buffer. */
  interface Reader {
    SpecificRecord read(ByteBuffer buf, int from, int to);
  }

  /** Our readers of every record. */
  static final Map<TypeCode, Reader> READERS = readers();

  private static Map<TypeCode, Reader> readers() {
    Map<TypeCode, Reader> readers = new LinkedHashMap<>();
    readers.put(TypeCode.HELLO, ControlFrames::hello);
    readers.put(TypeCode.PUBLISH, Bodies::publish);
    readers.put(TypeCode.SUBSCRIBE, ControlFrames::subscribe);
    readers.put(TypeCode.CHANGE_BUS, ControlFrames::changeBus);
    readers.put(TypeCode.DELIVER, Bodies::deliver);
    readers.put(TypeCode.ACK, ControlFrames::ack);
    readers.put(TypeCode.UNSUBSCRIBE, ControlFrames::unsubscribe);
    readers.put(TypeCode.WELCOME, ControlFrames::welcome);
    readers.put(TypeCode.PROBLEM, ControlFrames::problem);
    readers.put(TypeCode.CONFIRM, ControlFrames::confirm);
    readers.put(TypeCode.GAP, ControlFrames::gap);
    readers.put(TypeCode.BARRIER, ControlFrames::barrier);
    readers.put(TypeCode.DRAINED, ControlFrames::drained);
    readers.put(TypeCode.CHANGE_BUS_FAILED, ControlFrames::changeBusFailed);
    readers.put(TypeCode.REGISTER, ServiceFrames::register);
    readers.put(TypeCode.UNREGISTER, ServiceFrames::unregister);
    readers.put(TypeCode.REQUEST, Bodies::request);
    readers.put(TypeCode.INVOKE, Bodies::invoke);
    readers.put(TypeCode.REPLY, Bodies::reply);
    readers.put(TypeCode.FAILURE, ServiceFrames::failure);
    readers.put(TypeCode.CANCEL, ServiceFrames::cancel);
    readers.put(TypeCode.CAPACITY, ServiceFrames::capacity);
    readers.put(TypeCode.CREDIT, ControlFrames::credit);
    readers.put(TypeCode.DATA, Bodies::data);
    readers.put(TypeCode.AUTHENTICATE, ControlFrames::authenticate);
    readers.put(TypeCode.ECHO, ControlFrames::echo);
    readers.put(TypeCode.CONSUME, DurableFrames::consume);
    readers.put(TypeCode.FEED, Bodies::feed);
    readers.put(TypeCode.SETTLE, DurableFrames::settle);
    readers.put(TypeCode.ASK, DurableFrames::ask);
    readers.put(TypeCode.TOLD, DurableFrames::told);
    readers.put(TypeCode.TRUNCATED, DurableFrames::truncated);
    return readers;
  }

  static SpecificRecord read(TypeCode type, byte[] body) {
    Reader reader = READERS.get(type);
    if (reader == null) {
      throw new AssertionError("no reader for " + type);
    }
    return reader.read(ByteBuffer.wrap(body), 0, body.length);
  }

  /** Reads a Publish by our reader, through the form that the bus passes on. */
  static Publish publish(ByteBuffer buf, int from, int to) {
    PublishView view = new PublishView();
    view.read(buf, from, to, FrameLimits.DEFAULT);
    ByteBuffer events = ByteBuffer.allocate(view.eventsSize());
    view.writeEvents(events);
    if (events.hasRemaining()) {
      throw new AssertionError("eventsSize is " + events.remaining() + " bytes too large");
    }
    EventCursor cursor = new EventCursor().wrap(events, 0, events.capacity(), FrameLimits.DEFAULT);
    return new Publish(
        view.topic(),
        view.sequence(),
        view.schema(),
        view.confirm(),
        events(cursor),
        view.expect(),
        view.delayMillis(),
        view.ttlMillis(),
        view.producerName(),
        view.number());
  }

  static Deliver deliver(ByteBuffer buf, int from, int to) {
    DeliverView view = new DeliverView();
    view.read(buf, from, to, FrameLimits.DEFAULT);
    List<Event> events = events(view.events());
    if (events.size() != view.eventCount()) {
      throw new AssertionError(events.size() + " events (expected: " + view.eventCount() + ")");
    }
    List<Long> groups = new ArrayList<>();
    for (int i = 0; i < view.groupCount(); i++) {
      groups.add(view.group(i));
    }
    return new Deliver(
        view.topic(),
        view.producer(),
        view.sequence(),
        view.schema(),
        view.receivedAt(),
        view.offset(),
        events,
        groups,
        view.originProducer(),
        view.originSequence());
  }

  static Request request(ByteBuffer buf, int from, int to) {
    RequestView view = new RequestView();
    view.read(buf, from, to, FrameLimits.DEFAULT);
    return new Request(
        view.call(),
        view.service(),
        view.method(),
        Objects.requireNonNullElse(view.kind(), CallKind.REPLY),
        Objects.requireNonNullElse(view.scope(), CallScope.ONE),
        Objects.requireNonNullElse(view.priority(), CallPriority.NORMAL),
        view.timeoutMillis(),
        view.waitMillis(),
        view.idempotent(),
        view.attempt(),
        view.member(),
        view.schema(),
        event(view.event()),
        view.limit());
  }

  static Data data(ByteBuffer buf, int from, int to) {
    DataView view = new DataView();
    view.read(buf, from, to);
    byte[] payload = new byte[view.payloadLength()];
    buf.get(view.payloadStart(), payload);
    return new Data(view.call(), view.offset(), view.more(), view.last(), ByteBuffer.wrap(payload));
  }

  static Feed feed(ByteBuffer buf, int from, int to) {
    FeedView view = new FeedView();
    view.read(buf, from, to);
    byte[] frames = new byte[view.framesEnd() - view.framesStart()];
    buf.get(view.framesStart(), frames);
    return new Feed(
        view.id(), view.from(), view.to(), view.head(), ByteBuffer.wrap(frames), view.attempt());
  }

  static Invoke invoke(ByteBuffer buf, int from, int to) {
    InvokeView view = new InvokeView();
    view.read(buf, from, to, FrameLimits.DEFAULT);
    return new Invoke(
        view.call(),
        view.service(),
        view.method(),
        Objects.requireNonNullElse(view.kind(), CallKind.REPLY),
        view.timeoutMillis(),
        view.caller(),
        view.request(),
        view.attempt(),
        view.identity(),
        view.receivedAt(),
        view.schema(),
        event(view.event()),
        view.limit());
  }

  static Reply reply(ByteBuffer buf, int from, int to) {
    ReplyView view = new ReplyView();
    view.read(buf, from, to, FrameLimits.DEFAULT);
    return new Reply(
        view.call(),
        view.member(),
        view.queuedMicros(),
        view.handledMicros(),
        view.schema(),
        event(view.event()),
        view.more(),
        view.limit());
  }

  static Event event(EventCursor cursor) {
    return new Event(
        cursor.publishedAt(), cursor.key(), cursor.headers(), ByteBuffer.wrap(cursor.payload()));
  }

  static List<Event> events(EventCursor cursor) {
    List<Event> events = new ArrayList<>();
    while (cursor.next()) {
      events.add(event(cursor));
    }
    return events;
  }

  /**
   * Returns the body as the Avro library writes it: arrays and maps in one block without a size.
   */
  static byte[] avro(IndexedRecord record) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
      new SpecificDatumWriter<IndexedRecord>(record.getSchema(), SpecificData.get())
          .write(record, encoder);
      encoder.flush();
      return bytes.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the record as the Avro library reads it; fails if bytes are left over. */
  static SpecificRecord avro(Schema schema, byte[] body) {
    try {
      BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(body, null);
      SpecificRecord record = new SpecificDatumReader<SpecificRecord>(schema).read(null, decoder);
      requireEnd(decoder);
      return record;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the record as the Avro library reads it; ignores bytes behind it. */
  static SpecificRecord avroPrefix(Schema schema, byte[] body) {
    try {
      BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(body, null);
      return new SpecificDatumReader<SpecificRecord>(schema).read(null, decoder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the record as a program without generated types reads it. */
  static GenericRecord generic(Schema schema, byte[] body) {
    try {
      BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(body, null);
      GenericRecord record = new GenericDatumReader<GenericRecord>(schema).read(null, decoder);
      requireEnd(decoder);
      return record;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads a message as frames, by the Avro library; fails unless it is that to its end. */
  static void requireFrames(byte[] message) {
    try {
      BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(message, null);
      SpecificDatumReader<Frame> reader = new SpecificDatumReader<>(Frame.getClassSchema());
      while (!decoder.isEnd()) {
        reader.read(null, decoder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void requireEnd(BinaryDecoder decoder) throws IOException {
    if (!decoder.isEnd()) {
      throw new AssertionError("bytes are left over after the record");
    }
  }

  /** Returns the body of the only frame in a message, by the Avro library. */
  static byte[] bodyOf(TypeCode type, byte[] message) {
    Frame frame = (Frame) avro(Frame.getClassSchema(), message);
    if (frame.getTypeCode() != type.code()) {
      throw new AssertionError("type " + frame.getTypeCode() + " (expected: " + type.code() + ")");
    }
    return bytes(frame.getBody());
  }

  static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }

  /** Returns the body in the middle of a buffer full of other bytes. */
  static ByteBuffer surrounded(byte[] body, int before, int after, int poison, boolean direct) {
    byte[] all = new byte[before + body.length + after];
    Arrays.fill(all, (byte) poison);
    System.arraycopy(body, 0, all, before, body.length);
    ByteBuffer buffer =
        direct ? ByteBuffer.allocateDirect(all.length) : ByteBuffer.allocate(all.length);
    return buffer.put(all).clear();
  }
}
