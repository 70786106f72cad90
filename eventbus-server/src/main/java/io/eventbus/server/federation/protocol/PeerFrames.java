package io.eventbus.server.federation.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.eventbus.link.stream.StreamFrames;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.Varint;
import io.eventbus.server.federation.schema.AccountEntry;
import io.eventbus.server.federation.schema.Interest;
import io.eventbus.server.federation.schema.InterestEntry;
import io.eventbus.server.federation.schema.LaneHello;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecord;

/**
 * Frames on the lanes between buses: their type codes, writing and reading. Frames of each event
 * are read by {@link ForwardView} instead. Stateless; any thread.
 */
public final class PeerFrames {
  public static final int LANE_HELLO = 50;
  public static final int LANE_WELCOME = StreamFrames.WELCOME;
  public static final int FORWARD = 52;
  public static final int LANE_ACK = StreamFrames.ACK;
  public static final int INTEREST = 54;
  public static final int INTEREST_APPLIED = 55;
  public static final int INTEREST_WANTED = 56;
  public static final int SYNC = 57;
  public static final int SYNCED = 58;
  public static final int ALIVE = StreamFrames.ALIVE;
  public static final int GOODBYE = StreamFrames.GOODBYE;
  public static final int LANE_ACK_RANGE = StreamFrames.ACK_RANGE;
  public static final int CALL = 62;
  public static final int RETURN = 63;
  public static final int FAIL = 64;
  public static final int STOP = 65;
  public static final int GRANT = 68;
  public static final int DEMAND = 69;
  public static final int BUSY = 73;
  public static final int CALL_HELLO = 74;

  /** Maximum number of entries in one {@code Interest}. */
  public static final int MAX_ENTRIES = 4096;

  /** Maximum size of the name of a group, in bytes. */
  public static final int MAX_GROUP_BYTES = 255;

  /** Maximum size of the name of an account, in bytes: 256 characters. */
  public static final int MAX_ACCOUNT_BYTES = 1024;

  /** Maximum number of buses that one {@code Forward} names. */
  public static final int MAX_TARGETS = 4096;

  private PeerFrames() {}

  /** Encodes a record as a whole frame. */
  public static byte[] encode(int typeCode, SpecificRecord record) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
    try {
      BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
      new SpecificDatumWriter<SpecificRecord>(record.getSchema(), SpecificData.get())
          .write(record, encoder);
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
    ByteBuffer frame =
        ByteBuffer.allocate(Varint.size(typeCode) + Varint.size(bytes.size()) + bytes.size());
    Varint.write(frame, typeCode);
    Varint.write(frame, bytes.size());
    return frame.put(bytes.toByteArray()).array();
  }

  /**
   * Encodes a frame whose body is integers: {@code LaneWelcome}, {@code LaneAck}, {@code
   * LaneAckRange}, {@code InterestApplied}, {@code InterestWanted}, {@code Sync} and {@code
   * Synced}; or nothing: {@code Alive} and {@code Goodbye}.
   */
  public static byte[] encode(int typeCode, long... numbers) {
    return StreamFrames.encode(typeCode, numbers);
  }

  /** Reads a frame whose body is one integer. */
  public static long number(ByteBuffer buf, int from, int to) {
    return new BodyReader().wrap(buf, from, to).readLong("value");
  }

  /** Reads a frame whose body is two integers. */
  public static long[] numbers(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new long[] {in.readLong("first"), in.readLong("second")};
  }

  /** Reads a {@code LaneHello}. */
  public static LaneHello laneHello(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new LaneHello(
        in.readInt("LaneHello.lane"),
        in.readInt("LaneHello.lanes"),
        in.readInt("LaneHello.number"),
        in.readLong("LaneHello.next"));
  }

  /** Reads an {@code Interest}. */
  public static Interest interest(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    Interest interest = new Interest();
    interest.setVersion(in.readLong("Interest.version"));
    interest.setWhole(in.readBoolean("Interest.whole"));
    interest.setMore(in.readBoolean("Interest.more"));
    interest.setDigest(in.readLong("Interest.digest"));
    List<InterestEntry> entries = new ArrayList<>();
    for (long n = in.readBlockCount("Interest.entries", 3);
        n > 0;
        n = in.readBlockCount("Interest.entries", 3)) {
      int blockEnd = in.blockEnd();
      if (entries.size() + n > MAX_ENTRIES) {
        throw in.tooBig("Interest.entries", in.position(), entries.size() + n, MAX_ENTRIES);
      }
      for (long i = 0; i < n; i++) {
        String filter = in.readString("InterestEntry.filter", Topic.MAX_BYTES);
        String group =
            in.readPresent("InterestEntry.group")
                ? in.readString("InterestEntry.group", MAX_GROUP_BYTES)
                : null;
        entries.add(new InterestEntry(filter, group, in.readInt("InterestEntry.overflow")));
      }
      in.checkBlockEnd("Interest.entries", blockEnd);
    }
    interest.setEntries(entries);
    if (in.atEnd()) {
      // Of a bus that does not know accounts.
      interest.setAccountEntries(List.of());
    } else {
      interest.setAccountEntries(accountEntries(in, entries.size()));
      interest.setAccountDigest(in.readLong("Interest.accountDigest"));
    }
    return interest;
  }

  private static List<AccountEntry> accountEntries(BodyReader in, int others) {
    List<AccountEntry> entries = new ArrayList<>();
    String field = "Interest.accountEntries";
    for (long n = in.readBlockCount(field, 4); n > 0; n = in.readBlockCount(field, 4)) {
      int blockEnd = in.blockEnd();
      long all = others + entries.size() + n;
      if (all > MAX_ENTRIES) {
        throw in.tooBig(field, in.position(), all, MAX_ENTRIES);
      }
      for (long i = 0; i < n; i++) {
        int accountAt = in.position();
        String account = in.readString("AccountEntry.account", MAX_ACCOUNT_BYTES);
        if (account.isEmpty()) {
          throw in.malformed("AccountEntry.account", accountAt, "''", "a name");
        }
        String filter = in.readString("AccountEntry.filter", Topic.MAX_BYTES);
        String group =
            in.readPresent("AccountEntry.group")
                ? in.readString("AccountEntry.group", MAX_GROUP_BYTES)
                : null;
        entries.add(new AccountEntry(account, filter, group, in.readInt("AccountEntry.overflow")));
      }
      in.checkBlockEnd(field, blockEnd);
    }
    return entries;
  }

  /**
   * Encodes the part before the {@code Deliver} in the body of a {@code Forward}: once for many of
   * them.
   *
   * @param hops the number of links by which the events will have come
   * @param plain whether they are for the subscribers without a group
   * @param groups groups of the receiver
   * @param targets numbers of the buses to forward them to
   * @param pickBuses for each group at those buses the bus
   * @param pickGroups the groups, as many as buses
   */
  public static byte[] forwardHead(
      int hops,
      boolean plain,
      List<String> groups,
      int[] targets,
      int[] pickBuses,
      List<String> pickGroups) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(16);
    ByteBuffer number = ByteBuffer.allocate(Varint.MAX_BYTES);
    put(out, number, hops);
    putReceivers(out, number, plain, groups, targets, pickBuses, pickGroups);
    return out.toByteArray();
  }

  /**
   * Encodes the part before the {@code Deliver} in the body of a {@code Forward} of an account
   * other than the default one: it names no receivers, so that a bus that does not know accounts
   * drops the events.
   *
   * @param hops the number of links by which the events will have come
   */
  public static byte[] accountForwardHead(int hops) {
    return forwardHead(hops, false, List.of(), new int[0], new int[0], List.of());
  }

  /**
   * Encodes the part behind the {@code Deliver} in the body of a {@code Forward} of an account
   * other than the default one. The other parameters are those of {@link #forwardHead}.
   *
   * @param account the account, not empty
   * @param plain whether they are for the subscribers without a group
   * @param groups groups of the receiver
   * @param targets numbers of the buses to forward them to
   * @param pickBuses for each group at those buses the bus
   * @param pickGroups the groups, as many as buses
   */
  public static byte[] accountForwardTail(
      String account,
      boolean plain,
      List<String> groups,
      int[] targets,
      int[] pickBuses,
      List<String> pickGroups) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(16);
    ByteBuffer number = ByteBuffer.allocate(Varint.MAX_BYTES);
    // The second branch of the union.
    put(out, number, 1);
    put(out, number, account);
    putReceivers(out, number, plain, groups, targets, pickBuses, pickGroups);
    return out.toByteArray();
  }

  private static void putReceivers(
      ByteArrayOutputStream out,
      ByteBuffer number,
      boolean plain,
      List<String> groups,
      int[] targets,
      int[] pickBuses,
      List<String> pickGroups) {
    out.write(plain ? 1 : 0);
    if (!groups.isEmpty()) {
      put(out, number, groups.size());
      groups.forEach(group -> put(out, number, group));
    }
    out.write(0);
    if (targets.length > 0) {
      put(out, number, targets.length);
      for (int target : targets) {
        put(out, number, target);
      }
    }
    out.write(0);
    if (pickBuses.length > 0) {
      put(out, number, pickBuses.length);
      for (int i = 0; i < pickBuses.length; i++) {
        put(out, number, pickBuses[i]);
        put(out, number, pickGroups.get(i));
      }
    }
    out.write(0);
  }

  private static void put(ByteArrayOutputStream out, ByteBuffer number, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    put(out, number, bytes.length);
    out.writeBytes(bytes);
  }

  private static void put(ByteArrayOutputStream out, ByteBuffer number, long value) {
    Varint.write(number.clear(), value);
    for (number.flip(); number.hasRemaining(); ) {
      out.write(number.get());
    }
  }

  /**
   * Measures the part before the {@code Deliver} in a whole {@code Forward} frame.
   *
   * @param head from {@link #forwardHead}
   * @param deliverBytes the size of the {@code Deliver} frame
   * @param tailBytes the size of the part behind that: 0 but for {@link #accountForwardTail}
   */
  public static int forwardHeadSize(byte[] head, int deliverBytes, int tailBytes) {
    int body = head.length + Varint.size(deliverBytes) + deliverBytes + tailBytes;
    return Varint.size(FORWARD) + Varint.size(body) + head.length + Varint.size(deliverBytes);
  }

  /**
   * Writes the part before the {@code Deliver} in a whole {@code Forward} frame; the {@code
   * Deliver} frame has to follow, and then the tail.
   *
   * @param out has room for {@link #forwardHeadSize} bytes at its position
   * @param head from {@link #forwardHead}
   * @param deliverBytes the size of the {@code Deliver} frame
   * @param tailBytes the size of the part behind that
   */
  public static void writeForwardHead(
      ByteBuffer out, byte[] head, int deliverBytes, int tailBytes) {
    Varint.write(out, FORWARD);
    Varint.write(out, (long) head.length + Varint.size(deliverBytes) + deliverBytes + tailBytes);
    out.put(head);
    Varint.write(out, deliverBytes);
  }
}
