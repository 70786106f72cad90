package io.eventbus.client.internal.outbound;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Invocation;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Notifier;
import io.eventbus.client.internal.base.Outside;
import io.eventbus.client.internal.base.Scheduler;
import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.call.Body;
import io.eventbus.client.internal.call.CallFrame;
import io.eventbus.client.internal.call.CallHost;
import io.eventbus.client.internal.call.CallPath;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.DoubleSupplier;

/**
 * Access of calls to their client: its clock, its threads, and the way out. Frames go through the
 * {@link Outbox} if they are for its connection; while the client moves there is a second
 * connection, which has a writer of its own. Any thread may use it.
 */
public final class CallOutlet implements CallHost {
  private final Outbox outbox;
  private final EventEncoder encoder;
  private final Notifier notifier;
  private final Scheduler conductor;
  private final MicroClock clock;
  private final Executor executor;
  private final DoubleSupplier random;
  private final int messageBytes;
  private final Map<CallPath, StandbyWriter> writers = new ConcurrentHashMap<>();

  public CallOutlet(
      Outbox outbox,
      EventEncoder encoder,
      Notifier notifier,
      Outside outside,
      Executor executor,
      int messageBytes) {
    this.outbox = outbox;
    this.encoder = encoder;
    this.notifier = notifier;
    this.conductor = outside.conductor();
    this.clock = outside.clock();
    this.executor = executor;
    this.random = outside.random();
    this.messageBytes = messageBytes;
  }

  /** Adds a connection. */
  public void opened(Transport.Channel channel) {
    writers.put(channel, new StandbyWriter(channel, messageBytes));
  }

  /** Removes a connection that has ended, or is not used any more. */
  public void ended(Transport.Channel channel) {
    writers.remove(channel);
  }

  /** Returns whether everything sent beside the outbox is with the network. */
  public boolean isWritten(Transport.Channel channel) {
    StandbyWriter writer = writers.get(channel);
    return writer == null || writer.isIdle();
  }

  /** Runs a task once everything sent beside the outbox is with the network. */
  public void whenWritten(Transport.Channel channel, Runnable task) {
    StandbyWriter writer = writers.get(channel);
    if (writer == null) {
      task.run();
    } else {
      writer.whenIdle(task);
    }
  }

  @Override
  public void send(CallFrame frame, boolean here) {
    if (outbox.addCall(frame, here)) {
      return;
    }
    CallPath path = frame.path();
    StandbyWriter writer = path == null ? null : writers.get(path);
    if (path == null || writer == null) {
      return;
    }
    do {
      int size = frame.size(clock.nanoTime());
      if (size == 0) {
        return;
      }
      ByteBuffer bytes = ByteBuffer.allocate(size);
      if (frame.write(bytes, path)) {
        writer.send(List.of(bytes.array()));
      }
    } while (frame.hasNext());
  }

  @Override
  public boolean hasRoom() {
    return outbox.hasRoomForAnswers();
  }

  @Override
  public Body encode(Event event) {
    return encoder.encodeForCall(event);
  }

  @Override
  public long nanoTime() {
    return clock.nanoTime();
  }

  @Override
  public double random() {
    return random.getAsDouble();
  }

  @Override
  public Runnable schedule(Runnable task, long delayNanos) {
    return conductor.schedule(task, delayNanos)::cancel;
  }

  @Override
  public void handle(Runnable task) {
    executor.execute(task);
  }

  @Override
  public void complete(Runnable completion) {
    notifier.complete(completion);
  }

  @Override
  public void fail(Runnable completion) {
    notifier.fail(completion);
  }

  @Override
  public void handlerFailed(Invocation invocation, Throwable failure) {
    notifier.tell(listener -> listener.requestFailed(invocation, failure));
  }

  @Override
  public void problem(EventBusException problem) {
    notifier.tell(listener -> listener.problem(problem));
  }
}
