package io.eventbus.loadtest.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.workload.Workload;
import java.nio.ByteBuffer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

class EventMarkProperties {
  @Property
  void isReadAsItWasWritten(
      @ForAll @IntRange(max = Workload.MAX_PUBLISHERS - 1) int publisher,
      @ForAll @IntRange(max = Workload.MAX_TOPICS - 1) int topic,
      @ForAll @LongRange(min = 1, max = (1L << 44) - 1) long number,
      @ForAll @LongRange(max = (1L << 48) - 1) long due,
      @ForAll @IntRange(max = 5) int before) {
    byte[] payload = new byte[Workload.MIN_PAYLOAD_BYTES];
    EventMark.write(payload, publisher, topic, number, due);
    ByteBuffer received = ByteBuffer.allocate(before + payload.length);
    received.position(before).put(payload).position(before);
    long first = EventMark.first(received);
    long second = EventMark.second(received);
    assertThat(EventMark.publisher(first)).isEqualTo(publisher);
    assertThat(EventMark.due(first)).isEqualTo(due);
    assertThat(EventMark.topic(second)).isEqualTo(topic);
    assertThat(EventMark.number(second)).isEqualTo(number);
  }
}
