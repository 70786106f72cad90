package io.eventbus.loadtest.driver.tyruspaper;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * The paper's message: {@code TypeCode | Topic | Message | PublisherTimestamp | ReceivedTimestamp}.
 * From a publisher the last one is 0: the bus sets it.
 *
 * @param topic where it belongs
 * @param published microseconds since the epoch
 * @param received microseconds since the epoch, 0 until the bus has it
 */
record PaperMessage(int typeCode, String topic, ByteBuffer message, long published, long received) {
  static final int PUBLISH = 1;
  static final int SUBSCRIBE = 2;

  static PaperMessage publish(String topic, byte[] payload) {
    return new PaperMessage(PUBLISH, topic, ByteBuffer.wrap(payload), nowMicros(), 0);
  }

  static PaperMessage subscribe(String topic) {
    return new PaperMessage(SUBSCRIBE, topic, ByteBuffer.allocate(0), nowMicros(), 0);
  }

  PaperMessage receivedNow() {
    return new PaperMessage(typeCode, topic, message, published, nowMicros());
  }

  private static long nowMicros() {
    Instant now = Instant.now();
    return TimeUnit.SECONDS.toMicros(now.getEpochSecond()) + now.getNano() / 1000;
  }
}
