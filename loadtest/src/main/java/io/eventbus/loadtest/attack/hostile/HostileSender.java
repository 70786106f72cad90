package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Welcome;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A client that the thread of the attack sends with, waiting when the bus does not read. */
final class HostileSender implements AttackPeer {
  private static final int POLL_MILLIS = 1;

  private final Field field;
  private final CompletableFuture<AttackWire> wire = new CompletableFuture<>();
  private volatile int closeCode;

  private HostileSender(Field field) {
    this.field = field;
  }

  /** Connects, waits for {@code Welcome}; null if it does not come. */
  static @Nullable HostileSender connect(Field field) throws InterruptedException {
    return connect(field, true);
  }

  /** Connects from the address of the well-behaved. */
  static @Nullable HostileSender connectHonest(Field field) throws InterruptedException {
    return connect(field, false);
  }

  private static @Nullable HostileSender connect(Field field, boolean hostile)
      throws InterruptedException {
    HostileSender sender = new HostileSender(field);
    Opening opening = Opening.client(field.bus());
    if (hostile) {
      field.wires().open(opening, sender);
    } else {
      field.wires().openHonest(opening, sender);
    }
    try {
      sender.wire.get(Math.max(1, field.leftMillis()), TimeUnit.MILLISECONDS);
      return sender;
    } catch (ExecutionException | TimeoutException e) {
      return null;
    }
  }

  /** Sends one message; false if the connection has ended or the attack is over. */
  boolean send(byte[]... frames) throws InterruptedException {
    return send(Octets.message(frames));
  }

  /** Sends octets; false if the connection has ended or the attack is over. */
  boolean send(ByteBuf octets) throws InterruptedException {
    AttackWire open = wire.join();
    while (!open.isWritable()) {
      if (closeCode != 0 || field.over()) {
        octets.release();
        return false;
      }
      Thread.sleep(POLL_MILLIS);
    }
    open.send(octets);
    return true;
  }

  /** Returns whether the socket takes more now. */
  boolean isWritable() {
    return wire.join().isWritable();
  }

  /** Returns the code with which the bus ended it; 0 as long as it has not. */
  int closeCode() {
    return closeCode;
  }

  void end() {
    wire.join().end();
  }

  @Override
  public void welcomed(AttackWire open, Welcome welcome) {
    wire.complete(open);
  }

  @Override
  public void closed(AttackWire open, int code) {
    closeCode = code;
    wire.completeExceptionally(new IllegalStateException("closed with " + code));
  }
}
