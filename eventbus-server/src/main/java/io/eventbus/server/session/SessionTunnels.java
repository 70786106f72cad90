package io.eventbus.server.session;

import io.eventbus.base.RefusedMemory;
import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DataView;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.protocol.TunnelFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.tunnel.TunnelClient;
import io.eventbus.server.call.tunnel.TunnelClient.Outcome;
import io.eventbus.server.call.tunnel.TunnelEnding;
import io.eventbus.server.call.tunnel.TunnelEnds;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.memory.ServiceShare;
import io.eventbus.server.queue.Outbound;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Streams and tunnels of one session, both called and served. Allocated with the first. Confined to
 * the loop.
 */
final class SessionTunnels implements TunnelEnds {
  /** Wrong or unknown frames after which the connection is closed. */
  private static final int MAX_WRONG = 1000;

  private static final long WRONG_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Minimum units of work of a frame; {@link #BYTES_PER_UNIT} bytes cost another. */
  private static final int FRAME_UNITS = 2;

  private static final int BYTES_PER_UNIT = 8 * 1024;

  private final LoopContext loop;
  private final Outbound out;
  private final ConnectionControl connection;
  private final TunnelClient tunnels;
  // Current frame.
  private ByteBuffer in = ByteBuffer.allocate(0);
  private Runnable onOpenedOrLeft = () -> {};
  private boolean failed;
  private int wrong;
  private long wrongSince;

  /** Creates an empty set of tunnels. */
  SessionTunnels(LoopContext loop, Outbound out, ConnectionControl connection, ServiceShare held) {
    this.loop = loop;
    this.out = out;
    this.connection = connection;
    this.tunnels = loop.calls.tunnels(this, held);
    out.onBulkWritten(tunnels::written);
  }

  /** Sets the task that runs when the number of tunnels begun by the client changes. */
  void onOpenedOrLeft(Runnable task) {
    onOpenedOrLeft = task;
  }

  @Override
  public void openedOrLeft() {
    onOpenedOrLeft.run();
  }

  TunnelClient tunnels() {
    return tunnels;
  }

  /**
   * Handles a part of a message. Returns false if the client has sent too many wrong frames.
   *
   * @throws MalformedFrameException if the bytes are not a {@code Data}
   */
  boolean data(ByteBuffer frame, int from, int to, long nowNanos) {
    loop.budget().spend(FRAME_UNITS + (to - from) / BYTES_PER_UNIT);
    DataView data = loop.data;
    try {
      data.read(frame, from, to);
    } catch (MalformedFrameException e) {
      if (!e.isTooBig()) {
        throw e;
      }
      String message = String.valueOf(e.getMessage());
      tunnels.fail(data.call(), TunnelEnding.of(FailureCode.TOO_BIG, message));
      return isRight(Outcome.WRONG, nowNanos);
    }
    in = frame;
    return isRight(
        tunnels.data(data.call(), data.offset(), data.more(), data.last(), data.payloadLength()),
        nowNanos);
  }

  /**
   * Handles the credit of a tunnel, from a frame already decoded. Returns false if the client has
   * sent too many wrong frames.
   */
  boolean credit(DataView credit, long nowNanos) {
    // For the loop of the other end; the clock covers this loop only.
    loop.budget().spend(FRAME_UNITS);
    return isRight(tunnels.credit(credit.call(), credit.limit(), credit.received()), nowNanos);
  }

  private boolean isRight(Outcome outcome, long nowNanos) {
    if (outcome == Outcome.TAKEN) {
      return true;
    }
    if (wrong == 0 || nowNanos - wrongSince > WRONG_NANOS) {
      wrong = 0;
      wrongSince = nowNanos;
    }
    return ++wrong < MAX_WRONG;
  }

  /**
   * Ends a tunnel with a {@code Failure} of the client. Returns false if it has no such tunnel;
   * then the frame belongs to something else.
   */
  boolean failure(ByteBuffer frame, int from, int to) {
    long call = ServiceFrames.firstNumber(frame, from, to);
    try {
      return tunnels.reset(call, TunnelEnding.of(ServiceFrames.failure(frame, from, to)));
    } catch (MalformedFrameException e) {
      if (!e.isTooBig()) {
        throw e;
      }
      String message = String.valueOf(e.getMessage());
      return tunnels.fail(call, TunnelEnding.of(FailureCode.TOO_BIG, message));
    }
  }

  /**
   * Ends a tunnel that its caller, or the bus on its behalf, cancels. Returns false if there is no
   * such tunnel.
   */
  boolean cancel(long call, String reason) {
    return tunnels.fail(call, TunnelEnding.of(FailureCode.CANCELLED, reason));
  }

  /** Ends all tunnels with the connection. */
  void close() {
    failed = true;
    tunnels.close();
  }

  @Override
  public @Nullable Delivery data(long to, long offset, boolean more, boolean last, int payload) {
    try {
      Delivery frame =
          loop.router
              .deliveries()
              .allocate(DeliveryKind.BULK, TunnelFrames.dataSize(to, offset, payload), 0, 0);
      ByteBuffer head = loop.scratch.clear();
      TunnelFrames.writeDataHead(head, to, offset, more, last, payload);
      frame.append(head.flip());
      frame.append(in, loop.data.payloadStart(), payload);
      frame.finish();
      return frame;
    } catch (OutOfMemoryError e) {
      end(e);
      return null;
    }
  }

  @Override
  public void send(Delivery frame) {
    if (failed) {
      frame.release();
      return;
    }
    try {
      out.send(frame);
    } catch (OutOfMemoryError e) {
      end(e);
    }
  }

  @Override
  public void credit(long call, long limit, long received) {
    if (failed) {
      return;
    }
    try {
      ByteBuffer frame = loop.scratch.clear();
      TunnelFrames.writeCredit(frame, call, limit, received);
      frame.flip();
      Delivery credit =
          loop.router.deliveries().allocate(DeliveryKind.CALL, frame.remaining(), 0, 0);
      credit.append(frame);
      credit.finish();
      out.send(credit);
    } catch (OutOfMemoryError e) {
      end(e);
    }
  }

  @Override
  public void ended(long call, TunnelEnding end) {
    if (call < 0 && end.code() == FailureCode.CANCELLED) {
      send(ControlFrames.encode(TypeCode.CANCEL, new Cancel(call, shortened(end.message()))));
      return;
    }
    send(
        ControlFrames.encode(
            TypeCode.FAILURE,
            new Failure(
                call,
                end.code(),
                end.message(),
                end.executed(),
                0L,
                0L,
                end.type(),
                ByteBuffer.wrap(end.details()),
                false)));
  }

  /** Returns a reason of bounded length: it may come from a longer message. */
  private static String shortened(String text) {
    return text.length() <= 80 ? text : text.substring(0, 80);
  }

  /** Sends the end of a tunnel in its order after the data. */
  private void send(byte[] frame) {
    if (failed) {
      return;
    }
    try {
      Delivery created =
          Delivery.of(loop.allocator, loop.bus.memory(), DeliveryKind.BULK, frame, 0);
      tunnels.sentEnding(frame.length);
      out.send(created);
    } catch (OutOfMemoryError e) {
      end(e);
    }
  }

  /** Closes the connection, because later data would lack the missing part. */
  private void end(OutOfMemoryError e) {
    RefusedMemory.rethrowOthers(e);
    failed = true;
    connection.inTurn(
        () -> connection.close(CloseReason.OVERLOADED, "the bus has no memory for this client"));
  }
}
