package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Confirm;
import io.eventbus.schema.Deliver;
import io.eventbus.schema.Event;
import io.eventbus.schema.Publish;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.specific.SpecificRecord;

/** Our codec against the Avro library, in both directions. */
class CodecProperties {
  @Provide
  Arbitrary<SpecificRecord> anyRecord() {
    return Records.all();
  }

  @Provide
  Arbitrary<Publish> publishes() {
    return Records.publishes();
  }

  @Provide
  Arbitrary<Deliver> delivers() {
    return Records.delivers().filter(d -> !d.getEvents().isEmpty());
  }

  @Provide
  Arbitrary<long[]> groups() {
    return Arbitraries.longs().array(long[].class).ofMaxSize(5);
  }

  @Property
  void readsTheLibrarysOutputInAnyBlockStructure(
      @ForAll("anyRecord") SpecificRecord record, @ForAll long blocks) {
    TypeCode type = Records.typeOf(record);

    assertThat(Bodies.read(type, Bodies.avro(record))).isEqualTo(record);
    assertThat(Bodies.read(type, AnyBlocksEncoder.encode(record, blocks))).isEqualTo(record);
  }

  @Property
  void ignoresBytesBehindTheLastField(
      @ForAll("anyRecord") SpecificRecord record, @ForAll byte[] later) {
    byte[] body = Bodies.avro(record);
    byte[] longer = Arrays.copyOf(body, body.length + later.length);
    System.arraycopy(later, 0, longer, body.length, later.length);

    assertThat(Bodies.read(Records.typeOf(record), longer)).isEqualTo(record);
  }

  @Property
  void controlFramesAreReadByTheLibrary(@ForAll("anyRecord") SpecificRecord record) {
    TypeCode type = Records.typeOf(record);
    byte[] body = Bodies.bodyOf(type, ControlFrames.encode(type, record));

    assertThat(Bodies.avro(record.getSchema(), body)).isEqualTo(record);
    assertSameGeneric(Bodies.generic(record.getSchema(), body), record);
  }

  @Property
  void publishIsReadByTheLibraryAsOneSizedBlock(@ForAll("publishes") Publish publish) {
    byte[] message = writePublish(publish);

    byte[] body = Bodies.bodyOf(TypeCode.PUBLISH, message);
    assertThat(Bodies.avro(Publish.getClassSchema(), body)).isEqualTo(publish);
    assertSameGeneric(Bodies.generic(Publish.getClassSchema(), body), publish);
    assertThat(Bodies.read(TypeCode.PUBLISH, body)).isEqualTo(publish);
    PublishView view = read(body);
    assertThat(canonicalEvents(publish.getEvents())).isEqualTo(events(view));
    assertThat(body).containsSequence(events(view));
  }

  @Property
  void anyBlockStructureOfEventsBecomesOneSizedBlock(
      @ForAll("publishes") Publish publish, @ForAll long blocks) {
    PublishView view = read(AnyBlocksEncoder.encode(publish, blocks));

    byte[] events = events(view);

    assertThat(view.eventCount()).isEqualTo(publish.getEvents().size());
    ByteBuffer out = ByteBuffer.wrap(events);
    EventCursor cursor = new EventCursor().wrap(out, 0, events.length, FrameLimits.DEFAULT);
    assertThat(Bodies.events(cursor)).isEqualTo(publish.getEvents());
    assertThat(cursor.arrayEnd()).isEqualTo(events.length);
    assertThat(cursor.isCanonical()).isTrue();
    // A single block: the negative count, the size of all that follows but the end mark.
    BodyReader head = new BodyReader().wrap(out, 0, events.length);
    assertThat(head.readLong("count")).isEqualTo(-publish.getEvents().size());
    assertThat(head.readLong("size")).isEqualTo(events.length - head.position() - 1);
    // The walk for writing has not disturbed what the view knows.
    assertThat(events(view)).isEqualTo(events);
  }

  @Property
  void deliverCarriesTheEventsOfThePublish(
      @ForAll("publishes") Publish publish,
      @ForAll long blocks,
      @ForAll long producer,
      @ForAll long receivedAt,
      @ForAll long offset,
      @ForAll("groups") long[] groups) {
    byte[] body = AnyBlocksEncoder.encode(publish, blocks);
    PublishView view = read(body);
    // More room in the array than groups that count, as the router has it.
    long[] roomy = Arrays.copyOf(groups, groups.length + 3);
    ByteBuffer out =
        ByteBuffer.allocate(
            Frames.deliverSize(view, producer, receivedAt, offset, roomy, groups.length));

    Frames.writeDeliver(
        out, ByteBuffer.wrap(body), view, producer, receivedAt, offset, roomy, groups.length);

    assertThat(out.hasRemaining()).isFalse();
    Deliver expected =
        new Deliver(
            publish.getTopic(),
            producer,
            publish.getSequence(),
            publish.getSchema$(),
            receivedAt,
            offset,
            publish.getEvents(),
            Arrays.stream(groups).boxed().toList(),
            0L,
            0L);
    byte[] deliverBody = withOrigin(Bodies.bodyOf(TypeCode.DELIVER, out.array()));
    assertThat(Bodies.avro(Deliver.getClassSchema(), deliverBody)).isEqualTo(expected);
    assertSameGeneric(Bodies.generic(Deliver.getClassSchema(), deliverBody), expected);
    assertThat(Bodies.read(TypeCode.DELIVER, deliverBody)).isEqualTo(expected);
    assertThat(indexOf(deliverBody, events(view))).isGreaterThan(0);
  }

  @Property
  void aSingleEventOfADeliverKeepsTheHeadAndItsSequence(
      @ForAll("delivers") Deliver deliver, @ForAll long blocks, @ForAll @IntRange(max = 7) int n) {
    int index = n % deliver.getEvents().size();
    byte[] body = AnyBlocksEncoder.encode(deliver, blocks);
    DeliverView view = new DeliverView();
    view.read(ByteBuffer.wrap(body), 0, body.length, FrameLimits.DEFAULT);
    EventCursor cursor = view.events();
    for (int i = 0; i <= index; i++) {
      assertThat(cursor.next()).isTrue();
    }
    ByteBuffer out = ByteBuffer.allocate(Frames.singleDeliverSize(view, cursor));

    Frames.writeSingleDeliver(out, ByteBuffer.wrap(body), view, cursor);

    assertThat(out.hasRemaining()).isFalse();
    assertIsPart(out.array(), deliver, index, 1);
  }

  @Property
  void someEventsOfADeliverKeepTheHeadAndTheirNumbers(
      @ForAll("delivers") Deliver deliver,
      @ForAll @IntRange(max = 7) int n,
      @ForAll @IntRange(max = 7) int m) {
    int index = n % deliver.getEvents().size();
    int count = 1 + m % (deliver.getEvents().size() - index);
    byte[] body = Bodies.avro(deliver);
    DeliverView view = new DeliverView();
    view.read(ByteBuffer.wrap(body), 0, body.length, FrameLimits.DEFAULT);
    EventCursor cursor = view.events();
    int from = 0;
    for (int i = 0; i < index + count; i++) {
      assertThat(cursor.next()).isTrue();
      from = i == index ? cursor.eventStart() : from;
    }
    int bytes = cursor.eventEnd() - from;
    ByteBuffer out = ByteBuffer.allocate(Frames.partialDeliverSize(view, index, count, bytes));

    Frames.writePartialDeliver(out, ByteBuffer.wrap(body), view, index, count, from, bytes);

    assertThat(out.hasRemaining()).isFalse();
    assertIsPart(out.array(), deliver, index, count);
  }

  private static void assertIsPart(byte[] frame, Deliver whole, int index, int count) {
    Deliver expected =
        new Deliver(
            whole.getTopic(),
            whole.getProducer(),
            whole.getSequence() + index,
            whole.getSchema$(),
            whole.getReceivedAt(),
            whole.getOffset() < 0 ? whole.getOffset() : whole.getOffset() + index,
            whole.getEvents().subList(index, index + count),
            whole.getGroups(),
            whole.getOriginProducer(),
            hasOrigin(whole) ? whole.getOriginSequence() + index : 0L);
    byte[] part = Bodies.bodyOf(TypeCode.DELIVER, frame);
    part = hasOrigin(whole) ? part : withOrigin(part);
    assertThat(Bodies.avro(Deliver.getClassSchema(), part)).isEqualTo(expected);
    assertThat(Bodies.read(TypeCode.DELIVER, part)).isEqualTo(expected);
  }

  @Property
  void confirmNamesTheLastSequence(@ForAll("publishes") Publish publish) {
    byte[] body = Bodies.avro(publish);
    PublishView view = read(body);
    ByteBuffer out = ByteBuffer.allocate(Frames.confirmSize(view, 3));

    Frames.writeConfirm(out, ByteBuffer.wrap(body), view, 3);

    assertThat(out.hasRemaining()).isFalse();
    Confirm expected =
        new Confirm(
            TypeCode.PUBLISH.code(),
            publish.getSequence() + publish.getEvents().size() - 1,
            publish.getTopic(),
            3L,
            0L,
            false,
            0L);
    byte[] confirm = Bodies.bodyOf(TypeCode.CONFIRM, out.array());
    assertThat(Bodies.avro(Confirm.getClassSchema(), confirm)).isEqualTo(expected);
    assertThat(Bodies.read(TypeCode.CONFIRM, confirm)).isEqualTo(expected);
  }

  @Property
  void framesBackToBackAreFoundAgain(
      @ForAll("someRecords") List<SpecificRecord> records, @ForAll @IntRange(max = 9) int before) {
    List<byte[]> frames =
        records.stream().map(r -> ControlFrames.encode(Records.typeOf(r), r)).toList();
    ByteBuffer all = ByteBuffer.allocate(frames.stream().mapToInt(f -> f.length).sum());
    frames.forEach(all::put);
    ByteBuffer message = Bodies.surrounded(all.array(), before, 3, 0xFF, false);
    FrameCursor cursor = new FrameCursor().wrap(message, before, before + all.capacity());

    List<SpecificRecord> found = new ArrayList<>();
    int expectedStart = before;
    while (cursor.next()) {
      assertThat(cursor.frameStart()).isEqualTo(expectedStart);
      expectedStart = cursor.bodyEnd();
      TypeCode type = TypeCode.of(cursor.typeCode());
      assertThat(type).isNotNull();
      byte[] body = new byte[cursor.bodyEnd() - cursor.bodyStart()];
      message.get(cursor.bodyStart(), body);
      found.add(Bodies.read(type, body));
    }

    assertThat(found).isEqualTo(records);
    assertThat(expectedStart).isEqualTo(before + all.capacity());
    assertThat(message.position()).isZero();
  }

  @Provide
  Arbitrary<List<SpecificRecord>> someRecords() {
    return Records.all().list().ofMaxSize(5);
  }

  private static PublishView read(byte[] body) {
    PublishView view = new PublishView();
    view.read(ByteBuffer.wrap(body), 0, body.length, FrameLimits.DEFAULT);
    return view;
  }

  private static byte[] events(PublishView view) {
    ByteBuffer out = ByteBuffer.allocate(view.eventsSize());
    view.writeEvents(out);
    assertThat(out.hasRemaining()).isFalse();
    return out.array();
  }

  private static byte[] writeEvents(List<Event> events) {
    int size = 0;
    for (Event event : events) {
      size += eventSize(event);
    }
    ByteBuffer out = ByteBuffer.allocate(size);
    for (Event event : events) {
      String key = event.getKey();
      Frames.writeEvent(
          out,
          event.getPublishedAt(),
          key == null ? null : key.getBytes(StandardCharsets.UTF_8),
          EncodedHeaders.of(event.getHeaders()),
          Bodies.bytes(event.getPayload()));
    }
    assertThat(out.hasRemaining()).isFalse();
    return out.array();
  }

  private static int eventSize(Event event) {
    String key = event.getKey();
    return Frames.eventSize(
        event.getPublishedAt(),
        key == null ? -1 : key.getBytes(StandardCharsets.UTF_8).length,
        EncodedHeaders.of(event.getHeaders()).size(),
        event.getPayload().remaining());
  }

  private static byte[] canonicalEvents(List<Event> events) {
    byte[] items = writeEvents(events);
    ByteBuffer out = ByteBuffer.allocate(EventBlocks.blockSize(events.size(), items.length));
    Varint.write(out, -(long) events.size());
    Varint.write(out, items.length);
    out.put(items).put((byte) 0);
    assertThat(out.hasRemaining()).isFalse();
    return out.array();
  }

  private static byte[] writePublish(Publish publish) {
    byte[] topic = publish.getTopic().getBytes(StandardCharsets.UTF_8);
    byte[] events = writeEvents(publish.getEvents());
    int count = publish.getEvents().size();
    String name = publish.getProducerName();
    byte[] producer = name == null ? null : name.getBytes(StandardCharsets.UTF_8);
    int tail =
        Frames.publishTailSize(
            publish.getExpect(),
            publish.getDelayMillis(),
            publish.getTtlMillis(),
            producer,
            publish.getNumber());
    ByteBuffer out =
        ByteBuffer.allocate(
            Frames.publishSize(
                topic.length,
                publish.getSequence(),
                publish.getSchema$(),
                count,
                events.length,
                tail));
    Frames.writePublishHead(
        out,
        topic,
        publish.getSequence(),
        publish.getSchema$(),
        publish.getConfirm(),
        count,
        events.length,
        tail);
    out.put(events).put((byte) 0);
    Frames.writePublishTail(
        out,
        publish.getExpect(),
        publish.getDelayMillis(),
        publish.getTtlMillis(),
        producer,
        publish.getNumber());
    assertThat(out.hasRemaining()).isFalse();
    return out.array();
  }

  /** Adds the last fields of a {@code Deliver}, which a bus leaves out if they are 0. */
  private static byte[] withOrigin(byte[] body) {
    return Arrays.copyOf(body, body.length + 2);
  }

  private static boolean hasOrigin(Deliver deliver) {
    return deliver.getOriginProducer() != 0 || deliver.getOriginSequence() != 0;
  }

  /**
   * Checks that a program without generated types writes what it has read, so that the types read
   * the same.
   */
  private static void assertSameGeneric(GenericRecord generic, SpecificRecord record) {
    assertThat(Bodies.avro(record.getSchema(), Bodies.avro(generic))).isEqualTo(record);
  }

  private static int indexOf(byte[] all, byte[] part) {
    for (int i = 0; i + part.length <= all.length; i++) {
      if (Arrays.equals(all, i, i + part.length, part, 0, part.length)) {
        return i;
      }
    }
    return -1;
  }
}
