package io.eventbus.server.samples;

import io.eventbus.protocol.DataView;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.InvokeView;
import io.eventbus.protocol.ReplyView;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.CallPriority;
import io.eventbus.schema.CallScope;
import io.eventbus.schema.Data;
import io.eventbus.schema.Event;
import io.eventbus.schema.Invoke;
import io.eventbus.schema.Reply;
import io.eventbus.schema.Request;
import io.eventbus.server.call.BusCalls;
import io.eventbus.server.call.CallSettings;
import io.eventbus.server.call.LoopCalls;
import io.eventbus.server.call.LoopPort;
import io.eventbus.server.call.tunnel.TunnelSettings;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.stats.CallStats;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Calls as records, for tests. */
public final class SampleCalls {
  private SampleCalls() {}

  /**
   * Returns the calls of the first of several loops, by a clock that stands still unless it is
   * moved.
   */
  public static LoopCalls calls(Loops loops, BusMemory memory, CallStats stats) {
    return calls(loops, memory, stats, new FakePort());
  }

  /** Returns the calls by another clock. */
  public static LoopCalls calls(Loops loops, BusMemory memory, CallStats stats, FakePort port) {
    CallSettings settings =
        new CallSettings(
            4096,
            TimeUnit.SECONDS.toNanos(30),
            TimeUnit.MINUTES.toNanos(10),
            TimeUnit.SECONDS.toNanos(2),
            2,
            10,
            10_000,
            64 << 20,
            10_000,
            TunnelSettings.of(3, 1 << 20));
    return new BusCalls(loops, settings, memory).start(0, port, stats, new CallStats());
  }

  /** Loop whose time a test moves. */
  public static final class FakePort implements LoopPort {
    private @Nullable Runnable due;

    /** Time as {@link System#nanoTime}. */
    public long now = 1;

    /** Time that passes with each look at the clock: with it work takes time. */
    public long cost;

    /** Moves the time and runs due tasks. */
    public void pass(long nanos) {
      now += nanos;
      Runnable task = due;
      due = null;
      if (task != null) {
        task.run();
      }
    }

    @Override
    public boolean isCurrent() {
      return true;
    }

    @Override
    public long nanoTime() {
      now += cost;
      return now;
    }

    @Override
    public void later(Runnable task, long nanos) {
      due = task;
    }

    @Override
    public void flushSoon() {}
  }

  /** Returns a request for any member, with a text as its payload. */
  public static Request request(long call, String service, String payload) {
    return new Request(
        call,
        service,
        "",
        CallKind.REPLY,
        CallScope.ONE,
        CallPriority.NORMAL,
        0,
        0,
        false,
        0,
        0L,
        0L,
        event(payload),
        0L);
  }

  /** Returns a member's reply, with a text as its payload. */
  public static Reply reply(long call, String payload) {
    return new Reply(call, 0L, 0, 0, 0L, event(payload), false, 0L);
  }

  /** Returns an event with a text as its payload and nothing else. */
  public static Event event(String payload) {
    return new Event(1L, null, Map.of(), ByteBuffer.wrap(payload.getBytes(StandardCharsets.UTF_8)));
  }

  /** Returns the text of a payload. */
  public static String text(Event event) {
    return StandardCharsets.UTF_8.decode(event.getPayload().duplicate()).toString();
  }

  /** Reads the body of an {@code Invoke}. */
  public static Invoke invoke(ByteBuffer message, int from, int to) {
    InvokeView view = new InvokeView();
    view.read(message, from, to, FrameLimits.UNLIMITED);
    return new Invoke(
        view.call(),
        view.service(),
        view.method(),
        Objects.requireNonNull(view.kind()),
        view.timeoutMillis(),
        view.caller(),
        view.request(),
        view.attempt(),
        view.identity(),
        view.receivedAt(),
        view.schema(),
        event(view.event()),
        view.limit());
  }

  /** Reads the body of a {@code Data}. */
  public static Data data(ByteBuffer message, int from, int to) {
    DataView view = new DataView();
    view.read(message, from, to);
    byte[] payload = new byte[view.payloadLength()];
    message.get(view.payloadStart(), payload);
    return new Data(view.call(), view.offset(), view.more(), view.last(), ByteBuffer.wrap(payload));
  }

  /** Reads the body of a {@code Reply}. */
  public static Reply reply(ByteBuffer message, int from, int to) {
    ReplyView view = new ReplyView();
    view.read(message, from, to, FrameLimits.UNLIMITED);
    return new Reply(
        view.call(),
        view.member(),
        view.queuedMicros(),
        view.handledMicros(),
        view.schema(),
        event(view.event()),
        view.more(),
        view.limit());
  }

  private static Event event(EventCursor event) {
    return new Event(
        event.publishedAt(), event.key(), event.headers(), ByteBuffer.wrap(event.payload()));
  }
}
