package io.eventbus.client.internal;

import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Gap;
import io.eventbus.client.Interruption;
import io.eventbus.client.Invocation;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Subscription;
import io.eventbus.client.Truncated;
import io.eventbus.client.Worker;
import java.net.URI;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listener of a client that was given none: logs what an application has to know, at most one line
 * of a kind each {@value #MIN_INTERVAL_SECONDS} s. Skipped lines are counted in the next line of
 * their kind. Called by one thread at a time.
 */
final class LoggingListener implements ConnectionListener {
  static final int MIN_INTERVAL_SECONDS = 10;

  /**
   * Maximum number of stack traces: a second trace of the same failure of the same handler says
   * nothing new.
   */
  private static final int MAX_TRACES = 100;

  private static final Logger LOG = LoggerFactory.getLogger(LoggingListener.class);

  private enum Kind {
    HANDLER_FAILED,
    GAP,
    INTERRUPTION,
    TRUNCATED,
    DROPPED,
    PROBLEM,
    CONNECTED,
    DISCONNECTED,
    MOVE_FAILED
  }

  private final String client;
  private final LongSupplier nanoTime;
  private final Map<Kind, Pace> paces = new EnumMap<>(Kind.class);
  private final Set<String> traced = new HashSet<>();
  private long failuresLeftOut;
  private long eventsMissing;
  private long interruptions;
  private long eventsDropped;

  LoggingListener(String client, LongSupplier nanoTime) {
    this.client = client;
    this.nanoTime = nanoTime;
  }

  /** Rate limit that admits the first line of a kind, and then one in a while. */
  private static final class Pace {
    private long last;
    private boolean begun;

    boolean admits(long now) {
      if (begun && now - last < Duration.ofSeconds(MIN_INTERVAL_SECONDS).toNanos()) {
        return false;
      }
      begun = true;
      last = now;
      return true;
    }
  }

  private boolean admits(Kind kind) {
    return paces.computeIfAbsent(kind, k -> new Pace()).admits(nanoTime.getAsLong());
  }

  @Override
  public void connected(ConnectionInfo connection) {
    if (admits(Kind.CONNECTED)) {
      LOG.info("{}: connected to {} at {}", client, connection.bus(), connection.url());
    }
  }

  @Override
  public void disconnected(int code, String reason, boolean willReconnect) {
    // The end of a client is logged whatever its listener.
    if (willReconnect && admits(Kind.DISCONNECTED)) {
      LOG.info("{}: connection lost with {} {}, connecting again", client, code, reason);
    }
  }

  @Override
  public void reconnecting(int attempt, URI url, Duration delay) {
    LOG.debug("{}: try {} to connect again, to {} in {}", client, attempt, url, delay);
  }

  @Override
  public void busChanged(ConnectionInfo before, ConnectionInfo now) {
    if (admits(Kind.CONNECTED)) {
      LOG.info("{}: went on from {} to {} at {}", client, before.bus(), now.bus(), now.url());
    }
  }

  @Override
  public void busChangeFailed(URI url, String why) {
    if (admits(Kind.MOVE_FAILED)) {
      LOG.info("{}: was asked to move to {} and stays: {}", client, url, why);
    }
  }

  @Override
  public void gap(Gap gap) {
    if (gap.reason() == Gap.Reason.CONFLATED || gap.reason() == Gap.Reason.BUFFER_CONFLATED) {
      // The subscription has asked for these losses.
      LOG.debug("{}: {}", client, gap);
      return;
    }
    eventsMissing += gap.count();
    if (admits(Kind.GAP)) {
      LOG.warn(
          "{}: {} events are missing, the last on {} from producer {}: {} to {} ({})",
          client,
          eventsMissing,
          gap.topic(),
          gap.producer(),
          gap.from(),
          gap.to(),
          gap.reason());
      eventsMissing = 0;
    }
  }

  @Override
  public void interruption(Interruption interruption) {
    interruptions++;
    if (admits(Kind.INTERRUPTION)) {
      LOG.warn(
          "{}: events may be missing, subscriptions were interrupted {} times, the last {} from {} to"
              + " {}",
          client,
          interruptions,
          interruption.filter(),
          interruption.from(),
          interruption.to());
      interruptions = 0;
    }
  }

  @Override
  public void dropped(long events, DropCause cause) {
    eventsDropped += events;
    if (admits(Kind.DROPPED)) {
      LOG.warn("{}: {} published events are lost, or may be ({})", client, eventsDropped, cause);
      eventsDropped = 0;
    }
  }

  @Override
  public void problem(EventBusException problem) {
    if (admits(Kind.PROBLEM)) {
      LOG.warn("{}: {}", client, problem.getMessage());
    }
  }

  @Override
  public void handlerFailed(Subscription subscription, ReceivedEvent event, Throwable failure) {
    handlerFailed(subscription.filter(), "an event of " + event.topic(), failure);
  }

  @Override
  public void truncated(Truncated truncated) {
    if (admits(Kind.TRUNCATED)) {
      LOG.warn(
          "{}: the consumer of {} does not get the events at {} to {} ({})",
          client,
          truncated.filter(),
          truncated.from(),
          truncated.to(),
          truncated.reason());
    }
  }

  @Override
  public void handlerFailed(DurableSubscription subscription, long position, Throwable failure) {
    handlerFailed(
        subscription.filter(),
        "the event at position " + position + ", which comes again",
        failure);
  }

  @Override
  public void handlerFailed(Worker worker, long position, Throwable failure) {
    handlerFailed(
        worker.filter(), "the event at position " + position + " for " + worker.name(), failure);
  }

  @Override
  public void requestFailed(Invocation invocation, Throwable failure) {
    handlerFailed(
        "service " + invocation.service(),
        "request " + invocation.request() + " of caller " + invocation.caller(),
        failure);
  }

  private void handlerFailed(String handler, String what, Throwable failure) {
    String kind = handler + ' ' + failure.getClass().getName();
    if (traced.size() < MAX_TRACES && traced.add(kind)) {
      LOG.warn(
          "{}: the handler of {} failed with {} (later failures of this kind are told without"
              + " their stack)",
          client,
          handler,
          what,
          failure);
    } else if (admits(Kind.HANDLER_FAILED)) {
      LOG.warn(
          "{}: the handler of {} failed with {}, and {} others since the last such line: {}",
          client,
          handler,
          what,
          failuresLeftOut,
          failure.toString());
      failuresLeftOut = 0;
    } else {
      failuresLeftOut++;
    }
  }

  @Override
  public void producerChanged(long before, long now) {
    LOG.warn(
        "{}: the bus did not know it any more, it publishes as {} instead of {}: events that were"
            + " unconfirmed may be delivered twice",
        client,
        now,
        before);
  }
}
