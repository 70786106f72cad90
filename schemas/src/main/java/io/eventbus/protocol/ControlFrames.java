package io.eventbus.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.eventbus.schema.Ack;
import io.eventbus.schema.Authenticate;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeBusFailed;
import io.eventbus.schema.ChangeReason;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Drained;
import io.eventbus.schema.Echo;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Gap;
import io.eventbus.schema.GapReason;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Limits;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.schema.Welcome;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecord;
import org.jspecify.annotations.Nullable;

/**
 * Writer and reader of the frames that are not on the fast path.
 *
 * <p>Writing is the Avro library's. Reading is ours, because the library believes the number of
 * items that a block states and allocates for it; here every size is checked first. A body that
 * ends before a field with a default takes the default, and bytes behind the last known field are
 * ignored, so that later versions can add fields. The methods named after a record read its body
 * and throw {@link MalformedFrameException}. Stateless; any thread.
 */
public final class ControlFrames {
  private static final int MAX_ADDRESSES = 1024;
  private static final int MAX_ADDRESS_BYTES = 2048;
  static final int MAX_MESSAGE_BYTES = 4096;

  private ControlFrames() {}

  /**
   * Encodes a record as a whole frame.
   *
   * @param type the type code that names the record's type
   * @param record the record, of the type that goes with the code
   * @return a new array with one frame
   */
  public static byte[] encode(TypeCode type, SpecificRecord record) {
    byte[] body = encodeBody(record);
    ByteBuffer frame = ByteBuffer.allocate(Frames.headSize(type, body.length) + body.length);
    Frames.writeHead(frame, type, body.length);
    frame.put(body);
    return frame.array();
  }

  /**
   * Encodes a record as the body of a frame.
   *
   * @param record the record
   * @return a new array
   */
  public static byte[] encodeBody(SpecificRecord record) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
    try {
      BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
      // With the schema alone the library would look up the record's class by name, which it
      // forbids
      // for classes that the application has not declared as trusted.
      new SpecificDatumWriter<SpecificRecord>(record.getSchema(), SpecificData.get())
          .write(record, encoder);
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
    return bytes.toByteArray();
  }

  /**
   * Reads a {@code Hello}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Hello hello(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    Hello hello = new Hello();
    hello.setClient(in.readString("Hello.client", FrameLimits.MAX_NAME_BYTES));
    hello.setAgent(in.readString("Hello.agent", FrameLimits.MAX_NAME_BYTES));
    hello.setAttributes(Map.of());
    if (in.atEnd()) {
      return hello;
    }
    if (in.readPresent("Hello.token")) {
      hello.setToken(in.readString("Hello.token", FrameLimits.MAX_TOKEN_BYTES));
    }
    if (in.atEnd()) {
      return hello;
    }
    if (in.readPresent("Hello.resume")) {
      hello.setResume(in.readString("Hello.resume", FrameLimits.MAX_TOKEN_BYTES));
    }
    if (in.atEnd()) {
      return hello;
    }
    hello.setAttributes(
        texts(in, "Hello.attributes", FrameLimits.MAX_ATTRIBUTES, FrameLimits.MAX_ATTRIBUTE_BYTES));
    if (!in.atEnd() && in.readPresent("Hello.change")) {
      hello.setChange(in.readString("Hello.change", FrameLimits.MAX_TOKEN_BYTES));
    }
    if (!in.atEnd() && in.readPresent("Hello.user")) {
      hello.setUser(in.readString("Hello.user", FrameLimits.MAX_NAME_BYTES));
    }
    if (!in.atEnd() && in.readPresent("Hello.previous")) {
      hello.setPrevious(in.readString("Hello.previous", FrameLimits.MAX_NAME_BYTES));
    }
    return hello;
  }

  /** Reads a map of short texts, bounded in number and in bytes. */
  static Map<String, String> texts(BodyReader in, String field, int maxEntries, int maxBytes) {
    Map<String, String> texts = new LinkedHashMap<>();
    int count = 0;
    int first = in.position();
    int bytes = 0;
    for (long n = in.readBlockCount(field, 2); n > 0; n = in.readBlockCount(field, 2)) {
      int blockEnd = in.blockEnd();
      if (count + n > maxEntries) {
        throw in.tooBig(field + " count", in.position(), count + n, maxEntries);
      }
      count += (int) n;
      for (long i = 0; i < n; i++) {
        String name = in.readString(field + " name", FrameLimits.MAX_NAME_BYTES);
        String value = in.readString(field + " value", FrameLimits.MAX_NAME_BYTES);
        bytes += name.getBytes(UTF_8).length + value.getBytes(UTF_8).length;
        if (bytes > maxBytes) {
          throw in.tooBig(field + " bytes", first, bytes, maxBytes);
        }
        texts.put(name, value);
      }
      in.checkBlockEnd(field, blockEnd);
    }
    return texts;
  }

  /**
   * Reads a {@code Subscribe}. The filter is valid UTF-8, but may be illegal as a filter.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Subscribe subscribe(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    Subscribe subscribe = new Subscribe();
    subscribe.setId(in.readLong("Subscribe.id"));
    subscribe.setFilter(in.readString("Subscribe.filter", Topic.MAX_BYTES));
    subscribe.setOverflow(Overflow.BLOCK);
    if (!in.atEnd() && in.readPresent("Subscribe.group")) {
      subscribe.setGroup(in.readString("Subscribe.group", FrameLimits.MAX_NAME_BYTES));
    }
    if (!in.atEnd()) {
      subscribe.setOverflow(symbol(in, "Subscribe.overflow", Overflow.values(), null));
    }
    return subscribe;
  }

  /**
   * Reads the id of a {@code Subscribe} of which the rest may be too big.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the id
   */
  public static long subscribeId(ByteBuffer buf, int from, int to) {
    return new BodyReader().wrap(buf, from, to).readLong("Subscribe.id");
  }

  /**
   * Reads an {@code Ack}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Ack ack(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new Ack(
        in.readString("Ack.topic", Topic.MAX_BYTES),
        in.readLong("Ack.producer"),
        in.readLong("Ack.sequence"));
  }

  /**
   * Reads an {@code Unsubscribe}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Unsubscribe unsubscribe(ByteBuffer buf, int from, int to) {
    return new Unsubscribe(new BodyReader().wrap(buf, from, to).readLong("Unsubscribe.id"));
  }

  /**
   * Reads a {@code Barrier}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Barrier barrier(ByteBuffer buf, int from, int to) {
    return new Barrier(new BodyReader().wrap(buf, from, to).readLong("Barrier.id"));
  }

  /**
   * Reads an {@code Authenticate}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Authenticate authenticate(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    Authenticate authenticate = new Authenticate();
    authenticate.setToken(in.readString("Authenticate.token", FrameLimits.MAX_TOKEN_BYTES));
    if (!in.atEnd() && in.readPresent("Authenticate.user")) {
      authenticate.setUser(in.readString("Authenticate.user", FrameLimits.MAX_NAME_BYTES));
    }
    return authenticate;
  }

  /**
   * Reads an {@code Echo}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Echo echo(ByteBuffer buf, int from, int to) {
    return new Echo(new BodyReader().wrap(buf, from, to).readLong("Echo.id"));
  }

  /**
   * Reads a {@code Credit}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record; limit and received are 0 or more
   */
  public static Credit credit(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new Credit(
        in.readLong("Credit.call"),
        in.readOffset("Credit.limit"),
        in.readOffset("Credit.received"),
        in.atEnd() ? 0 : in.readLong("Credit.consumer"));
  }

  /**
   * Reads a {@code Drained}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Drained drained(ByteBuffer buf, int from, int to) {
    return new Drained(new BodyReader().wrap(buf, from, to).readLong("Drained.id"));
  }

  /**
   * Reads a {@code Welcome}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Welcome welcome(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    Welcome welcome = new Welcome();
    welcome.setBus(in.readString("Welcome.bus", FrameLimits.MAX_NAME_BYTES));
    welcome.setSession(in.readString("Welcome.session", FrameLimits.MAX_NAME_BYTES));
    welcome.setProducer(in.readLong("Welcome.producer"));
    welcome.setResume(in.readString("Welcome.resume", FrameLimits.MAX_TOKEN_BYTES));
    Limits limits = new Limits();
    limits.setPayloadBytes(in.readInt("Limits.payloadBytes"));
    limits.setMessageBytes(in.readInt("Limits.messageBytes"));
    limits.setHeaders(in.readInt("Limits.headers"));
    limits.setHeaderBytes(in.readInt("Limits.headerBytes"));
    limits.setSubscriptions(in.readInt("Limits.subscriptions"));
    limits.setQueueBytes(in.readLong("Limits.queueBytes"));
    welcome.setLimits(limits);
    welcome.setOthers(in.atEnd() ? List.of() : addresses(in, "Welcome.others"));
    welcome.setExpiresAt(in.atEnd() ? 0 : in.readLong("Welcome.expiresAt"));
    welcome.setCalls(in.atEnd() ? 0 : in.readInt("Welcome.calls"));
    welcome.setServices(in.atEnd() ? 0 : in.readInt("Welcome.services"));
    welcome.setTunnels(in.atEnd() ? 0 : in.readInt("Welcome.tunnels"));
    welcome.setWindow(in.atEnd() ? 0 : in.readInt("Welcome.window"));
    welcome.setDurable(!in.atEnd() && in.readBoolean("Welcome.durable"));
    return welcome;
  }

  /**
   * Reads a {@code Problem}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record; a code that this version does not know is INTERNAL
   */
  public static Problem problem(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    Problem problem = new Problem();
    problem.setCode(symbol(in, "Problem.code", ErrorCode.values(), ErrorCode.INTERNAL));
    problem.setMessage(in.readString("Problem.message", MAX_MESSAGE_BYTES));
    problem.setRetryable(in.readBoolean("Problem.retryable"));
    problem.setAbout(in.readLong("Problem.about"));
    problem.setTypeCode(in.atEnd() ? -1 : in.readInt("Problem.typeCode"));
    problem.setTopic(in.atEnd() ? "" : in.readString("Problem.topic", Topic.MAX_BYTES));
    return problem;
  }

  /**
   * Reads a {@code Confirm}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Confirm confirm(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    Confirm confirm = new Confirm();
    confirm.setTypeCode(in.readInt("Confirm.typeCode"));
    confirm.setAbout(in.readLong("Confirm.about"));
    confirm.setTopic(in.atEnd() ? "" : in.readString("Confirm.topic", Topic.MAX_BYTES));
    confirm.setReceivers(in.atEnd() ? -1 : in.readLong("Confirm.receivers"));
    confirm.setPosition(in.atEnd() ? 0 : in.readOffset("Confirm.position"));
    confirm.setRepeated(!in.atEnd() && in.readBoolean("Confirm.repeated"));
    confirm.setCreation(in.atEnd() ? 0 : in.readOffset("Confirm.creation"));
    return confirm;
  }

  /**
   * Reads a {@code Gap}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record; a reason that this version does not know is UNKNOWN
   */
  public static Gap gap(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new Gap(
        in.readString("Gap.topic", Topic.MAX_BYTES),
        in.readLong("Gap.producer"),
        in.readLong("Gap.from"),
        in.readLong("Gap.to"),
        symbol(in, "Gap.reason", GapReason.values(), GapReason.UNKNOWN));
  }

  /**
   * Reads a {@code ChangeBus}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record; a reason that this version does not know is OVERLOAD
   */
  public static ChangeBus changeBus(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new ChangeBus(
        addresses(in, "ChangeBus.urls"),
        symbol(in, "ChangeBus.reason", ChangeReason.values(), ChangeReason.OVERLOAD),
        in.readLong("ChangeBus.deadlineMillis"),
        in.readString("ChangeBus.token", FrameLimits.MAX_TOKEN_BYTES),
        in.readInt("ChangeBus.hops"));
  }

  /**
   * Reads a {@code ChangeBusFailed}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static ChangeBusFailed changeBusFailed(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new ChangeBusFailed(
        in.readString("ChangeBusFailed.token", FrameLimits.MAX_TOKEN_BYTES),
        in.atEnd() ? "" : in.readString("ChangeBusFailed.message", MAX_MESSAGE_BYTES));
  }

  private static List<String> addresses(BodyReader in, String field) {
    List<String> addresses = new ArrayList<>();
    for (long n = in.readBlockCount(field, 1); n > 0; n = in.readBlockCount(field, 1)) {
      int blockEnd = in.blockEnd();
      if (addresses.size() + n > MAX_ADDRESSES) {
        throw in.tooBig(field + " count", in.position(), addresses.size() + n, MAX_ADDRESSES);
      }
      for (long i = 0; i < n; i++) {
        addresses.add(in.readString(field, MAX_ADDRESS_BYTES));
      }
      in.checkBlockEnd(field, blockEnd);
    }
    return addresses;
  }

  /**
   * Reads an enum's symbol; one that this version does not know is the fall-back, or an error if
   * there is none.
   */
  static <E extends Enum<E>> E symbol(
      BodyReader in, String field, E[] symbols, @Nullable E fallBack) {
    int at = in.position();
    int index = in.readInt(field);
    if (index >= 0 && index < symbols.length) {
      return symbols[index];
    }
    if (fallBack == null || index < 0) {
      throw in.malformed(field, at, "symbol " + index, "0.." + (symbols.length - 1));
    }
    return fallBack;
  }
}
