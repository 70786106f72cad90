package io.eventbus.client.internal.connection;

import io.eventbus.client.internal.base.Scheduler;
import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.call.CallFrame;
import io.eventbus.client.internal.call.CallTable;
import io.eventbus.client.internal.call.InboundCalls;
import io.eventbus.client.internal.outbound.CallOutlet;
import io.eventbus.client.internal.outbound.EventEncoder;
import io.eventbus.schema.Welcome;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Calls of a client as its connections see them. */
public final class CallTraffic {
  private final CallTable calls;
  private final CallOutlet outlet;
  private final EventEncoder encoder;
  private String bus = "";
  private boolean serves;

  public CallTraffic(CallTable calls, CallOutlet outlet, EventEncoder encoder) {
    this.calls = calls;
    this.outlet = outlet;
    this.encoder = encoder;
  }

  public CallTable calls() {
    return calls;
  }

  /** Returns the reader of the frames of one connection. */
  InboundCalls inbound() {
    return new InboundCalls(calls);
  }

  /** Permits replies over a connection, because its bus has welcomed this client. */
  void opened(Transport.Channel channel) {
    outlet.opened(channel);
  }

  /** Sends requests over a connection from now on; the outbox has it, and the bus's limits. */
  void connected(Welcome welcome) {
    bus = welcome.getBus();
    serves = welcome.getCalls() > 0;
    connectedAgain();
  }

  /** Sends requests over the connection before again, which was not lost. */
  void connectedAgain() {
    calls.pending().connected(bus, serves, encoder.maxCallBytes());
  }

  /** Sends replies for a connection that the outbox no longer has, beside the outbox. */
  void reroute(List<CallFrame> answers) {
    answers.forEach(frame -> outlet.send(frame, false));
  }

  /** Ends the calls of a connection that has ended or is given up; null for none. */
  void lost(Transport.@Nullable Channel channel) {
    if (channel != null) {
      outlet.ended(channel);
      calls.lost(channel);
    }
  }

  /**
   * Leaves a connection over which calls may still end.
   *
   * @param until time of the clock in nanoseconds after which they are not waited for
   */
  void leave(Transport.Channel channel, long until, Scheduler conductor, Runnable close) {
    AtomicBoolean closed = new AtomicBoolean();
    Runnable once =
        () -> {
          if (closed.compareAndSet(false, true)) {
            lost(channel);
            close.run();
          }
        };
    calls.whenQuiet(
        channel,
        until,
        () -> {
          if (outlet.isWritten(channel)) {
            once.run();
            return;
          }
          outlet.whenWritten(channel, () -> conductor.execute(once));
          // The network may accept nothing.
          conductor.schedule(once, CallTable.LOOK_NANOS);
        });
  }

  /** Runs a task when no call is under way over a connection; see {@link CallTable#whenQuiet}. */
  void whenQuiet(Transport.Channel channel, long until, Runnable task) {
    calls.whenQuiet(channel, until, task);
  }
}
