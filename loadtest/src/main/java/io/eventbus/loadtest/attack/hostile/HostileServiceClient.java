package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.AttackTally;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.InvokeView;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Welcome;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A caller, a member, or both: sends frames as fast as the socket takes them, reads everything, and
 * answers no call. On one event loop.
 *
 * <p>Counts {@code confirmed}, {@code refused} frames, {@code invoked} calls, {@code replies},
 * {@code failures} and those by code.
 */
class HostileServiceClient implements AttackPeer {
  private static final int MESSAGE = 32 * 1024;

  /** Calls that a bus gives one connection in flight. */
  static final int MAX_CALLS = 4_096;

  private final AttackTally tally;
  private final InvokeView invoke = new InvokeView();
  private Iterator<byte[]> frames;
  private boolean begun;
  private volatile @Nullable AttackWire open;

  /** Prepares one. */
  HostileServiceClient(AttackTally tally, Stream<byte[]> frames) {
    this.tally = tally;
    this.frames = frames.iterator();
  }

  /** Makes frames by number, from 1. */
  static Stream<byte[]> numbered(int count, IntFunction<byte[]> frame) {
    return IntStream.rangeClosed(1, count).mapToObj(frame);
  }

  @Override
  public void welcomed(AttackWire wire, Welcome welcome) {
    begun = true;
    open = wire;
    pump(wire);
  }

  /** Ends the connection with a reset, if there is one. */
  final void reset() {
    AttackWire now = open;
    if (now != null) {
      now.reset();
    }
  }

  /** Has it send more, on its event loop. */
  final void send(Stream<byte[]> more) {
    AttackWire now = open;
    if (now != null) {
      now.after(
          0,
          () -> {
            frames = more.iterator();
            pump(now);
          });
    }
  }

  @Override
  public void writable(AttackWire wire) {
    if (begun) {
      pump(wire);
    }
  }

  private void pump(AttackWire wire) {
    while (frames.hasNext() && wire.isWritable()) {
      List<byte[]> message = new ArrayList<>();
      int size = 0;
      while (frames.hasNext() && size < MESSAGE) {
        byte[] frame = frames.next();
        message.add(frame);
        size += frame.length;
      }
      tally.add("frames", message.size());
      wire.send(Octets.message(message.toArray(byte[][]::new)));
    }
  }

  @Override
  public boolean reads() {
    return true;
  }

  @Override
  public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
    if (type == TypeCode.CONFIRM.code()) {
      tally.add("confirmed", 1);
    } else if (type == TypeCode.PROBLEM.code()) {
      tally.add("refused", 1);
    } else if (type == TypeCode.REPLY.code()) {
      tally.add("replies", 1);
    } else if (type == TypeCode.FAILURE.code()) {
      tally.add("failures", 1);
      tally.add("failures" + ServiceFrames.failure(message, from, to).getCode(), 1);
    } else if (type == TypeCode.INVOKE.code()) {
      tally.add("invoked", 1);
      invoke.read(message, from, to, FrameLimits.DEFAULT);
      invoked(wire, invoke.call());
    }
  }

  /** Takes a call; does not answer it unless another class does. */
  void invoked(AttackWire wire, long call) {}

  /** Waits until a figure has come to something. */
  static boolean await(Field field, String figure, long min) throws InterruptedException {
    while (!field.over() && field.tally().get(figure) < min) {
      field.sleep(10);
    }
    return field.tally().get(figure) >= min;
  }
}
