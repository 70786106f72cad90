package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.EventBusClient;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Subscribe;
import io.eventbus.server.BusServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.avro.specific.SpecificRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** WebSocket library that pings on its own and ends a connection whose Pong does not come. */
@Tag("nightly")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class KeepAliveIT {
  private static final int SECONDS = 180;
  private static final int READ_BYTES = 3_000_000;
  private static final int EVENT_BYTES = 10_000;
  private static final int EVENTS = 50;

  private static String hex(TypeCode type, SpecificRecord frame) {
    return HexFormat.of().formatHex(ControlFrames.encode(type, frame));
  }

  /** Reads 3 of 5 MB each second, so that the queue is always full. */
  @ParameterizedTest
  @EnumSource(names = {"BLOCK", "DROP_OLDEST"})
  void aReaderThatIsSlowStaysConnected(Overflow overflow, @TempDir Path directory)
      throws Exception {
    Path python = Foreign.python(directory, "websockets==15.0.1");
    Path program = directory.resolve("slow_reader.py");
    try (var in = KeepAliveIT.class.getResourceAsStream("slow_reader.py")) {
      Files.copy(Objects.requireNonNull(in), program);
    }
    byte[] payload = new byte[EVENT_BYTES];
    new Random(7).nextBytes(payload);
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
    try (BusServer bus = TestBus.start();
        EventBusClient publisher = EventBusClient.builder().url(bus.uri()).connect()) {
      var unused =
          timer.scheduleAtFixedRate(
              () -> publish(publisher, payload), 0, 100, TimeUnit.MILLISECONDS);
      Foreign.Ended ended =
          Foreign.run(
              List.of(
                  python.toString(),
                  program.toString(),
                  bus.uri().toString(),
                  hex(
                      TypeCode.HELLO,
                      new Hello("slow", "python/1", null, null, Map.of(), null, null, null)),
                  hex(TypeCode.SUBSCRIBE, new Subscribe(1L, "load", null, overflow)),
                  Integer.toString(READ_BYTES),
                  Integer.toString(SECONDS)),
              directory,
              10);
      assertThat(ended.code()).as(ended.output()).isZero();
      assertThat(ended.output()).contains("read ");
    } finally {
      timer.shutdownNow();
    }
  }

  /**
   * Publishes at the rate of the test, not of the reader: events that find no room are left out.
   */
  private static void publish(EventBusClient publisher, byte[] payload) {
    for (int i = 0; i < EVENTS; i++) {
      try {
        var unused = publisher.publish("load", payload);
      } catch (RuntimeException e) {
        return;
      }
    }
  }
}
