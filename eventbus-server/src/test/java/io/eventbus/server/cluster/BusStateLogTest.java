package io.eventbus.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import io.eventbus.server.samples.RegisteredBuses;
import java.time.Clock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class BusStateLogTest {
  private final LocalRegistry registry =
      new LocalRegistry(LocalRegistryOptions.DEFAULT, Clock.systemUTC());
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Logger logger = new LoggerContext().getLogger("test");

  @BeforeEach
  void start() throws Exception {
    logger.addAppender(lines);
    lines.start();
    registry.start().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  @AfterEach
  void close() {
    registry.close();
  }

  @Test
  void peerStatesAreReportedOnce() throws Exception {
    AtomicBoolean begun = new AtomicBoolean();
    registry.addListener(new BusStateLog(new BusId("a"), begun::get, logger));
    RegisteredBuses.add(registry, "history", BusState.UP, BusState.DOWN);
    begun.set(true);
    RegisteredBuses.add(registry, "a", BusState.UP, BusState.DRAINING);
    RegisteredBuses.add(registry, "b", BusState.UP, BusState.DOWN);
    RegisteredBuses.add(registry, "b", BusState.UP);
    // The call returns when the registry's thread, which calls the listener, has ended.
    registry.close();
    assertThat(lines.list).allMatch(line -> line.getLevel() == Level.INFO);
    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly(
            "Bus b is UP (was JOINING)", "Bus b is DOWN (was UP)", "Bus b is UP (was JOINING)");
  }
}
