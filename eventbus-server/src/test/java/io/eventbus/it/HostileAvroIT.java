package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Malformed and lying Avro, at every field of every frame that a client may send. */
class HostileAvroIT extends HostileTests {
  private static final int OPEN = 0;
  private static final byte[] NULL = {0};
  private static final byte[] EMPTY_MAP = {0};
  private static final byte[] TRUE = {1};
  private static final byte[] NAME = TestFrames.string("x");
  private static final byte[] ONE = TestFrames.zigzag(1);
  private static final byte[] EVENT =
      TestFrames.join(TestFrames.zigzag(7), NULL, EMPTY_MAP, TestFrames.string("payload"));
  private static final byte[] EVENTS = sized(1, EVENT.length, EVENT);

  /** Wrong value, and the answer to it. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Wrong(String what, byte[] bytes, ErrorCode code) {
    Wrong(String what, byte[] bytes) {
      this(what, bytes, ErrorCode.MALFORMED);
    }
  }

  private static byte[] unhex(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }

  private static byte[] sized(long count, long size, byte[] items) {
    return TestFrames.join(
        TestFrames.zigzag(-count), TestFrames.zigzag(size), items, TestFrames.zigzag(0));
  }

  private static final Wrong[] LONGS = {
    new Wrong("nothing", new byte[0]),
    new Wrong("cut", unhex("ff")),
    new Wrong("11 bytes", unhex("8080808080808080808000")),
    new Wrong("65 bits", unhex("ffffffffffffffffff02")),
    new Wrong("without end", unhex("ffffffffffffffffffffffffffffff")),
  };

  private static Wrong[] strings(int limit) {
    return new Wrong[] {
      new Wrong("nothing", new byte[0]),
      new Wrong("negative length", TestFrames.zigzag(-1)),
      new Wrong("most negative length", TestFrames.zigzag(Long.MIN_VALUE)),
      new Wrong("length past the end", TestFrames.zigzag(200)),
      new Wrong("4 GiB", TestFrames.zigzag(1L << 32), ErrorCode.TOO_BIG),
      new Wrong("4 GiB and 1", TestFrames.zigzag((1L << 32) + 1), ErrorCode.TOO_BIG),
      new Wrong("largest length", TestFrames.zigzag(Long.MAX_VALUE), ErrorCode.TOO_BIG),
      new Wrong("one too long", TestFrames.bytes(new byte[limit + 1]), ErrorCode.TOO_BIG),
      new Wrong("broken UTF-8", TestFrames.bytes(unhex("c0af"))),
      new Wrong("a surrogate", TestFrames.bytes(unhex("eda080"))),
      new Wrong("cut UTF-8", TestFrames.bytes(unhex("61f09f98"))),
      new Wrong("beyond Unicode", TestFrames.bytes(unhex("f4908080"))),
    };
  }

  private static Wrong[] unions(int limit) {
    Wrong[] inside = strings(limit);
    Wrong[] all = new Wrong[inside.length + 3];
    all[0] = new Wrong("branch 2", TestFrames.zigzag(2));
    all[1] = new Wrong("branch -1", TestFrames.zigzag(-1));
    all[2] = new Wrong("branch of 33 bits", TestFrames.zigzag(1L << 32));
    for (int i = 0; i < inside.length; i++) {
      all[i + 3] = new Wrong(inside[i].what, TestFrames.join(ONE, inside[i].bytes), inside[i].code);
    }
    return all;
  }

  private static Wrong[] blocks(byte[] item) {
    return new Wrong[] {
      new Wrong("count that cannot fit", TestFrames.zigzag(1_000_000_000)),
      new Wrong("largest count", TestFrames.zigzag(Long.MAX_VALUE)),
      new Wrong("most negative count", TestFrames.zigzag(Long.MIN_VALUE)),
      new Wrong("count of 4 G", TestFrames.join(TestFrames.zigzag(1L << 32), item)),
      new Wrong("count one too large", TestFrames.join(TestFrames.zigzag(2), item)),
      new Wrong("size too small", sized(1, item.length - 1, item)),
      new Wrong("size too large", sized(1, item.length + 1, item)),
      new Wrong("size 0", sized(1, 0, item)),
      new Wrong("negative size", sized(1, -5, item)),
      new Wrong("size of 4 GiB", sized(1, 1L << 32, item)),
      new Wrong("largest size", sized(1, Long.MAX_VALUE, item)),
      new Wrong("most negative size", sized(1, Long.MIN_VALUE, item)),
      new Wrong("no end", TestFrames.join(ONE, item)),
      new Wrong("second block lies", TestFrames.join(ONE, item, sized(1, 4000, item))),
    };
  }

  /** Puts each wrong value in the place of one field; the rest of the frame is left out. */
  private static void each(
      Stream.Builder<Arguments> all, int type, String field, byte[] before, Wrong... wrongs) {
    for (Wrong wrong : wrongs) {
      all.add(
          Arguments.of(
              field,
              wrong.what,
              TestFrames.frame(type, before, wrong.bytes),
              wrong.code,
              wrong.code != ErrorCode.TOO_BIG ? 1007 : type == 0 ? 1009 : OPEN));
    }
  }

  private static void open(
      Stream.Builder<Arguments> all, String field, String what, byte[] before, byte[] rest) {
    all.add(Arguments.of(field, what, TestFrames.frame(1, before, rest), ErrorCode.TOO_BIG, OPEN));
  }

  static Stream<Arguments> frames() {
    Stream.Builder<Arguments> all = Stream.builder();
    for (Wrong wrong : LONGS) {
      if (wrong.bytes.length > 0) {
        all.add(Arguments.of("Frame.typeCode", wrong.what, wrong.bytes, wrong.code, 1007));
      }
    }
    byte[] type33 = TestFrames.join(TestFrames.zigzag(1L << 32), NAME);
    all.add(Arguments.of("Frame.typeCode", "33 bits", type33, ErrorCode.MALFORMED, 1007));
    for (Wrong wrong : strings(0)) {
      if (!wrong.what.contains("U")
          && !wrong.what.contains("surrogate")
          && wrong.bytes.length != 2) {
        byte[] frame = TestFrames.join(ONE, wrong.bytes);
        int close = wrong.code == ErrorCode.TOO_BIG ? 1009 : 1007;
        all.add(Arguments.of("Frame.body", wrong.what, frame, wrong.code, close));
      }
    }
    publish(all);
    byte[] ack = TestFrames.join(NAME, ONE);
    byte[] filter = TestFrames.join(ONE, NAME);
    each(all, 2, "Subscribe.id", new byte[0], LONGS);
    each(all, 2, "Subscribe.filter", ONE, strings(255));
    each(all, 2, "Subscribe.group", filter, unions(255));
    each(
        all,
        2,
        "Subscribe.overflow",
        TestFrames.join(filter, NULL),
        new Wrong("symbol 4", TestFrames.zigzag(4)),
        new Wrong("symbol -1", TestFrames.zigzag(-1)),
        new Wrong("symbol of 33 bits", TestFrames.zigzag(1L << 32)));
    each(all, 5, "Ack.topic", new byte[0], strings(255));
    each(all, 5, "Ack.producer", NAME, LONGS);
    each(all, 5, "Ack.sequence", ack, LONGS);
    each(all, 6, "Unsubscribe.id", new byte[0], LONGS);
    each(all, 11, "Barrier.id", new byte[0], LONGS);
    return all.build();
  }

  private static void publish(Stream.Builder<Arguments> all) {
    byte[] topic = TestFrames.string("hostile.avro");
    byte[] head = TestFrames.join(topic, ONE, NULL, TRUE);
    each(all, 1, "Publish.topic", new byte[0], strings(255));
    each(all, 1, "Publish.sequence", topic, LONGS);
    for (long sequence : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      byte[] rest = TestFrames.join(TestFrames.zigzag(sequence), NULL, TRUE, EVENTS);
      each(all, 1, "Publish.sequence", topic, new Wrong("sequence " + sequence, rest));
    }
    each(all, 1, "Publish.schema", TestFrames.join(topic, ONE), LONGS);
    each(
        all,
        1,
        "Publish.confirm",
        TestFrames.join(topic, ONE, NULL),
        new Wrong("2", new byte[] {2}),
        new Wrong("nothing", new byte[0]));
    each(all, 1, "Publish.events", head, new Wrong("none", new byte[] {0}));
    each(all, 1, "events", head, blocks(EVENT));
    byte[] time = TestFrames.join(head, ONE, TestFrames.zigzag(7));
    byte[] key = TestFrames.join(time, NULL);
    byte[] headers = TestFrames.join(key, EMPTY_MAP);
    // Enough behind a block's head for the event itself to be read.
    byte[] room = new byte[16];
    Arrays.fill(room, (byte) 0xFF);
    each(
        all,
        1,
        "Event.publishedAt",
        TestFrames.join(head, ONE),
        new Wrong("without end", room),
        new Wrong("11 bytes", unhex("8080808080808080808000")));
    each(
        all,
        1,
        "Event.key",
        time,
        new Wrong("branch 2", unhex("0400000000")),
        new Wrong("branch -1", unhex("0100000000")),
        new Wrong("negative length", unhex("0201000000")),
        new Wrong("past the end", unhex("02aa010000")),
        new Wrong("broken UTF-8", unhex("0204c0af0000")));
    byte[] pair = TestFrames.join(NAME, NAME);
    each(all, 1, "Event.headers", key, blocks(pair));
    each(
        all,
        1,
        "Event.headers name",
        key,
        new Wrong("negative length", unhex("02 01 0000")),
        new Wrong("broken UTF-8", unhex("02 04c0af 0000")));
    each(
        all,
        1,
        "Event.headers value",
        key,
        new Wrong("negative length", unhex("02 0278 01 00")),
        new Wrong("past the end", unhex("02 0278 50 00")),
        new Wrong("broken UTF-8", unhex("02 0278 04c0af 00")));
    each(
        all,
        1,
        "Event.payload",
        headers,
        new Wrong("negative length", unhex("01")),
        new Wrong("past the end", unhex("aa01")));
    byte[] tail = TestFrames.join(TestFrames.string(""), NULL);
    open(
        all,
        "Event.key",
        "4097 bytes",
        time,
        TestFrames.join(ONE, TestFrames.bytes(new byte[4097]), EMPTY_MAP, tail));
    open(
        all,
        "Event.payload",
        "one too large",
        headers,
        TestFrames.bytes(new byte[1024 * 1024 + 1]));
    open(all, "Event.payload", "4 GiB", headers, TestFrames.zigzag(1L << 32));
    open(
        all, "Event.headers", "4 GiB name", key, TestFrames.join(ONE, TestFrames.zigzag(1L << 32)));
    open(
        all,
        "Event.headers",
        "16 KiB and a byte",
        key,
        TestFrames.join(ONE, NAME, TestFrames.bytes(new byte[16 * 1024]), EMPTY_MAP, tail));
    byte[] many = new byte[0];
    for (int i = 0; i < 65; i++) {
      many = TestFrames.join(many, pair);
    }
    open(
        all,
        "Event.headers",
        "65",
        key,
        TestFrames.join(TestFrames.zigzag(65), many, EMPTY_MAP, tail));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("frames")
  void aMalformedFrameIsRefused(String field, String what, byte[] frame, ErrorCode code, int close)
      throws Exception {
    try (RawClient watcher = RawClient.connected(bus.uri());
        RawClient client = RawClient.connected(bus.uri())) {
      watcher.subscribe(1, "hostile.avro");
      // A good frame before and after: the bad one neither spoils nor is spoilt.
      client.send(TestFrames.join(TestFrames.barrier(1), frame));
      client.expect(TypeCode.BARRIER);
      var problem = client.expectProblem();
      assertThat(problem.getCode()).isEqualTo(code);
      // A missing event can only be noticed inside the event that is not there.
      assertThat(problem.getMessage()).containsAnyOf(field, "Event.").contains("expected: ");
      if (close == OPEN) {
        boolean isEvent = field.startsWith("Event.");
        assertThat(problem.getAbout()).isEqualTo(isEvent || field.startsWith("Subscribe.") ? 1 : 0);
        if (!field.equals("Publish.topic")) {
          assertThat(problem.getTopic()).isEqualTo(isEvent ? "hostile.avro" : "");
        }
        client.send(TestFrames.barrier(2));
        client.expect(TypeCode.BARRIER);
      } else {
        Ending ending = Ending.of(client);
        assertThat(ending.code()).isEqualTo(close);
        assertThat(ending.closeFrames()).isEqualTo(1);
        assertThat(ending.problems()).isEmpty();
      }
      watcher.send(TestFrames.barrier(3));
      watcher.expect(TypeCode.BARRIER);
    }
  }

  static Stream<Arguments> hellos() {
    Stream.Builder<Arguments> all = Stream.builder();
    byte[] names = TestFrames.join(NAME, NAME);
    byte[] token = TestFrames.join(names, NULL);
    byte[] resume = TestFrames.join(token, NULL);
    each(all, 0, "Hello.client", new byte[0], strings(255));
    each(all, 0, "Hello.agent", NAME, strings(255));
    each(all, 0, "Hello.token", names, unions(16 * 1024));
    each(all, 0, "Hello.resume", token, unions(16 * 1024));
    each(all, 0, "Hello.attributes", resume, blocks(TestFrames.join(NAME, NAME)));
    each(all, 0, "Hello.attributes", TestFrames.join(resume, ONE), strings(255));
    byte[] value = TestFrames.join(resume, ONE, NAME);
    for (Wrong wrong : strings(255)) {
      if (wrong.bytes.length > 0) {
        each(all, 0, "Hello.attributes value", value, wrong);
      }
    }
    return all.build();
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("hellos")
  void aMalformedHelloIsRefused(String field, String what, byte[] frame, ErrorCode code, int close)
      throws Exception {
    try (RawClient client = RawClient.upgraded(bus.uri())) {
      client.send(frame);
      Ending ending = Ending.of(client);
      assertThat(ending.code()).isEqualTo(close);
      assertThat(ending.closeFrames()).isEqualTo(1);
      assertThat(ending.problems()).hasSize(1);
      assertThat(ending.problems().get(0).getCode()).isEqualTo(code);
      assertThat(ending.problems().get(0).getMessage()).contains(field);
    }
  }
}
