package io.eventbus.client.internal.durable;

import io.eventbus.client.DurableBuilder;
import io.eventbus.client.DurableHandler;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Start;
import io.eventbus.client.WorkHandler;
import io.eventbus.client.Worker;
import io.eventbus.client.WorkerBuilder;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.ConsumeMode;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Settings of a consumer that is being built. For one thread. */
final class DurableRequest implements DurableBuilder {
  private static final int MIN_BUFFER = 1024;
  private static final int MAX_BUFFER = 1 << 30;

  private final String name;
  private final Begin begin;
  private String filter = ">";
  private String journal = "";
  private Start start = Start.NEW;
  private int bufferBytes = 1 << 20;

  /** Beginning of a consumer with the settings that were built. */
  interface Begin {
    DurableSubscription durable(DurableState.Settings settings, DurableHandler handler);

    Worker worker(WorkerState.Settings settings, WorkHandler handler);
  }

  DurableRequest(String name, Begin begin) {
    this.name = name;
    this.begin = begin;
  }

  @Override
  public DurableBuilder filter(String newFilter) {
    filter = Objects.requireNonNull(newFilter, "filter");
    return this;
  }

  @Override
  public DurableBuilder journal(String newJournal) {
    journal = Objects.requireNonNull(newJournal, "journal");
    return this;
  }

  @Override
  public DurableBuilder from(Start newStart) {
    start = Objects.requireNonNull(newStart, "start");
    return this;
  }

  @Override
  public DurableBuilder bufferBytes(int bytes) {
    if (bytes < MIN_BUFFER || bytes > MAX_BUFFER) {
      throw new IllegalArgumentException(
          "bufferBytes: " + bytes + " (expected: " + MIN_BUFFER + ".." + MAX_BUFFER + ")");
    }
    bufferBytes = bytes;
    return this;
  }

  @Override
  public DurableSubscription handler(DurableHandler handler) {
    Objects.requireNonNull(handler, "handler");
    return begin.durable(settings(), handler);
  }

  @Override
  public WorkerBuilder shared() {
    return worker(ConsumeMode.SHARED);
  }

  @Override
  public WorkerBuilder keyShared() {
    return worker(ConsumeMode.KEY_SHARED);
  }

  private WorkerBuilder worker(ConsumeMode mode) {
    if (name.isEmpty()) {
      throw new EventBusException.IllegalTopic(
          "name of the shared durable subscription: empty (expected: a name)");
    }
    return new WorkerRequest(this, mode, begin);
  }

  /**
   * Returns the settings.
   *
   * @throws EventBusException.IllegalTopic if the filter or a name breaks the rules
   */
  DurableState.Settings settings() {
    String problem = TopicFilter.problem(filter);
    if (problem != null) {
      throw new EventBusException.IllegalTopic(problem);
    }
    checkName("journal", journal);
    checkName("durable subscription", name);
    return new DurableState.Settings(name, filter, journal, start, bufferBytes);
  }

  private static void checkName(String what, String text) {
    String problem = text.isEmpty() ? null : Topic.problem(text);
    int bytes = text.getBytes(StandardCharsets.UTF_8).length;
    if (problem == null && bytes > FrameLimits.MAX_JOURNAL_BYTES) {
      problem = bytes + " bytes (expected: at most " + FrameLimits.MAX_JOURNAL_BYTES + ")";
    }
    if (problem != null) {
      throw new EventBusException.IllegalTopic("name of the " + what + ": " + problem);
    }
  }
}
