package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.ConnectionListener.DropCause;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Gap;
import io.eventbus.client.Invocation;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Subscription;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.client.internal.base.FakeClock;
import io.eventbus.client.internal.base.ManualScheduler;
import io.eventbus.client.internal.connection.Connector;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Log of a client that was given no listener. */
@Timeout(180)
class LoggingListenerTest {
  private static final ConnectionInfo INFO =
      new ConnectionInfo(URI.create("ws://one/bus"), "bus", "session", 1);

  private final FakeClock clock = new FakeClock();
  private final LoggingListener listener = new LoggingListener("app", clock::nanoTime);
  private final Logger logger = (Logger) LoggerFactory.getLogger(LoggingListener.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

  @BeforeEach
  void listen() {
    logger.setLevel(Level.INFO);
    logger.setAdditive(false);
    lines.start();
    logger.addAppender(lines);
  }

  @AfterEach
  void stop() {
    logger.detachAppender(lines);
    logger.setAdditive(true);
    logger.setLevel(null);
  }

  private List<String> lines() {
    List<ILoggingEvent> now = List.copyOf(lines.list);
    lines.list.clear();
    return now.stream().map(line -> line.getLevel() + " " + line.getFormattedMessage()).toList();
  }

  private void laterThanAPace() {
    clock.advance(Duration.ofSeconds(LoggingListener.MIN_INTERVAL_SECONDS));
  }

  @Test
  void logsImportantEvents() {
    listener.connected(INFO);
    listener.disconnected(1006, "gone", true);
    listener.gap(new Gap("a", 5, 2, 4, Gap.Reason.LOST));
    listener.dropped(7, DropCause.BUFFER_FULL);
    listener.problem(new EventBusException.TimedOut("too late"));
    assertThat(lines())
        .containsExactly(
            "INFO app: connected to bus at ws://one/bus",
            "INFO app: connection lost with 1006 gone, connecting again",
            "WARN app: 3 events are missing, the last on a from producer 5: 2 to 4 (LOST)",
            "WARN app: 7 published events are lost, or may be (BUFFER_FULL)",
            "WARN app: too late");
  }

  @Test
  void countsLinesThatComeTooOften() {
    listener.gap(new Gap("a", 5, 1, 1, Gap.Reason.LOST));
    listener.gap(new Gap("a", 5, 2, 11, Gap.Reason.LOST));
    listener.dropped(1, DropCause.BUFFER_FULL);
    listener.dropped(2, DropCause.BUFFER_FULL);
    assertThat(lines()).hasSize(2);
    laterThanAPace();
    listener.gap(new Gap("b", 5, 3, 3, Gap.Reason.QUEUE_FULL));
    listener.dropped(3, DropCause.CLOSED);
    assertThat(lines())
        .containsExactly(
            "WARN app: 11 events are missing, the last on b from producer 5: 3 to 3 (QUEUE_FULL)",
            "WARN app: 5 published events are lost, or may be (CLOSED)");
  }

  @Test
  void theFirstFailureOfAKindHasItsStackAndLaterOnesAreCounted() {
    Subscription subscription = saying(Subscription.class, "a.*");
    ReceivedEvent event = saying(ReceivedEvent.class, "a.b");
    listener.handlerFailed(subscription, event, new IllegalStateException("boom"));
    assertThat(lines.list.get(0).getThrowableProxy().getMessage()).isEqualTo("boom");
    assertThat(lines())
        .singleElement()
        .asString()
        .startsWith("WARN app: the handler of a.* failed");
    listener.handlerFailed(subscription, event, new IllegalStateException("boom"));
    assertThat(lines()).hasSize(1);
    listener.handlerFailed(subscription, event, new IllegalStateException("boom"));
    listener.handlerFailed(subscription, event, new IllegalStateException("boom"));
    assertThat(lines()).isEmpty();
    listener.handlerFailed(subscription, event, new IllegalArgumentException("other"));
    assertThat(lines()).hasSize(1);
    laterThanAPace();
    listener.handlerFailed(subscription, event, new IllegalStateException("boom"));
    assertThat(lines())
        .singleElement()
        .asString()
        .contains("and 2 others")
        .contains("IllegalStateException: boom");
  }

  @Test
  void aRequestThatFailsIsToldWithItsService() {
    Invocation invocation = saying(Invocation.class, "orders");
    listener.requestFailed(invocation, new IllegalStateException("boom"));
    assertThat(lines())
        .singleElement()
        .asString()
        .startsWith("WARN app: the handler of service orders failed with request 7 of caller 7");
  }

  /** Returns an object whose methods return a text, or seven. */
  private static <T> T saying(Class<T> type, String text) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                method.getReturnType() == String.class ? text : (Object) 7L));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aClientThatEndsByItselfLogsItWhateverItsListener(boolean listens) throws Exception {
    Logger ends = (Logger) LoggerFactory.getLogger(Connector.class);
    ends.addAppender(lines);
    ends.setAdditive(false);
    FakeBus bus = new FakeBus();
    try (EventBusClient client =
        ClientParts.wire(
                EventBusClient.builder()
                    .url("ws://one/bus")
                    .name("app")
                    .listener(listens ? new ConnectionListener() {} : listener)
                    .options(),
                bus.outside(new ManualScheduler(clock), clock))
            .start()
            .get(60, TimeUnit.SECONDS)) {
      bus.connection().end(4501, "not you");
      assertThat(client.send("a", "x").accepted()).isFalse();
    }
    ends.detachAppender(lines);
    ends.setAdditive(true);
    assertThat(lines())
        .filteredOn(line -> line.startsWith("ERROR"))
        .singleElement()
        .asString()
        .startsWith("ERROR app: closed for good")
        .contains("not you");
  }
}
