package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.AttackTally;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Welcome;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Subscribes, and then reads all, slowly, or nothing. On one event loop.
 *
 * <p>Counts {@code subscribed} and {@code refused} subscriptions, and if asked to {@code delivered}
 * frames.
 */
final class HostileSubscriber implements AttackPeer {
  /** Reads whatever comes. */
  static final int ALL = -1;

  /** Stops reading when the subscriptions are answered. */
  static final int NOTHING = 0;

  private static final int MESSAGE = 60 * 1024;

  private final AttackTally tally;
  private final List<byte[]> subscribes;
  private final int bytesPerSecond;
  private final boolean counts;
  private int answered;

  /** Prepares one. */
  HostileSubscriber(
      AttackTally tally, List<byte[]> subscribes, int bytesPerSecond, boolean counts) {
    this.tally = tally;
    this.subscribes = subscribes;
    this.bytesPerSecond = bytesPerSecond;
    this.counts = counts;
  }

  @Override
  public void welcomed(AttackWire wire, Welcome welcome) {
    List<byte[]> message = new ArrayList<>();
    int size = 0;
    for (byte[] subscribe : subscribes) {
      message.add(subscribe);
      size += subscribe.length;
      if (size > MESSAGE) {
        wire.send(Octets.message(message.toArray(byte[][]::new)));
        message.clear();
        size = 0;
      }
    }
    wire.send(Octets.message(message.toArray(byte[][]::new)));
  }

  @Override
  public boolean reads() {
    return counts || answered < subscribes.size();
  }

  @Override
  public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
    if (type == TypeCode.DELIVER.code()) {
      tally.add("delivered", 1);
    } else if (type == TypeCode.CONFIRM.code() || type == TypeCode.PROBLEM.code()) {
      tally.add(type == TypeCode.CONFIRM.code() ? "subscribed" : "refused", 1);
      answered++;
      if (answered == subscribes.size() && bytesPerSecond != ALL) {
        wire.readAt(bytesPerSecond);
      }
    }
  }
}
